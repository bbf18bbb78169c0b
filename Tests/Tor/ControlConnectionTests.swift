import Crypto
import Encodings
import Foundation
import Reactor
import Testing

@testable import Tor

@Suite struct ControlConnectionTests {
    let ports = [try! VirtualPort(9999, to: .host("127.0.0.1", port: 9))]

    @Test @EventLoop func pipelinedCommandsGetTheirOwnReplies() async throws {
        let tor = try LoneTor()
        let connection = try await tor.connect()
        async let version = connection.send(.getInfo(["version"]))
        async let unknown = Result { () async throws(ControlError) in
            try await connection.send(.getInfo(["nonsense"]))
        }
        async let option = connection.send(ControlCommand("GETCONF", ["SocksPort", "Nickname"]))
        async let two = connection.send(.getInfo(["process/pid", "onions/current"]))
        #expect(try await version["version"] != nil)
        #expect(await unknown == .failure(.refused(.unrecognizedKey("nonsense"))))
        #expect(try await option["SocksPort"] == "0")
        #expect(try await two["process/pid"] != nil)
    }

    /// The process before this one was killed with questions out and half an answer read.
    @Test @EventLoop func aConnectionThatAnotherProcessHasLeftGoesOn() async throws {
        let tor = try LoneTor()
        guard let descriptor = try await tor.connect().handOn() else {
            Issue.record("it can't be handed on")
            return
        }
        let number = descriptor.number
        let questions = Array("GETINFO info/names\r\nGETINFO nonsense version\r\nGETINFO version\r\n".utf8)
        #expect(write(number, questions, questions.count) == questions.count)
        var some = [UInt8](repeating: 0, count: 37)
        // No turn of the loop comes of what nobody there reads.
        var taken = 0
        while taken < some.count {
            var ready = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            try #require(poll(&ready, 1, -1) == 1)
            let count = recv(number, &some, some.count - taken, 0)
            try #require(count > 0)
            taken += count
        }
        let connection = try await ControlConnection(inheriting: descriptor)
        #expect(try await connection.send(.getInfo(["onions/current"]))["onions/current"] == "")
    }

    @Test @EventLoop func whatIsNoConnectionToTorIsNoneOfOurs() async throws {
        let null = Descriptor(owning: open("/dev/null", O_RDONLY))
        do {
            _ = try await ControlConnection(inheriting: null)
            Issue.record("it is one")
        } catch {
            // As it should be.
        }
    }

    @Test @EventLoop func theAddressIsThatOfTheKeyAndIsServedOnce() async throws {
        let tor = try LoneTor()
        let key = OnionKey.generate()
        let first = try await tor.connect()
        let service = try await OnionService.publish(key: key, ports: ports, on: first)
        #expect(service.address == key.address)
        #expect(service.state == .bootstrapping(progress: 0, summary: "Starting"))

        let second = try await tor.connect()
        await #expect(throws: ControlError.refused(.onionAddressCollision)) {
            try await OnionService.publish(key: key, ports: ports, on: second)
        }
        try await service.withdraw()
        _ = try await OnionService.publish(key: key, ports: ports, on: second)
        // With its connection the service is gone.
        second.close()
        let third = try await tor.connect()
        _ = try await OnionService.publish(key: key, ports: ports, on: third)
    }

    @Test @EventLoop func aServiceThatWasLeftDetachedIsTakenBack() async throws {
        let tor = try LoneTor()
        let key = OnionKey.generate()
        let first = try await tor.connect()
        try await first.send(
            ControlCommand(
                "ADD_ONION", ["ED25519-V3:\(Base64.encode(key.expandedBytes))", "Flags=Detach", "Port=1,1"]))
        first.close()
        let second = try await tor.connect()
        _ = try await OnionService.publish(key: key, ports: ports, on: second)
        let info = try await second.send(.getInfo(["onions/current", "onions/detached"]))
        #expect(info["onions/current"] == key.address.serviceID)
        #expect(info["onions/detached"] == "")
    }

    @Test @EventLoop func torGivesAnImportedKeyItsAddress() async throws {
        let own = OnionKey.generate()
        let imported = try #require(OnionKey(expanded: own.expandedBytes))
        let tor = try LoneTor()
        let service = try await OnionService.publish(key: imported, ports: ports, on: tor.connect())
        #expect(service.address == own.address)
    }

    @Test @EventLoop func theEndOfTorIsHeardAtOnce() async throws {
        let tor = try LoneTor()
        let connection = try await tor.connect()
        let begun = ContinuousClock.now
        let end = await withUnsafeContinuation { continuation in
            connection.onEnd = { continuation.resume(returning: $0) }
            tor.kill()
        }
        print("tor's death heard after \(ContinuousClock.now - begun)")
        #expect(end == .closed)
        await #expect(throws: ControlError.closed) { try await connection.send(.getInfo(["version"])) }
    }

    @Test @EventLoop func anOwnedTorEndsWithTheConnection() async throws {
        let tor = try LoneTor()
        let connection = try await tor.connect()
        try await connection.send(.takeOwnership)
        connection.close()
        let begun = ContinuousClock.now
        try await tor.waitUntilGone()
        print("an owned tor was gone after \(ContinuousClock.now - begun)")
        #expect(tor.exit == .exited(0))
    }

    @Test @EventLoop func eventsComeBetweenReplies() async throws {
        let tor = try FakeTor { line in
            switch line.prefix(while: { $0 != " " }) {
            case "PROTOCOLINFO": FakeTor.protocolInfo()
            case "GETINFO":
                "650 NETWORK_LIVENESS UP\r\n250-a=1\r\n250 OK\r\n650+WARN\r\n..hidden\r\n.\r\n650 OK\r\n"
            default: "250 OK\r\n"
            }
        }
        let connection = try await ControlConnection.open(tor.control, credentials: .init())
        var events: [ControlEvent] = []
        connection.onEvent = { events.append($0) }
        #expect(try await connection.send(.getInfo(["a"]))["a"] == "1")
        try await connection.send(.getInfo(["a"]))
        #expect(events.prefix(2) == [.networkLiveness(isUp: true), .log(severity: "WARN", words: ".hidden")])
    }

    @Test @EventLoop func aCommandWithoutAnAnswerEndsTheConnectionAndAllThatWait() async throws {
        let tor = try FakeTor {
            $0.hasPrefix("GETINFO") ? "" : $0.hasPrefix("P") ? FakeTor.protocolInfo() : "250 OK\r\n"
        }
        let connection = try await ControlConnection.open(tor.control, credentials: .init())
        async let second = Result { () async throws(ControlError) in
            try await connection.send(.getInfo(["b"]))
        }
        await #expect(throws: ControlError.timedOut(command: "GETINFO")) {
            try await connection.send(.getInfo(["a"]), within: .milliseconds(30))
        }
        #expect(await second == .failure(.timedOut(command: "GETINFO")))
    }

    @Test @EventLoop func aReplyToNothingEndsTheConnection() async throws {
        let tor = try FakeTor { $0.hasPrefix("P") ? FakeTor.protocolInfo() : "250 OK\r\n250 OK\r\n" }
        let connection = try await ControlConnection.open(tor.control, credentials: .init())
        #expect(connection.end == .notUnderstood(.unaskedReply))
    }
}

extension Result where Failure == ControlError, Success: Sendable {
    @EventLoop init(_ body: () async throws(ControlError) -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
