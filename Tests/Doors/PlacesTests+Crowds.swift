import HTTP1
import Reactor
import Testing
import Wire

@testable import Doors

/// Places beside crowds of which each has a circuit of its own.
extension PlacesTests {
    /// Strangers who wait for their answers, as guesses at a passphrase do, leave half of the places.
    @Test func thoseWhoWaitForAnswersLeaveRoomForNewcomers() async throws {
        var settings = HTTPServerSettings()
        settings.connections = 16
        var asked = 0
        let server = HTTPServer(settings: settings, circuits: told()) { request, respond in
            guard request.path == "/never" else { return respond(HTTPResponse(status: 200)) }
            asked += 1
        }
        let endpoint = try server.open(on: Self.loopback)
        var crowd: [RawPeer] = []
        func wait(_ circuit: UInt32) async throws {
            let one = try await RawPeer(endpoint)
            one.stream.write(line(circuit) + Array("GET /never HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            crowd.append(one)
        }
        for circuit in 1...16 as ClosedRange<UInt32> { try await wait(circuit) }
        try await EventLoop.until { asked == 16 }
        let client = try await RawPeer(endpoint)
        client.stream.write(line(100))
        try await EventLoop.until { server.evictedConnections == 1 }
        for circuit in 17...22 as ClosedRange<UInt32> { try await wait(circuit) }
        try await EventLoop.until { asked == 22 }
        #expect(await isAnswered(client))
        // Those who have waited for longest gave way.
        #expect(crowd.map { $0.hasEnded } == (1...22).map { $0 <= 7 })
        await server.close()
    }

    /// Bytes of requests that never become whole are nothing that was said.
    @Test func whoDripsIsSilent() async throws {
        var settings = HTTPServerSettings()
        settings.connections = 16
        let server = server(settings, told())
        let endpoint = try server.open(on: Self.loopback)
        let drip = try await RawPeer(endpoint)
        drip.stream.write(line(1) + Array("GET / HTTP/1.1\r\n".utf8))
        try await EventLoop.until { server.openConnections(heldBy: 1) == 1 }
        var others: [RawPeer] = []
        for circuit in 2...16 as ClosedRange<UInt32> {
            others.append(try await RawPeer(endpoint))
            others[others.count - 1].stream.write(line(circuit))
        }
        try await EventLoop.until { server.openConnections(heldBy: 1) == 16 }
        // That the drop was read shows in its answer.
        drip.stream.write(Array("Host: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n".utf8))
        await drip.wait { !$0.received.isEmpty }
        let client = try await RawPeer(endpoint)
        client.stream.write(line(100))
        #expect(await isAnswered(client))
        await drip.wait { $0.hasEnded }
        #expect(others.allSatisfy { !$0.hasEnded })
        await server.close()
    }

    /// What tor says of a connection's circuit is read a turn after the connection has come.
    @Test func thoseWhoComeTogetherDoNotPushEachOtherOut() throws {
        let places = Places(16, room: BufferRoom())
        let circuits = told()
        var ends: [Stream] = []
        func connection(_ circuit: UInt32?) throws -> DoorConnection {
            let (here, there) = try Stream.pair()
            ends.append(there)
            let connection = DoorConnection(
                here, .init(circuits: circuits), at: places,
                limits: .init(idleTimeout: .seconds(60), deadline: .seconds(10)))
            connection.begin()
            if let circuit { connection.stream(here, received: line(circuit).span.bytes) }
            return connection
        }
        let crowd = try (1...16).map { try connection($0) }
        let newcomers = try (1...8).map { _ in try connection(nil) }
        #expect(newcomers.allSatisfy { !$0.hasEnded })
        #expect(crowd.map { $0.hasEnded } == (1...16).map { $0 <= 8 })
        for connection in newcomers + crowd { connection.shutDown() }
    }
}
