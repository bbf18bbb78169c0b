import Crypto
import Dispatching
import Foundation
import HTTP1
import Lab
import Logging
import Persistence
import Reactor
import Relay
import Testing
import Wire

@testable import Doors

/// What peers may do who come by one circuit, and that others don't feel it.
@EventLoop
@Suite struct CircuitTests {
    /// Both doors behind a tor that tells circuits.
    @EventLoop private struct Node {
        let circuits: Circuits
        let door: PeerDoor
        let peers: Endpoint
        let server: HTTPServer
        let http: Endpoint

        func peer(_ circuit: UInt32) async throws -> RawPeer {
            let peer = try await RawPeer(peers)
            peer.stream.write(line(circuit, port: 9999))
            return peer
        }

        func client(_ circuit: UInt32) async throws -> RawPeer {
            let client = try await RawPeer(http)
            client.stream.write(line(circuit, port: 80))
            return client
        }

        func close() async {
            await door.close()
            await server.close()
        }
    }

    private func node(
        knowsCircuits: Bool = true, areShared: Bool = false,
        limits change: (inout CircuitAccount.Limits) -> Void = { _ in },
        peers changePeers: (inout PeerDoorSettings) -> Void = { _ in },
        http changeHTTP: (inout HTTPServerSettings) -> Void = { _ in }
    ) async throws -> Node {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-circuits-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(apps: [], defaultIOS: "", defaultAndroid: ""),
                limits: Admission.Limits()), outbox: try await OutboxStore(path: path + "/outbox.sqlite"),
            digester: SubmissionDigester(key: Secret([1])), log: log)
        try await dispatcher.start()
        var settings = CircuitsSettings()
        settings.knowsCircuits = knowsCircuits
        settings.areShared = areShared
        change(&settings.limits)
        let circuits = Circuits(settings: settings)
        var peerSettings = PeerDoorSettings()
        changePeers(&peerSettings)
        let door = PeerDoor(settings: peerSettings, dispatcher: dispatcher, circuits: circuits)
        var httpSettings = HTTPServerSettings()
        changeHTTP(&httpSettings)
        let server = HTTPServer(settings: httpSettings, circuits: circuits) { request, respond in
            respond(
                HTTPResponse(
                    status: 200, text: request.path == "/sender" ? "\(request.sender)" : request.path))
        }
        let loopback = Endpoint.host("127.0.0.1", port: 0)
        return Node(
            circuits: circuits, door: door, peers: try door.open(on: loopback), server: server,
            http: try server.open(on: loopback))
    }

    private static let ping = Envelope(messageVersion: 10, message: .ping(Ping(nonce: 1))).frame
    private static let pong = Envelope(messageVersion: 10, message: .pong(Pong(requestNonce: 1))).frame

    /// Whether a Ping is answered.
    private func isServed(_ peer: RawPeer) async -> Bool {
        let before = peer.received.count
        peer.stream.write(Self.ping)
        await peer.wait { $0.received.count >= before + Self.pong.count || $0.hasEnded }
        return peer.received.dropFirst(before).starts(with: Self.pong)
    }

    @Test func theLineIsTakenOffAndTheRestIsThePeers() async throws {
        let node = try await node()
        let peer = try await RawPeer(node.peers)
        for byte in line(330, port: 9999) + Self.ping { peer.stream.write([byte]) }
        await peer.wait { $0.received.count >= Self.pong.count || $0.hasEnded }
        #expect(!peer.hasEnded)
        let client = try await node.client(330)
        client.stream.write(Array("GET /a HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        await client.wait { !$0.received.isEmpty || $0.hasEnded }
        #expect(String(decoding: client.received, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
        #expect(node.circuits.counters.circuits == 1)
        await node.close()
    }

    /// By which the core keeps their shares apart.
    @Test(arguments: [true, false])
    func aSenderIsACircuitOrWhereNoneIsToldAConnection(knowsCircuits: Bool) async throws {
        let node = try await node(knowsCircuits: knowsCircuits)
        var senders: [String] = []
        for circuit in [1, 1, 2] as [UInt32] {
            let client = knowsCircuits ? try await node.client(circuit) : try await RawPeer(node.http)
            client.stream.write(Array("GET /sender HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
            await client.wait { !$0.received.isEmpty || $0.hasEnded }
            let text = String(decoding: client.received, as: UTF8.self)
            senders.append(text.components(separatedBy: "\r\n\r\n").last ?? "")
        }
        #expect(!senders.contains("0"))
        #expect((senders[0] == senders[1]) == knowsCircuits)
        #expect(senders[1] != senders[2])
        await node.close()
    }

    /// A frame holds hundreds of entries, each of which costs what a frame does.
    @Test func eachEntryOfABundleCounts() async throws {
        let node = try await node(limits: { $0.framesPerSecond = 10 })
        let peer = try await node.peer(1)
        let entries = (1...150).map { Envelope(messageVersion: 10, message: .ping(Ping(nonce: Int32($0)))) }
        peer.stream.write(Envelope(messageVersion: 10, message: .bundle(Array(entries.prefix(90)))).frame)
        await peer.wait { $0.received.count >= 90 * Self.pong.count || $0.hasEnded }
        #expect(node.circuits.counters.slowed == 0)
        peer.stream.write(Envelope(messageVersion: 10, message: .bundle(entries)).frame)
        await peer.wait { $0.received.count >= 240 * Self.pong.count || $0.hasEnded }
        #expect(node.circuits.counters.slowed == 1)
        #expect(await isServed(try await node.peer(2)))
        await node.close()
    }

    /// Whoever makes device tokens up is held back, and nobody else.
    @Test(arguments: [true, false])
    func whoBringsWhatGatewaysRefuseIsReadMoreSlowly(knowsCircuits: Bool) async throws {
        let node = try await node(knowsCircuits: knowsCircuits, limits: { $0.framesPerSecond = 12 })
        let client = knowsCircuits ? try await node.client(1) : try await RawPeer(node.http)
        client.stream.write(Array("GET /sender HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        await client.wait { !$0.received.isEmpty || $0.hasEnded }
        let text = String(decoding: client.received, as: UTF8.self)
        let sender = SenderID(try #require(text.components(separatedBy: "\r\n\r\n").last.flatMap(Int.init)))
        for _ in 1...2 { node.circuits.refused(sender) }
        #expect(node.circuits.counters.slowed == 0)
        node.circuits.refused(sender)
        #expect(node.circuits.counters.refusedNotifications == 3)
        #expect(node.circuits.counters.slowed == 1)
        node.circuits.refused(SenderID(0))
        #expect(node.circuits.counters.refusedNotifications == 3)
        #expect(await isServed(knowsCircuits ? try await node.peer(2) : try await RawPeer(node.peers)))
        await node.close()
    }

    /// Behind a tor that others use too: strangers together have a bounded part, however many connections they open.
    @Test func withoutCircuitsAllConnectionsHaveOneAccount() async throws {
        let node = try await node(knowsCircuits: false, areShared: true, limits: { $0.framesPerSecond = 1 })
        // 16 times one a second, for ten seconds.
        let limit = 10 * CircuitsSettings.partsOfAll
        for _ in 0..<4 {
            let peer = try await RawPeer(node.peers)
            peer.stream.write(Array(repeatElement(Self.ping, count: limit / 4).joined()))
            await peer.wait { $0.received.count >= limit / 4 * Self.pong.count || $0.hasEnded }
        }
        #expect(node.circuits.counters.slowed == 0)
        // One more than the limit, and as many as the limit's time has let go where this takes long.
        let peer = try await RawPeer(node.peers)
        var sent = 0
        while node.circuits.counters.slowed == 0, !peer.hasEnded {
            sent += 1
            peer.stream.write(Self.ping)
            await peer.wait { $0.received.count >= sent * Self.pong.count || $0.hasEnded }
        }
        #expect(node.circuits.counters.slowed == 1)
        await node.close()
    }

    @Test func aStreamThatDoesNotBeginAsTorBeginsItIsClosedWithoutAWord() async throws {
        let node = try await node()
        let peer = try await RawPeer(node.peers)
        peer.stream.write(Self.ping)
        await peer.wait { $0.hasEnded }
        #expect(peer.received.isEmpty)
        let client = try await RawPeer(node.http)
        client.stream.write(Array("GET /a HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        await client.wait { $0.hasEnded }
        #expect(client.received.isEmpty)
        #expect(node.circuits.counters.withoutLine == 2)
        #expect(node.door.counters.closed[.noCircuit] == 1)
        await node.close()
    }

    @Test func aLineThatDoesNotComeHasTheDeadlineOfAFrame() async throws {
        let node = try await node(peers: { $0.frameDeadline = .milliseconds(100) })
        let peer = try await RawPeer(node.peers)
        peer.stream.write(Array("PROXY".utf8))
        await peer.wait { $0.hasEnded }
        #expect(node.door.counters.closed[.frameTimeout] == 1)
        await node.close()
    }

    /// Connections to both doors count together, and another circuit has its own.
    @Test func aCircuitHasSoManyConnectionsAndNoMore() async throws {
        let node = try await node(limits: { $0.connections = 2 })
        let first = try await node.peer(1)
        #expect(await isServed(first))
        let client = try await node.client(1)
        client.stream.write(Array("GET /a HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        await client.wait { !$0.received.isEmpty }
        let third = try await node.peer(1)
        await third.wait { $0.hasEnded }
        #expect(String(decoding: third.received, as: UTF8.self).contains("TOO_MANY_CONNECTIONS_OPEN"))
        #expect(await isServed(try await node.peer(2)))
        #expect(node.circuits.counters.refusedConnections == 1)
        client.stream.close()
        var again = try await node.peer(1)
        while !(await isServed(again)) { again = try await node.peer(1) }
        #expect(!first.hasEnded)
        await node.close()
    }

    @Test func brokenRulesAreTheCircuitsAndTheLastOfThemEndsIt() async throws {
        let node = try await node(limits: { $0.strikes = 3 })
        var closed: [UInt32] = []
        node.circuits.onMisbehaviour = { closed.append($0) }
        for _ in 0..<3 {
            let peer = try await node.peer(7)
            // A length over the limit.
            peer.stream.write([0xFF, 0xFF, 0xFF, 0x7F])
            await peer.wait { $0.hasEnded }
        }
        #expect(closed == [7])
        #expect(node.circuits.counters.strikes == 3 && node.circuits.counters.closed == 1)
        // Whatever tor does: it is heard no more, and others are.
        let late = try await node.peer(7)
        #expect(await !isServed(late))
        #expect(await isServed(try await node.peer(8)))
        #expect(closed == [7])
        await node.close()
    }

    @Test func anHTTPFaultIsAStrikeToo() async throws {
        let node = try await node(limits: { $0.strikes = 1 })
        var closed: [UInt32] = []
        node.circuits.onMisbehaviour = { closed.append($0) }
        let client = try await node.client(9)
        client.stream.write(Array("GET\r\n\r\n".utf8))
        await client.wait { $0.hasEnded }
        #expect(closed == [9])
        await node.close()
    }

    /// Faster than its share, a circuit waits; it is not punished, and nothing is lost.
    @Test func aCircuitThatIsTooFastIsReadMoreSlowlyOnAllItsConnections() async throws {
        let node = try await node(limits: { $0.framesPerSecond = 10 })
        let first = try await node.peer(1)
        let second = try await node.peer(1)
        // A hundred at once are its share of ten seconds; ten more cost a second.
        let pings = Array(repeatElement(Self.ping, count: 55).joined())
        first.stream.write(pings)
        second.stream.write(pings)
        await first.wait { $0.received.count >= 55 * Self.pong.count }
        await second.wait { $0.received.count >= 55 * Self.pong.count }
        #expect(await isServed(try await node.peer(2)))
        // One of the two is being held back; the other may get a word in before it is, too.
        for _ in 0..<2 {
            #expect(await isServed(first))
            #expect(await isServed(second))
        }
        #expect(node.circuits.counters.slowed >= 1)
        #expect(node.circuits.counters.strikes == 0)
        await node.close()
    }

    /// What comes late is late through us.
    @Test func aRequestHasNoDeadlineWhileItsCircuitIsNotRead() async throws {
        let node = try await node(
            limits: { $0.bytesPerSecond = 1000 }, http: { $0.requestDeadline = .seconds(1) })
        let client = try await node.client(1)
        let head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 13000\r\n\r\n"
        // Its share of ten seconds, and of longer than the deadline.
        client.stream.write(Array(head.utf8) + [UInt8](repeating: 1, count: 11_500))
        try await EventLoop.until { node.circuits.counters.slowed > 0 }
        client.stream.write([UInt8](repeating: 1, count: 1500))
        await client.wait { !$0.received.isEmpty || $0.hasEnded }
        #expect(String(decoding: client.received, as: UTF8.self).hasPrefix("HTTP/1.1 200"))
        #expect(node.circuits.counters.strikes == 0)
        await node.close()
    }

    @Test func whereTorTellsNothingEachConnectionIsACircuitOfItsOwn() async throws {
        let node = try await node(knowsCircuits: false, limits: { $0.connections = 1 })
        var closed: [UInt32] = []
        node.circuits.onMisbehaviour = { closed.append($0) }
        let first = try await RawPeer(node.peers)
        let second = try await RawPeer(node.peers)
        #expect(await isServed(first))
        #expect(await isServed(second))
        #expect(node.circuits.knownCount == 0 && closed.isEmpty)
        await node.close()
    }

    /// A tenth of what one node is to hold; the benchmark `idle` holds all of it.
    @Test func aThousandIdlePeersStayAndAreServed() async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let node = try await node()
        var peers: [RawPeer] = []
        for circuit in 0..<1000 as Range<UInt32> {
            let peer = try await node.peer(circuit)
            #expect(await isServed(peer))
            peers.append(peer)
        }
        #expect(node.door.openConnections == 1000 && node.circuits.knownCount == 1000)
        for peer in peers { #expect(await isServed(peer)) }
        await node.close()
    }

    /// Circuits come and go by the thousand; the table keeps those that matter.
    @Test func circuitsWithoutConnectionsAreForgotten() async throws {
        let node = try await node(limits: {
            $0.framesPerSecond = 1_000_000
            $0.bytesPerSecond = 1_000_000_000
        })
        for circuit in 0..<1000 as Range<UInt32> {
            let peer = try await node.peer(circuit)
            #expect(await isServed(peer))
            peer.stream.close()
        }
        #expect(node.circuits.counters.circuits == 1000)
        #expect(node.circuits.knownCount <= 512)
        await node.close()
    }
}

private func line(_ circuit: UInt32, port: Int) -> [UInt8] {
    let (high, low) = (String(circuit >> 16, radix: 16), String(circuit & 0xFFFF, radix: 16))
    return Array("PROXY TCP6 fc00:dead:beef:4dad::\(high):\(low) ::1 \(circuit & 0xFFFF) \(port)\r\n".utf8)
}
