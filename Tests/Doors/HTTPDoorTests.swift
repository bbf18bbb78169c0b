import Crypto
import EndpointWorlds
import Foundation
import HTTP1
import Lab
import Processes
import TLS
import Testing

@testable import Doors
@testable import Reactor

/// Answers when the test says so, or at once.
@EventLoop
private final class TestDoor: HTTPDoor {
    let prefix: String
    var answersAtOnce = true
    private(set) var waiting: [@EventLoop (HTTPResponse) -> Void] = []

    init(_ prefix: String) { self.prefix = prefix }

    func handler(for path: String) -> HTTPServer.Handler? {
        guard path.hasPrefix(prefix) else { return nil }
        return { [self] _, respond in
            if answersAtOnce { return respond(HTTPResponse(status: 200, text: prefix)) }
            waiting.append(respond)
        }
    }

    func answerWaiting() {
        let waiting = waiting
        self.waiting = []
        for respond in waiting { respond(HTTPResponse(status: 200, text: prefix)) }
    }
}

/// Doors that share a server, their limits, and the server's own TLS.
@EventLoop
@Suite(.serialized) struct HTTPDoorTests {
    private static let lab = try! LabCredentials()

    private func answers(of door: some HTTPDoor, to requests: [HTTPRequest]) -> [Int] {
        var statuses: [Int] = []
        for request in requests { door.answer(request) { statuses.append($0.status) } }
        return statuses
    }

    @Test func eachPathGoesToItsDoor() async throws {
        let server = HTTPServer(doors: [TestDoor("/a"), TestDoor("/b")])
        let client = try await HTTPClient(try server.open(on: .host("127.0.0.1", port: 0)))
        #expect(await client.get("/a")?.text == "/a")
        #expect(await client.get("/b/x")?.text == "/b")
        #expect(await client.get("/c")?.status == 404)
        await server.close()
    }

    /// All clients wait before the loop looks for the first time. They come in by so many a turn, and the rest of the loop has
    /// its turns between.
    @Test func aServerTakesSoManyConnectionsATurn() async throws {
        var settings = HTTPServerSettings()
        settings.acceptsPerTurn = 8
        let server = HTTPServer(settings: settings) { $1(HTTPResponse(status: 200, text: $0.path)) }
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-test-\(UUID())"
        _ = try server.open(on: .unix(path: path))
        var address = try #require(SocketAddress(unixPath: path))
        let clients = (0..<20).map { _ in socket(address.family, Int32(SOCK_STREAM.rawValue), 0) }
        for client in clients { try #require(address.withPointer { connect(client, $0, $1) } == 0) }
        var steps: [Int] = []
        try await EventLoop.until {
            if server.openConnections != steps.last { steps.append(server.openConnections) }
            return server.openConnections == clients.count
        }
        #expect(steps == [0, 8, 16, 20])
        for client in clients { close(client) }
        await server.close()
    }

    @Test func aDoorHasSoManyRequestsAtATime() {
        var limits = LimitedDoor.Limits()
        limits.requests = 2
        let inner = TestDoor("/")
        inner.answersAtOnce = false
        let door = LimitedDoor(inner, limits: limits)
        let request = HTTPRequest(method: "GET", path: "/")
        var busy: HTTPResponse?
        #expect(answers(of: door, to: [request, request]) == [])
        door.answer(request) { busy = $0 }
        #expect(busy?.status == 503)
        #expect(busy?.fields["retry-after"] == "5")
        inner.answerWaiting()
        #expect(answers(of: door, to: [request]) == [])
        #expect(inner.waiting.count == 1)
        #expect(door.turnedAway == 1)
        inner.answerWaiting()
    }

    /// Fifty that nobody answers at one door: the next one answers all the same.
    @Test func aDoorThatIsFloodedDoesNotSlowDownAnother() async throws {
        var limits = LimitedDoor.Limits()
        limits.requests = 5
        let slow = TestDoor("/slow")
        slow.answersAtOnce = false
        let flooded = LimitedDoor(slow, limits: limits)
        let server = HTTPServer(doors: [flooded, LimitedDoor(TestDoor("/b"), limits: limits)])
        let endpoint = try server.open(on: .host("127.0.0.1", port: 0))
        var clients: [HTTPClient] = []
        for _ in 0..<50 {
            clients.append(try await HTTPClient(endpoint))
            clients.last?.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        try await EventLoop.until { flooded.turnedAway >= 45 }
        #expect(slow.waiting.count == 5)
        let other = try await HTTPClient(endpoint)
        for _ in 0..<10 { #expect(await other.get("/b")?.text == "/b") }
        #expect(flooded.turnedAway == 45)
        slow.answerWaiting()
        await server.close()
        #expect(clients.count == 50, "they were there until now")
    }

    @Test func aDoorHasSoManyRequestsASecond() {
        var limits = LimitedDoor.Limits()
        limits.rate = 3
        let door = LimitedDoor(TestDoor("/"), limits: limits)
        let request = HTTPRequest(method: "GET", path: "/")
        #expect(answers(of: door, to: Array(repeating: request, count: 4)) == [200, 200, 200, 503])
    }

    @Test func aDoorTakesBodiesOfItsOwnSize() {
        var limits = LimitedDoor.Limits()
        limits.body = 1024
        let door = LimitedDoor(TestDoor("/"), limits: limits)
        let requests = [1024, 1025].map {
            HTTPRequest(method: "POST", path: "/", body: Array(repeating: 0, count: $0))
        }
        #expect(answers(of: door, to: requests) == [200, 413])
    }

    // MARK: HTTPS

    private func curl(_ lab: LabCredentials, _ arguments: [String]) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "doors-\(UUID().uuidString).pem")
        try Data(lab.authorityPEM()).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let tool = try Tool(
            [
                "curl", "--silent", "--cacert", file.path, "--write-out",
                "\n%{http_code} %{http_version} %{num_connects}\n",
            ] + arguments)
        return try await tool.finish().filter { !$0.isEmpty }
    }

    @Test(arguments: ["1.2", "1.3"])
    func ourOwnHTTPSServesARealClient(tls: String) async throws {
        let server = HTTPServer(doors: [TestDoor("/a")])
        let certificate = ServerCertificate(try Self.lab.context(for: ["http/1.1"]))
        let endpoint = try server.open(on: .host("127.0.0.1", port: 0), showing: certificate)
        let body = String(repeating: "x", count: 30_000)
        let url = "https://\(endpoint)/a"
        let lines = try await curl(Self.lab, ["--tls-max", tls, "--data", body, url, url])
        // The second request comes by the same connection.
        #expect(lines == ["/a", "200 1.1 1", "/a", "200 1.1 0"])
        await server.close()
    }

    @Test func anotherCertificateIsShownFromTheNextConnectionOn() async throws {
        let server = HTTPServer(doors: [TestDoor("/a")])
        let certificate = ServerCertificate(try Self.lab.context(for: ["http/1.1"]))
        let endpoint = try server.open(on: .host("127.0.0.1", port: 0), showing: certificate)
        let other = try LabCredentials()
        #expect(try await curl(Self.lab, ["https://\(endpoint)/a"]).last == "200 1.1 1")
        certificate.context = try other.context(for: ["http/1.1"])
        #expect(try await curl(other, ["https://\(endpoint)/a"]).last == "200 1.1 1")
        await server.close()
    }

    @Test func whoSpeaksNoTLSIsClosed() async throws {
        let server = HTTPServer(doors: [TestDoor("/a")])
        let certificate = ServerCertificate(try Self.lab.context(for: ["http/1.1"]))
        let endpoint = try server.open(on: .host("127.0.0.1", port: 0), showing: certificate)
        let client = try await HTTPClient(endpoint)
        client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.waitForEnd()
        #expect(client.answers.isEmpty)
        #expect(server.counters.requests == 0)
        await server.close()
    }

    @Test func aHandshakeThatNobodyEndsHasADeadline() async throws {
        var settings = HTTPServerSettings()
        settings.requestDeadline = .milliseconds(100)
        let server = HTTPServer(settings: settings, doors: [TestDoor("/a")])
        let certificate = ServerCertificate(try Self.lab.context(for: ["http/1.1"]))
        let client = try await HTTPClient(
            try server.open(on: .host("127.0.0.1", port: 0), showing: certificate))
        await client.waitForEnd()
        #expect(client.answers.isEmpty)
        await server.close()
    }
}

extension LabCredentials {
    /// A context for a server of this machine that asks nobody for a certificate.
    func context(for protocols: [String]) throws -> TLSContext {
        let identity = try authority.server(names: ["127.0.0.1"])
        return try TLSContext(
            serverWith: TLSCredentials(
                chainPEM: try identity.chainPEM(), keyPEM: try identity.keyPEM().bytes), protocols: protocols)
    }
}
