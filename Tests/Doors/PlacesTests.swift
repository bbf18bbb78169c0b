import Clocks
import Crypto
import Dispatching
import EndpointWorlds
import Foundation
import Gorush
import HTTP1
import Lab
import Reactor
import Relay
import TLS
import Testing
import Wire

@testable import Doors

/// Whoever holds most makes room: a crowd of silent connections keeps nobody out.
@EventLoop
@Suite(.serialized) struct PlacesTests {
    static let loopback = Endpoint.host("127.0.0.1", port: 0)
    private static let ping = Envelope(messageVersion: 10, message: .ping(Ping(nonce: 1))).frame

    func line(_ circuit: UInt32) -> [UInt8] {
        Array("PROXY TCP6 fc00:dead:beef:4dad::0:\(String(circuit, radix: 16)) ::1 \(circuit) 80\r\n".utf8)
    }

    func told() -> Circuits {
        var settings = CircuitsSettings()
        settings.knowsCircuits = true
        return Circuits(settings: settings)
    }

    func isAnswered(_ client: RawPeer) async -> Bool {
        let before = client.received.count
        client.stream.write(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        await client.wait { $0.received.count > before || $0.hasEnded }
        return client.received.count > before
    }

    func server(
        _ settings: HTTPServerSettings, _ circuits: Circuits, room: BufferRoom = BufferRoom()
    )
        -> HTTPServer
    {
        HTTPServer(settings: settings, circuits: circuits, room: room) { request, respond in
            respond(HTTPResponse(status: 200, text: request.path))
        }
    }

    /// Three hundred silent connections of ten circuits hold all places; honest ones of other circuits get in and stay.
    @Test func silentConnectionsOfFewCircuitsKeepNobodyOut() async throws {
        var settings = HTTPServerSettings()
        settings.connections = 300
        let circuits = told()
        let server = server(settings, circuits)
        let endpoint = try server.open(on: Self.loopback)
        var silent: [RawPeer] = []
        for index in 0..<300 as Range<UInt32> {
            let client = try await RawPeer(endpoint)
            client.stream.write(line(1 + index % 10))
            silent.append(client)
        }
        try await EventLoop.until { server.openConnections(heldBy: 30) >= 300 }
        #expect(server.openConnections == 300)
        var honest: [RawPeer] = []
        for circuit in 100..<120 as Range<UInt32> {
            let client = try await RawPeer(endpoint)
            client.stream.write(line(circuit))
            #expect(await isAnswered(client))
            honest.append(client)
        }
        // Those who were here first come again: it is their own that go.
        for index in 0..<40 as Range<UInt32> {
            let client = try await RawPeer(endpoint)
            client.stream.write(line(1 + index % 10))
            silent.append(client)
        }
        for client in honest { #expect(await isAnswered(client)) }
        #expect(server.openConnections <= 300)
        #expect(server.evictedConnections >= 20)
        await server.close()
    }

    /// The same at the peers' port.
    @Test func silentPeersOfFewCircuitsKeepNobodyOut() async throws {
        let dispatcher = try await idleDispatcher()
        var settings = PeerDoorSettings()
        settings.connections = 100
        let door = PeerDoor(settings: settings, dispatcher: dispatcher, circuits: told())
        let endpoint = try door.open(on: Self.loopback)
        var silent: [RawPeer] = []
        for index in 0..<100 as Range<UInt32> {
            let peer = try await RawPeer(endpoint)
            peer.stream.write(line(1 + index % 4))
            silent.append(peer)
        }
        try await EventLoop.until { door.openConnections(heldBy: 25) >= 100 }
        for circuit in 100..<110 as Range<UInt32> {
            let peer = try await RawPeer(endpoint)
            peer.stream.write(line(circuit) + Self.ping)
            await peer.wait { !$0.received.isEmpty || $0.hasEnded }
            #expect(!peer.received.isEmpty)
            silent.append(peer)
        }
        #expect(door.evictedConnections >= 10)
        await door.close()
    }

    /// Half requests that hold more than all may: the largest goes, and the others stay.
    @Test func whoeverHoldsMostInBuffersGoesFirst() async throws {
        let room = BufferRoom(limit: 200_000)
        var settings = HTTPServerSettings()
        settings.limits.body = 1 << 20
        let server = server(settings, Circuits(settings: .unlimited), room: room)
        let endpoint = try server.open(on: Self.loopback)
        func half(_ bytes: Int) async throws -> RawPeer {
            let client = try await RawPeer(endpoint)
            let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
            client.stream.write(Array(head.utf8) + [UInt8](repeating: 0, count: bytes))
            return client
        }
        let small = try await half(20_000)
        try await EventLoop.until { room.used >= 16_000 }
        let large = try await half(400_000)
        await large.wait { $0.hasEnded }
        #expect(room.closed == 1 && !small.hasEnded)
        #expect(room.used < 200_000)
        small.stream.close()
        try await EventLoop.until { room.used == 0 }
        await server.close()
    }

    @Test func anAddressBeginsSoManyHandshakes() async throws {
        let context = try LabCredentials().context(for: [])
        let server = server(HTTPServerSettings(), Circuits(settings: .addresses(connections: 0)))
        let endpoint = try server.open(
            on: Self.loopback, showing: ServerCertificate(context, perAddress: 1))
        var clients: [RawPeer] = []
        for _ in 0..<20 { clients.append(try await RawPeer(endpoint)) }
        // Five at once, and one more for each second that this takes.
        try await EventLoop.until { server.counters.refusedHandshakes + server.counters.connections >= 20 }
        #expect(server.counters.connections >= 5 && server.counters.refusedHandshakes >= 1)
        await server.close()
    }

    /// What is too much for all together waits in the kernel, and comes when there is room.
    @Test func allTogetherBeginSoManyHandshakesAndTheOthersWait() async throws {
        let context = try LabCredentials().context(for: [])
        let server = server(HTTPServerSettings(), Circuits(settings: .addresses(connections: 0)))
        let endpoint = try server.open(
            on: Self.loopback, showing: ServerCertificate(context, handshakes: 20, perAddress: 1000))
        var clients: [RawPeer] = []
        for _ in 0..<50 { clients.append(try await RawPeer(endpoint)) }
        try await EventLoop.until { server.counters.connections >= 50 }
        #expect(server.counters.delayedHandshakes >= 1)
        #expect(server.counters.refusedHandshakes == 0 && clients.allSatisfy { !$0.hasEnded })
        await server.close()
    }

    /// However silent they are, and however many strangers come: up to an eighth of the places.
    @Test func whoeverMayBeHereHasPlacesThatStrangersDoNotTake() throws {
        let places = Places(16, room: BufferRoom())
        let circuits = Circuits(settings: .unlimited)
        var ends: [Stream] = []
        func connection() throws -> DoorConnection {
            let (here, there) = try Stream.pair()
            ends.append(there)
            let connection = DoorConnection(
                here, .init(circuits: circuits), at: places,
                limits: .init(idleTimeout: .seconds(60), deadline: .seconds(10)))
            connection.begin()
            return connection
        }
        let known = [try connection(), try connection(), try connection()]
        for connection in known.prefix(2) { connection.isKnown = true }
        for _ in 0..<50 { _ = try connection() }
        #expect(known.map(\.hasEnded) == [false, false, true])
        #expect(places.count == 16 && places.evicted == 37)
        for connection in known { connection.shutDown() }
    }

    /// The next connection of a circuit by which somebody has shown that he may be here, before its first request.
    @Test func aKnownCircuitsNextConnectionHasAPlaceThatStrangersDoNotTake() async throws {
        var settings = HTTPServerSettings()
        settings.connections = 16
        settings.refusals = [404]
        let server = HTTPServer(settings: settings, circuits: told()) { request, respond in
            let answer = HTTPResponse(status: 200, text: request.path)
            respond(request.fields["cookie"] == nil ? answer : answer.forKnown)
        }
        let endpoint = try server.open(on: Self.loopback)
        let first = try await RawPeer(endpoint)
        first.stream.write(line(7) + Array("GET / HTTP/1.1\r\nHost: a\r\nCookie: a=b\r\n\r\n".utf8))
        await first.wait { !$0.received.isEmpty }
        let next = try await RawPeer(endpoint)
        next.stream.write(line(7))
        try await EventLoop.until { server.openConnections(heldBy: 2) == 2 }
        var strangers: [RawPeer] = []
        for number in 100..<150 as Range<UInt32> {
            let stranger = try await RawPeer(endpoint)
            stranger.stream.write(line(number))
            strangers.append(stranger)
        }
        try await EventLoop.until { server.evictedConnections >= 36 }
        #expect(await isAnswered(next))
        await server.close()
    }

    /// Beyond an eighth they are as all others are: else they could hold all places.
    @Test func tooManyWhoMayBeHereGoAsAllOthersDo() throws {
        let places = Places(16, room: BufferRoom())
        let circuits = Circuits(settings: .unlimited)
        var ends: [Stream] = []
        var connections: [DoorConnection] = []
        for _ in 0..<20 {
            let (here, there) = try Stream.pair()
            ends.append(there)
            let connection = DoorConnection(
                here, .init(circuits: circuits), at: places,
                limits: .init(idleTimeout: .seconds(60), deadline: .seconds(10)))
            connection.begin()
            connection.isKnown = true
            connections.append(connection)
        }
        #expect(places.count == 16 && places.evicted == 4)
        #expect(connections.prefix(5).map(\.hasEnded) == [true, true, true, true, false])
        for connection in connections { connection.shutDown() }
    }

    /// However long its answer takes.
    @Test func whoeverWaitsForAnAnswerIsNotSilent() async throws {
        var settings = HTTPServerSettings()
        settings.connections = 16
        let late = LateAnswer()
        let server = HTTPServer(settings: settings, circuits: Circuits(settings: .unlimited)) {
            request, respond in
            guard request.path == "/late" else { return respond(HTTPResponse(status: 200)) }
            late.respond = respond
        }
        let endpoint = try server.open(on: Self.loopback)
        let waiting = try await RawPeer(endpoint)
        waiting.stream.write(Array("GET /late HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        try await EventLoop.until { late.respond != nil }
        var others: [RawPeer] = []
        for _ in 0..<40 {
            others.append(try await RawPeer(endpoint))
            #expect(await isAnswered(others[others.count - 1]))
        }
        #expect(!waiting.hasEnded && server.evictedConnections >= 20)
        late.respond?(HTTPResponse(status: 200))
        await waiting.wait { !$0.received.isEmpty || $0.hasEnded }
        #expect(!waiting.received.isEmpty)
        await server.close()
    }

    /// By its first answer a client of the operator's is known, and stays however many strangers come after it.
    @Test(arguments: ["Bearer open sesame", "Bearer open", nil])
    func whoeverHasShownTheSecretKeepsItsConnection(authorization: String?) async throws {
        let world = try await RelayWorld()
        var door = GorushDoorSettings()
        door.secret = Secret(Array("open sesame".utf8))
        var settings = HTTPServerSettings()
        settings.connections = 16
        let server = HTTPServer(
            settings: settings, circuits: Circuits(settings: .unlimited),
            doors: [GorushDoor(settings: door, dispatcher: world.dispatcher)])
        let endpoint = try server.open(on: Self.loopback)
        let owner = try await RawPeer(endpoint)
        let field = authorization.map { "Authorization: \($0)\r\n" } ?? ""
        owner.stream.write(
            Array("POST /api/push HTTP/1.1\r\nHost: a\r\n\(field)Content-Length: 2\r\n\r\n{}".utf8))
        await owner.wait { !$0.received.isEmpty || $0.hasEnded }
        var strangers: [RawPeer] = []
        for _ in 0..<40 {
            strangers.append(try await RawPeer(endpoint))
            #expect(await isAnswered(strangers[strangers.count - 1]))
        }
        if authorization != "Bearer open sesame" { await owner.wait { $0.hasEnded } }
        #expect(owner.hasEnded == (authorization != "Bearer open sesame"))
        await server.close()
        await world.end()
    }

    @Test func theHeaviestGoFirstAndAmongThemTheLongestSilent() {
        let candidates = [(1, 5), (3, 9), (3, 4), (2, 1), (3, 7)].map {
            Places.Candidate(heldWith: $0.0, silentSince: MonotonicTime(nanoseconds: Int64($0.1)))
        }
        #expect(Places.victims(among: candidates, count: 1) == [2])
        #expect(Places.victims(among: candidates, count: 4) == [2, 4, 1, 3])
        #expect(Places.victims(among: candidates, count: 9) == [2, 4, 1, 3, 0])
        #expect(Places.victims(among: [], count: 1) == [])
    }
}

@EventLoop
private final class LateAnswer {
    var respond: (@EventLoop (HTTPResponse) -> Void)?
}
