import Foundation
import Glibc
import Testing

@testable import Reactor

/// What a service manager is asked to keep, by a socket that stands for its own, and what a process is handed.
@Suite struct DescriptorStoreTests {
    private final class Manager {
        let address = "@onionbell-store-\(UUID().uuidString)"
        private let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)

        init() throws {
            var socketAddress = sockaddr_un()
            socketAddress.sun_family = sa_family_t(AF_UNIX)
            let bytes = [0] + Array(address.utf8.dropFirst())
            withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: bytes) }
            let bound = withUnsafePointer(to: &socketAddress) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(2 + bytes.count))
                }
            }
            try #require(bound == 0)
        }

        deinit { close(descriptor) }

        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }
    }

    @Test func aDescriptorIsKeptUnderItsNameUntilItIsTakenOut() throws {
        let manager = try Manager()
        let handover = Handover()
        handover.receive(["NOTIFY_SOCKET": manager.address, "FDSTORE": "2"])
        #expect(handover.store("a", STDIN_FILENO))
        #expect(manager.next() == "FDSTORE=1\nFDNAME=a\nFDPOLL=0")
        #expect(handover.store("b", STDIN_FILENO))
        #expect(!handover.store("c", STDIN_FILENO), "the store has room for two")
        #expect(manager.next() == "FDSTORE=1\nFDNAME=b\nFDPOLL=0")
        handover.forget("a")
        #expect(manager.next() == "FDSTOREREMOVE=1\nFDNAME=a")
        #expect(handover.store("c", STDIN_FILENO))
        #expect(manager.next() == "FDSTORE=1\nFDNAME=c\nFDPOLL=0")
        // What is not a descriptor is not kept.
        #expect(!handover.store("b", 1 << 20))
        #expect(manager.next() == nil)
    }

    /// A name is the word of whoever started the process.
    @Test func aForeignNameTakesOutNothingOfOursAndSaysNothingElse() throws {
        let manager = try Manager()
        let handover = Handover()
        handover.receive(["NOTIFY_SOCKET": manager.address, "FDSTORE": "2"])
        #expect(handover.store("ours", STDIN_FILENO))
        _ = manager.next()
        let names = ["ours", "", "a\nSTOPPING=1", "\u{7f}", "ä"]
        for name in names { handover.keep(name, Descriptor(owning: dup(STDIN_FILENO))) }
        #expect(handover.closeRest() == names.count)
        #expect(manager.next() == nil)
        handover.keep("theirs", Descriptor(owning: dup(STDIN_FILENO)))
        #expect(handover.closeRest() == 1)
        #expect(manager.next() == "FDSTOREREMOVE=1\nFDNAME=theirs")
    }

    @Test(arguments: [nil, "0", "-1", "", "many"])
    func withoutRoomThereIsNoStore(told: String?) {
        var environment = ["NOTIFY_SOCKET": "@onionbell-none"]
        environment["FDSTORE"] = told
        #expect(DescriptorStore(environment) == nil)
        #expect(DescriptorStore(["FDSTORE": "8"]) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("1000", 1), ("-1", 1), ("many", 1), ("", 1), ("99999999999999999999", 1),
    ])
    func aNumberThatLiesIsNoFault(told: String, unused: Int) {
        let handover = Handover()
        handover.receive(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": told, "LISTEN_FDNAMES": "a:b"])
        let isTaken = isSome(handover.take("a"))
        #expect(!isTaken)
        #expect(handover.closeRest() == unused)
        #expect(handover.closeRest() == 0)
    }

    @Test(arguments: [nil, "1", "", "-1"])
    func whatIsForAnotherProcessIsNotOurs(process: String?) {
        let handover = Handover()
        var environment = ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "a"]
        environment["LISTEN_PID"] = process
        handover.receive(environment)
        #expect(handover.closeRest() == 0)
    }

    /// Somebody may have removed it while no process was there: then nobody finds the socket that was kept.
    @Test func aListenerWhoseFileIsGoneIsNotTaken() throws {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-gone-\(getpid())"
        var address = try #require(SocketAddress(unixPath: path))
        let listening = try Descriptor.socket(family: AF_UNIX, for: "test")
        let bound = address.withPointer { bind(listening.number, $0, $1) }
        #expect(bound == 0 && listen(listening.number, 1) == 0)
        let handover = Handover()
        handover.keep(listener: Descriptor(owning: dup(listening.number)))
        unlink(path)
        let isTaken = isSome(handover.takeListener(at: address))
        #expect(!isTaken)
        #expect(handover.closeRest() == 1)
        handover.keep(listener: Descriptor(owning: dup(listening.number)))
        #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        let isTakenNow = isSome(handover.takeListener(at: address))
        #expect(isTakenNow)
        unlink(path)
    }

    private func isSome(_ descriptor: consuming Descriptor?) -> Bool {
        if let descriptor { descriptor.number >= 0 } else { false }
    }
}
