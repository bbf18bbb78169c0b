import Foundation
import Glibc
import Reactor
import Testing

@testable import Node

/// What systemd is told, by a socket that stands for systemd's.
@EventLoop
@Suite(.serialized) struct ServiceManagerTests {
    /// A Unix datagram socket that is bound as systemd binds its own.
    @EventLoop
    private final class Manager {
        let address: String
        private let descriptor: CInt

        init(isAbstract: Bool) throws {
            let name = "/tmp/onionbell-notify-\(UUID().uuidString)"
            address = isAbstract ? "@" + name : name
            descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            var socketAddress = sockaddr_un()
            socketAddress.sun_family = sa_family_t(AF_UNIX)
            let bytes = (isAbstract ? [0] : []) + Array(name.utf8)
            withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: bytes) }
            let length = socklen_t(2 + bytes.count + (isAbstract ? 0 : 1))
            let bound = withUnsafePointer(to: &socketAddress) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            try #require(bound == 0)
        }

        deinit {
            close(descriptor)
            if address.hasPrefix("/") { unlink(address) }
        }

        /// The next message, without waiting; `nil`: there is none.
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 1024)
            let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }

        func wait() async throws -> String? {
            var message: String?
            try await EventLoop.until {
                message = self.next()
                return message != nil
            }
            return message
        }
    }

    @Test(arguments: [false, true])
    func itIsToldOfReadinessStateAndStopping(isAbstract: Bool) throws {
        let manager = try Manager(isAbstract: isAbstract)
        let service = ServiceManager(environment: ["NOTIFY_SOCKET": manager.address])
        service.tell("joining")
        service.tell("joining")
        service.ready {}
        service.stopping()
        #expect(manager.next() == "STATUS=joining")
        #expect(manager.next() == "READY=1")
        #expect(manager.next() == "STOPPING=1\nSTATUS=stopping")
        #expect(manager.next() == nil)
    }

    @Test func theWatchdogHearsOnlyOfAStoreThatAnswers() async throws {
        let manager = try Manager(isAbstract: true)
        let service = ServiceManager(
            environment: ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "20000"])
        var hanging: CheckedContinuation<Void, Never>?
        var asked = 0
        service.ready {
            asked += 1
            if asked == 3 { await withCheckedContinuation { hanging = $0 } }
        }
        #expect(try await manager.wait() == "READY=1")
        #expect(try await manager.wait() == "WATCHDOG=1")
        #expect(try await manager.wait() == "WATCHDOG=1")
        try await EventLoop.until { hanging != nil }
        // Several of its intervals without an answer of the store's, and nothing is sent.
        await EventLoop.pass(.milliseconds(50))
        #expect(manager.next() == nil)
        #expect(asked == 3)
        hanging?.resume()
        #expect(try await manager.wait() == "WATCHDOG=1")
        service.stopping()
    }

    /// No socket, or none that can be one.
    @Test(arguments: [nil, "", "relative", "@", "/" + String(repeating: "x", count: 200)])
    func withoutAServiceManagerNobodyAsksWhetherTheNodeLives(address: String?) async {
        var environment = ["WATCHDOG_USEC": "20000"]
        environment["NOTIFY_SOCKET"] = address
        let service = ServiceManager(environment: environment)
        var asked = 0
        service.ready { asked += 1 }
        // Whatever was begun by now has run before this task.
        await Task {}.value
        service.stopping()
        #expect(asked == 0)
    }

    @Test func theWatchdogOfAnotherProcessIsNotOurs() {
        let environment = ["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "17"]
        #expect(ServiceManager.watchdogInterval(environment, processID: 17) == .seconds(30))
        #expect(ServiceManager.watchdogInterval(environment, processID: 18) == nil)
        #expect(ServiceManager.watchdogInterval(["WATCHDOG_USEC": "0"], processID: 1) == nil)
    }
}
