import Crypto
import Encodings
import Foundation
import Reactor
import Testing

@testable import Tor

@Suite struct OnionKeyTests {
    /// The Tor Project's own site.
    @Test func anAddressIsReadInAnyCaseWithOrWithoutItsEnding() {
        let id = "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid"
        #expect(OnionAddress(id)?.serviceID == id)
        #expect(OnionAddress(id.uppercased() + ".onion")?.description == id + ".onion")
    }

    @Test(arguments: [
        "", ".onion", "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wie",
        "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wi",
        "3gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid",
        "2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.com", "expyuzz4wqqyqhjn.onion",
    ])
    func anAddressWithAWrongDigitIsNone(text: String) {
        #expect(OnionAddress(text) == nil)
    }

    @Test func aKeyPrintsAsItsAddressOnly() throws {
        let key = try #require(OnionKey(seed: [UInt8](repeating: 0x5A, count: 32)))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(text.contains(key.address.description))
            #expect(!text.contains("90, 90") && !text.lowercased().contains("5a5a"))
        }
    }

    @Test func anExpandedKeyMustBeClampedAnd64BytesLong() throws {
        let good = try #require(OnionKey(seed: [UInt8](repeating: 1, count: 32))).expandedBytes
        #expect(OnionKey(expanded: good) != nil)
        #expect(OnionKey(expanded: Array(good.dropLast())) == nil)
        var low = good
        low[0] |= 1
        #expect(OnionKey(expanded: low) == nil)
        var high = good
        high[31] |= 128
        #expect(OnionKey(expanded: high) == nil)
    }

    @Test func theCommandHoldsTheExpandedKeyAndAllPorts() throws {
        let key = try #require(OnionKey(seed: [UInt8](repeating: 1, count: 32)))
        let ports = [
            try VirtualPort(80, to: .host("127.0.0.1", port: 8080)),
            try VirtualPort(81, to: .host("::1", port: 8081)),
            try VirtualPort(9999, to: .unix(path: "/run/a.sock")),
        ]
        let command = OnionForm().command(key: key, ports: ports, own: nil)
        #expect(
            command.line == "ADD_ONION ED25519-V3:\(Base64.encode(key.expandedBytes)) Flags=DiscardPK "
                + "Port=80,127.0.0.1:8080 Port=81,[::1]:8081 Port=9999,unix:/run/a.sock")
    }

    @Test func aTargetThatTorCannotBeToldIsRefused() {
        #expect(throws: VirtualPortError.zero) { try VirtualPort(0, to: .host("127.0.0.1", port: 1)) }
        #expect(throws: VirtualPortError.zero) { try VirtualPort(1, to: .host("127.0.0.1", port: 0)) }
        #expect(throws: VirtualPortError.pathUnfit("/a\"b")) { try VirtualPort(1, to: .unix(path: "/a\"b")) }
        #expect(throws: VirtualPortError.pathUnfit("a")) { try VirtualPort(1, to: .unix(path: "a")) }
        #expect(throws: VirtualPortError.pathUnfit("/a\r\nQUIT")) {
            try VirtualPort(1, to: .unix(path: "/a\r\nQUIT"))
        }
        #expect(throws: VirtualPortError.hostUnfit("a b")) { try VirtualPort(1, to: .host("a b", port: 1)) }
    }
}

@Suite struct OnionKeyFileTests {
    let directory = TemporaryDirectory()
    var file: OnionKeyFile { OnionKeyFile(path: directory.path + "/onion-key") }

    @Test func aKeyIsMadeOnceAndIsPrivate() throws {
        let first = try file.loadOrCreate()
        let second = try file.loadOrCreate()
        #expect(first.address == second.address)
        #expect(first.secret == second.secret)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["onion-key"])
    }

    @Test func aKeyIsNeverOverwritten() throws {
        let key = try file.loadOrCreate()
        #expect(throws: OnionKeyFileError.exists(path: file.path)) { try file.create(.generate()) }
        #expect(try file.load()?.secret == key.secret)
    }

    @Test func anImportedKeyIsKeptWithItsAddress() throws {
        let own = OnionKey.generate()
        try file.create(try #require(OnionKey(expanded: own.expandedBytes)))
        #expect(try file.load()?.address == own.address)
        #expect(try file.load()?.expandedBytes == own.expandedBytes)
    }

    @Test func aFileThatOthersCanReadIsRefused() throws {
        _ = try file.loadOrCreate()
        chmod(file.path, 0o640)
        #expect(throws: OnionKeyFileError.notPrivate(path: file.path, mode: 0o640)) { try file.load() }
    }

    @Test func aDamagedFileIsRefusedAndKept() throws {
        _ = try file.loadOrCreate()
        var text = try String(contentsOfFile: file.path, encoding: .utf8)
        let place = text.index(text.startIndex, offsetBy: 30)
        text.replaceSubrange(place...place, with: text[place] == "0" ? "1" : "0")
        for damaged in [text, "", "seed", String(text.dropLast(20)), String(repeating: "x", count: 5_000)] {
            try damaged.write(toFile: file.path, atomically: false, encoding: .utf8)
            #expect(throws: OnionKeyFileError.malformed(path: file.path)) { try file.loadOrCreate() }
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == damaged)
        }
    }

    @Test func aDirectoryThatIsNotThereIsNamed() {
        let lost = OnionKeyFile(path: directory.path + "/none/onion-key")
        #expect(throws: OnionKeyFileError.self) { try lost.loadOrCreate() }
    }
}

/// A directory of mode 0700, removed with its content when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let path: String
    init() {
        var template = Array("/tmp/onionbell-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template))
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
}
