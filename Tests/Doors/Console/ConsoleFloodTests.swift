import Crypto
import Dispatching
import EndpointWorlds
import Foundation
import HTTP1
import Reactor
import Relay
import Testing
import Wire

@testable import Doors
@testable import Owner

/// What strangers may make of the loop at the console's onion address. It is counted; no time is.
@EventLoop
@Suite struct ConsoleFloodTests {
    private static let host = "console.onion"

    private final class NoCalls: HTTPDoor {
        func handler(for path: String) -> HTTPServer.Handler? { nil }
    }

    /// The console and the door of the peers on one loop, behind a tor that tells circuits.
    @EventLoop private struct Site {
        let circuits: Circuits
        let server: HTTPServer
        let door: PeerDoor
        let console: Endpoint
        let peers: Endpoint
        let login: ConsoleLogin

        func client(_ circuit: UInt32) async throws -> RawPeer {
            let client = try await RawPeer(console)
            client.stream.write(line(circuit))
            return client
        }

        func close() async {
            await server.close()
            await door.close()
        }
    }

    /// - Parameter handler: In the console's place.
    private func site(
        strangers: Rate? = nil, firsts: Rate? = nil, framesPerSecond: Int = 0,
        handler: HTTPServer.Handler? = nil
    ) async throws -> Site {
        let dispatcher = try await idleDispatcher()
        var settings = CircuitsSettings()
        settings.knowsCircuits = true
        settings.limits.framesPerSecond = framesPerSecond
        settings.ofStrangers = strangers
        settings.ofFirsts = firsts
        let circuits = Circuits(settings: settings)
        var http = HTTPServerSettings()
        http.refusals = [401, 403, 404, 429]
        let login = ConsoleLogin(nil) { _ in }
        let console = ConsoleDoor(
            origins: ["http://" + Self.host], cookie: "onionbell", login: login, calls: NoCalls(),
            stateText: { Array("well".utf8) }, events: ConsoleEvents(), isWidget: { _ in false },
            file: { _ in Array("page".utf8) })
        let server = HTTPServer(
            settings: http, circuits: circuits, handler: handler ?? { console.answer($0, respond: $1) })
        let door = PeerDoor(settings: PeerDoorSettings(), dispatcher: dispatcher, circuits: Circuits())
        let place = Endpoint.host("127.0.0.1", port: 0)
        return Site(
            circuits: circuits, server: server, door: door,
            console: try server.open(on: place), peers: try door.open(on: place), login: login)
    }

    private func get(_ path: String, _ count: Int = 1, cookie: String? = nil) -> [UInt8] {
        let session = cookie.map { "Cookie: onionbell=\($0)\r\n" } ?? ""
        let request = "GET \(path) HTTP/1.1\r\nHost: \(Self.host)\r\n\(session)\r\n"
        return Array(String(repeating: request, count: count).utf8)
    }

    private func answers(_ client: RawPeer, _ status: Int) -> Int {
        String(decoding: client.received, as: UTF8.self)
            .components(separatedBy: "HTTP/1.1 \(status) ").count - 1
    }

    private func owner(at site: Site, _ circuit: UInt32) async throws -> (RawPeer, cookie: String) {
        guard case .entered(let token, _) = await site.login.enter(byLink: site.login.makeLink(), from: 1)
        else {
            throw CancellationError()
        }
        let owner = try await site.client(circuit)
        owner.stream.write(get("/status.txt", cookie: token))
        await owner.wait { $0.hasEnded || !$0.received.isEmpty }
        return (owner, token)
    }

    @Test func strangersTogetherGetTheirShareAndPeersAndTheOwnerAllElse() async throws {
        // It does not come again while the test runs.
        let site = try await site(strangers: Rate(perSecond: 0.001, burst: 20))
        let (owner, cookie) = try await owner(at: site, 100)
        var floods: [RawPeer] = []
        for circuit in 0..<8 as Range<UInt32> {
            let flood = try await site.client(circuit)
            flood.stream.write(get("/api/v1/state", 40))
            floods.append(flood)
        }
        try await EventLoop.until { site.circuits.strangers?.waiting == 8 }
        #expect(site.server.counters.requests == 20)
        let peer = try await RawPeer(site.peers)
        let ping = Envelope(messageVersion: 10, message: .ping(Ping(nonce: 1))).frame
        for count in 1...20 {
            let before = peer.received.count
            peer.stream.write(ping)
            await peer.wait { $0.hasEnded || $0.received.count > before }
            #expect(!peer.hasEnded && site.server.counters.requests == 20, "\(count)")
        }
        owner.stream.write(get("/status.txt", 50, cookie: cookie))
        await owner.wait { self.answers($0, 200) == 51 || $0.hasEnded }
        #expect(!owner.hasEnded && site.server.counters.requests == 70)
        // Whoever goes leaves the row.
        await site.close()
        #expect(site.circuits.strangers?.waiting == 0 && floods.count == 8)
    }

    @Test func whoAsksLittleWaitsForOneRequestOfEachOther() async throws {
        var served: [String] = []
        let site = try await site(strangers: Rate(perSecond: 500, burst: 1)) { request, respond in
            served.append(request.path)
            respond(HTTPResponse(status: 200, text: "page"))
        }
        var floods: [RawPeer] = []
        for circuit in 0..<4 as Range<UInt32> {
            let flood = try await site.client(circuit)
            flood.stream.write(get("/flood", 300))
            floods.append(flood)
        }
        try await EventLoop.until { site.circuits.strangers?.waiting == 4 }
        let client = try await site.client(4)
        client.stream.write(get("/page", 5))
        await client.wait { self.answers($0, 200) == 5 || $0.hasEnded }
        let places = served.indices.filter { served[$0] == "/page" }
        #expect(places.count == 5 && !floods.contains(where: \.hasEnded))
        for (one, next) in zip(places, places.dropFirst()) { #expect(next - one == 5, "\(places)") }
        await site.close()
    }

    /// A circuit that says nothing, or half a request, uses up nothing of what others need.
    @Test(arguments: ["", "GET / HTTP/1.1\r\n"])
    func whoAsksNothingWholeTakesNoTurn(words: String) async throws {
        let site = try await site(strangers: Rate(perSecond: 0.001, burst: 2))
        var crowd: [RawPeer] = []
        for circuit in 1...20 as ClosedRange<UInt32> {
            let one = try await site.client(circuit)
            one.stream.write(Array(words.utf8))
            crowd.append(one)
        }
        try await EventLoop.until { site.circuits.counters.circuits == 20 }
        let client = try await site.client(100)
        client.stream.write(get("/"))
        await client.wait { $0.hasEnded || !$0.received.isEmpty }
        #expect(answers(client, 200) == 1 && site.circuits.strangers?.waiting == 0)
        #expect(crowd.allSatisfy { !$0.hasEnded })
        await site.close()
    }

    /// Whoever asks on and on stands behind whoever asks for the first time; that holds once for each circuit.
    @Test func aCircuitsFirstRequestStandsBehindNobodyWhoAskedBefore() async throws {
        let never = 0.001
        let site = try await site(
            strangers: Rate(perSecond: never, burst: 4), firsts: Rate(perSecond: never, burst: 10))
        var crowd: [RawPeer] = []
        for circuit in 1...8 as ClosedRange<UInt32> {
            let one = try await site.client(circuit)
            // More than its first and all turns: each comes to stand in the row.
            one.stream.write(get("/", 10))
            crowd.append(one)
        }
        try await EventLoop.until { site.circuits.strangers?.waiting == 8 }
        #expect(site.server.counters.requests == 8 + 4)
        let client = try await site.client(100)
        client.stream.write(get("/", 2))
        await client.wait { $0.hasEnded || !$0.received.isEmpty }
        try await EventLoop.until { site.circuits.strangers?.waiting == 9 }
        // Another stream of the same circuit is nobody new.
        let other = try await site.client(100)
        other.stream.write(get("/"))
        try await EventLoop.until { site.circuits.strangers?.waiting == 10 }
        #expect(answers(client, 200) == 1 && other.received.isEmpty && site.server.counters.requests == 13)
        await site.close()
    }

    @Test func aCircuitThatGetsNothingButRefusalsIsClosed() async throws {
        let site = try await site()
        var closed: [UInt32] = []
        site.circuits.onMisbehaviour = { closed.append($0) }
        let (owner, cookie) = try await owner(at: site, 100)
        let most = 5 * CircuitAccount.refusalsPerStrike
        let flood = try await site.client(7)
        // Pages, which everybody gets, are no excuse.
        flood.stream.write(get("/") + get("/api/v1/state", 2 * most))
        await flood.wait { $0.hasEnded }
        #expect(closed == [7] && answers(flood, 401) == most)
        let again = try await site.client(7)
        again.stream.write(get("/"))
        await again.wait { $0.hasEnded }
        #expect(again.received.isEmpty)
        // An owner's mistakes are no stranger's, and another stranger is told what all are told.
        owner.stream.write(get("/api/v1/nothing", 2 * most, cookie: cookie))
        await owner.wait { self.answers($0, 404) == 2 * most || $0.hasEnded }
        let other = try await site.client(8)
        other.stream.write(get("/api/v1/state", most - 1))
        await other.wait { self.answers($0, 401) == most - 1 || $0.hasEnded }
        #expect(!owner.hasEnded && !other.hasEnded && closed == [7])
        await site.close()
    }

    /// The whole of what came with one read is not answered at once, either.
    @Test func requestsSentAheadWaitForTheCircuitsShare() async throws {
        let site = try await site(framesPerSecond: 2)
        let client = try await site.client(1)
        client.stream.write(get("/status.txt", 40))
        try await EventLoop.until { site.circuits.counters.slowed > 0 }
        #expect(site.server.counters.requests < 30)
        await site.close()
    }
}

private func line(_ circuit: UInt32) -> [UInt8] {
    Array("PROXY TCP6 fc00:dead:beef:4dad::0:\(String(circuit, radix: 16)) ::1 \(circuit) 80\r\n".utf8)
}
