import Foundation
import Reactor
import Testing

@testable import Tor

/// Our own tor, without a network.
@Suite struct TorProcessTests {
    let directory = TemporaryDirectory()

    private func settings(
        _ lines: [String] = [], binary: String = "tor", dataDirectory: String? = nil,
        offersSocks: Bool = false
    ) throws -> TorProcessSettings {
        let torrc = directory.path + "/torrc"
        try (["DisableNetwork 1"] + lines).joined(separator: "\n")
            .write(toFile: torrc, atomically: false, encoding: .utf8)
        return TorProcessSettings(
            binary: binary, torrc: torrc, dataDirectory: dataDirectory ?? directory.path + "/tor data",
            offersSocks: offersSocks)
    }

    @Test @EventLoop func itIsReachedOwnedAndStopped() async throws {
        let settings = try settings()
        let link = try await TorLink.own(settings) { _ in }
        let process = try #require(link.process)
        #expect(try await link.socksEndpoint() == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: settings.dataDirectory)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        _ = await link.close(because: .closed)
        #expect(process.failure == .ended(.exited(0), lastWords: ""))
    }

    @Test @EventLoop func itInheritsNothingOfOurEnvironment() async throws {
        let link = try await TorLink.own(try settings()) { _ in }
        let process = try #require(link.process)
        let environment = try PrivateFile.read("/proc/\(process.processID)/environ", limit: 65536)
        #expect(String(decoding: environment, as: UTF8.self) == "")
        _ = await link.close(because: .closed)
    }

    @Test @EventLoop func theProjectsTorrcIsValid() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let torrc = try String(contentsOf: root.appending(path: "torrc"), encoding: .utf8)
        let link = try await TorLink.own(try settings([torrc])) { _ in }
        _ = await link.close(because: .closed)
    }

    @Test @EventLoop func aBinaryThatIsNotThereIsNamed() async throws {
        let settings = try settings(binary: "/nonexistent/tor")
        await #expect(throws: OnionLoss.process(.notFound("/nonexistent/tor"))) {
            try await TorLink.own(settings) { _ in }
        }
    }

    @Test @EventLoop func aMistakeInTheTorrcIsToldInTorsWords() async throws {
        let settings = try settings(["Nonsense 1"])
        let words = "Failed to parse/validate config: Unknown option 'Nonsense'.  Failing."
        await #expect(throws: OnionLoss.process(.ended(.exited(1), lastWords: words))) {
            try await TorLink.own(settings) { _ in }
        }
    }

    /// As an old tor does that does not know an option of ours, and as whatever else bears its name.
    @Test @EventLoop func aProgramThatEndsWithoutAWordIsLeftToTheDoctor() async throws {
        let settings = try settings(binary: "true")
        let loss = await #expect(throws: OnionLoss.self) { try await TorLink.own(settings) { _ in } }
        let words = loss.map { "\($0)" } ?? ""
        #expect(words.contains("onionbell doctor looks at its version and torrc"), "\(words)")
    }

    @Test @EventLoop func aTakenPortIsToldWithItsNumber() async throws {
        let other = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        // Ports are bound only with a network: one whose only authority is nobody on this machine.
        let id = String(repeating: "0123456789", count: 4)
        let settings = try settings([
            "DisableNetwork 0", "TestingTorNetwork 1",
            "DirAuthority none orport=1 no-v2 v3ident=\(id) 127.0.0.1:1 \(id)",
            "HTTPTunnelPort \(other.endpoint)",
        ])
        let words = """
            Could not bind to \(other.endpoint): Address already in use. Is Tor already running? \
            Failed to parse/validate config: Failed to bind one of the listener ports.
            """
        await #expect(throws: OnionLoss.process(.ended(.exited(1), lastWords: words))) {
            try await TorLink.own(settings) { _ in }
        }
    }

    @Test @EventLoop func aSecondTorInTheSameDirectoryIsRefusedAndTheFirstIsLeftAlone() async throws {
        let settings = try settings()
        let first = try await TorLink.own(settings) { _ in }
        let process = try #require(first.process)
        await #expect(throws: OnionLoss.process(.anotherTor(dataDirectory: settings.dataDirectory))) {
            try await TorLink.own(settings) { _ in }
        }
        // Its control socket is still its own.
        let other = try await ControlConnection.open(
            process.controlEndpoint, credentials: process.credentials)
        #expect(try await other.send(.getInfo(["process/pid"]))["process/pid"] == "\(process.processID)")
        _ = await first.close(because: .closed)
    }

    /// Someone may have started it by hand, with another control port.
    @Test @EventLoop func aDirectoryThatTorFindsLockedIsToldAsSuch() async throws {
        let other = try LoneTor()
        _ = try await other.connect()
        let directory = other.directory.path + "/data"
        let settings = try settings(dataDirectory: directory)
        await #expect(throws: OnionLoss.process(.anotherTor(dataDirectory: directory))) {
            try await TorLink.own(settings) { _ in }
        }
    }

    @Test @EventLoop func aPathThatIsTooLongForASocketIsToldBeforeTheStart() async throws {
        let long = directory.path + "/" + String(repeating: "x", count: 100)
        let settings = try settings(dataDirectory: long)
        await #expect(throws: OnionLoss.process(.pathTooLong(long + "/control"))) {
            try await TorLink.own(settings) { _ in }
        }
    }

    @Test @EventLoop func theSocksPortIsToldWhenThereIsOne() async throws {
        let link = try await TorLink.own(try settings(offersSocks: true)) { _ in }
        // Without a network tor opens none: that there was none to tell is no error.
        #expect(try await link.socksEndpoint() == nil)
        _ = await link.close(because: .closed)
    }
}

@Suite struct TorLogLineTests {
    @Test(arguments: [
        (
            "Nov 21 08:31:02.000 [notice] Bootstrapped 5% (conn): Connecting to a relay", "debug",
            "Bootstrapped 5% (conn): Connecting to a relay"
        ),
        (
            "Nov 21 08:31:02.000 [warn] Could not bind to 127.0.0.1:9050: Address already in use.", "warning",
            "Could not bind to 127.0.0.1:9050: Address already in use."
        ),
        ("Nov 21 08:31:02.000 [err] No.", "error", "No."),
        (
            "Nov 21 08:31:02.000 [notice] Tor 0.4.9.11 running on Linux with Libevent 2.1.12-stable", "debug",
            "Tor 0.4.9.11 running on Linux with Libevent 2.1.12-stable"
        ),
        (
            "Nov 21 08:31:02.000 [warn] Problem (Connection refused; host 0123456789ABCDEF0123456789ABCDEF01234567 at 192.0.2.1:443)",
            "warning", "Problem (Connection refused; host <address> at <address>)"
        ),
        (
            "x [notice] relay $0123456789ABCDEF0123456789ABCDEF01234567~name at [2001:db8::1]:9001", "debug",
            "relay <address> at <address>"
        ),
        (
            "x [notice] 2gzyxa5ihm7nsggfxnu52rck2vv4rvmdlkiu3zzui5du4xyclen53wid.onion at 12:34:56", "debug",
            "<address> at 12:34:56"
        ),
        ("x [notice] from 2001:db8:0:1:2:3:4:5 or fe80::1.", "debug", "from <address> or <address>"),
        ("no form \u{1B}[31m 10.1.2.3", "debug", "no form ?[31m <address>"),
    ])
    func levelsAreOursAndAddressesAreGone(line: String, level: String, words: String) {
        let read = TorLogLine(line)
        #expect(read.level.rawValue == level)
        #expect(read.words == words)
    }
}
