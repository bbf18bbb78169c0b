import Crypto
import Doors
import Foundation
import Gorush
import HTTP1
import Lab
import Persistence
import PushEndpoints
import Reactor
import Relay
import StatusIM
import StatusIMEndpoint
import Testing
import Vectors
import Wire

/// Status' doors with everything behind them, down to the simulated gateways.
@EventLoop
package final class StatusIMWorld {
    package struct Options {
        package var gorush = GorushDoorSettings()
        package var server = StatusIMServerSettings()
        package var stream = MessageDoorSettings()
        package var registrations = StatusIMRegistration.Limits()
        package var relay: (inout RelayWorld.Options) -> Void = { _ in }

        package init() {
            var apps = PushApps()
            apps.ios = [
                PushApps.Apple(name: "example-ios", topic: "com.example.fcmysbup"),
                PushApps.Apple(name: "status-ios", topic: "im.fqixvywn"),
            ]
            apps.android = "android"
            // Gorush's default.
            apps.isSandbox = true
            gorush.apps = apps
            server.apps = apps
            stream.rate = 1000
            stream.totalRate = 1000
        }
    }

    package let relay: RelayWorld
    package let server: StatusIMServer
    package let streamDoor: MessageDoor
    package let streamEndpoint: Endpoint
    private let http: HTTPServer
    private let endpoint: Endpoint
    package static let vectors = try! StatusIMVectors.read()

    package init(_ change: (inout Options) -> Void = { _ in }) async throws {
        var options = Options()
        change(&options)
        let adjust = options.relay
        relay = try await RelayWorld {
            $0.apps += [("example-ios", "com.example.fcmysbup"), ("status-ios", "im.fqixvywn")]
            $0.topics.append("com.example.fcmysbup.push-type.liveactivity")
            adjust(&$0)
        }
        let gorush = GorushDoor(settings: options.gorush, dispatcher: relay.dispatcher)
        let key = try #require(StatusIMWorld.vectors.keys["server"]?.private_hex)
        server = StatusIMServer(
            settings: options.server, key: try Secp256k1.PrivateKey(Secret(bytes(hex: key))),
            registrations: try await StoredStatusIMRegistrations(
                in: relay.store, limits: options.registrations),
            dispatcher: relay.dispatcher, digestKey: Secret([7]), log: relay.log)
        var settings = HTTPServerSettings()
        settings.limits.body = 1 << 20
        http = HTTPServer(settings: settings, doors: [gorush, StatusIMDoor(server)])
        endpoint = try http.open(on: .host("127.0.0.1", port: 0))
        streamDoor = MessageDoor(settings: options.stream) { [server] message, sender, answer in
            server.take(message, from: sender, answer: answer)
        } onRefusal: { [server] in
            server.figures.count("refused")
        }
        streamEndpoint = try streamDoor.open(on: .host("127.0.0.1", port: 0))
    }

    package func end() async {
        await http.close()
        await streamDoor.close()
        await relay.end()
    }

    /// How often the door of the server has counted this.
    package func events(_ word: String) -> Int {
        relay.dispatcher.doors.first { $0.name == "status" }?.figures.events[word] ?? 0
    }

    package func client() async throws -> HTTPClient { try await HTTPClient(endpoint) }

    package func post(
        _ path: String, _ body: some Sequence<UInt8>, host: String = "a", fields: String = ""
    ) async -> HTTPResponse? {
        let body = Array(body)
        let head = "POST \(path) HTTP/1.1\r\nHost: \(host)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"
        return await (try? client())?.ask(Array(head.utf8) + body)
    }

    package func push(
        _ body: Data, path: String = "/api/push", host: String = "a", fields: String = ""
    ) async -> HTTPResponse? {
        await post(path, body, host: host, fields: fields)
    }

    package func json(_ body: [UInt8]) throws -> AnyJSON {
        try JSONDecoder().decode(AnyJSON.self, from: Data(body))
    }

    /// Compares what the gateways got with what they should have got, in whatever order.
    package func expect(
        _ pushes: [AcceptedPush], _ vectors: [PushVector], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(pushes.count == vectors.count, sourceLocation: sourceLocation)
        let messages = try relay.google.book.map { try json($0.body) }
        for vector in vectors {
            if let message = vector.fcm_message {
                #expect(messages.contains(.object(["message": message])), sourceLocation: sourceLocation)
            }
            guard let apns = vector.apns else { continue }
            let book = apns.environment == "production" ? relay.apple.book : relay.sandbox.book
            let push = try #require(
                try book.first { try $0.headers[":path"] == apns.path && json($0.body) == apns.payload },
                "\(apns.payload) is not among what came", sourceLocation: sourceLocation)
            let headers = Dictionary(
                push.headers.all.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            for (name, value) in apns.headers {
                #expect(headers[name] == value, "\(name)", sourceLocation: sourceLocation)
            }
            for name in apns.headers_absent {
                #expect(headers[name] == nil, "\(name)", sourceLocation: sourceLocation)
            }
        }
    }
}

/// A client of the stream.
@EventLoop
package final class StatusIMClient: StreamHandler {
    private let stream: Reactor.Stream
    private var messages = MessageStream()
    package private(set) var answers: [[UInt8]] = []
    package private(set) var hasEnded = false
    private var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    package init(_ endpoint: Endpoint) async throws {
        stream = try await Reactor.Stream.connect(to: endpoint)
        stream.handler = self
    }

    package func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
        var position = 0
        while let message = try? messages.next(in: Span<UInt8>(_bytes: bytes), from: &position) {
            answers.append(message)
        }
        check()
    }

    package func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {
        hasEnded = true
        check()
    }

    package func send(frame: [UInt8]) { stream.write(frame) }

    package func send(_ message: [UInt8]) { stream.write(MessageStream.prefix(of: message) + message) }

    package func pauseReading() { stream.pauseReading() }
    package func resumeReading() { stream.resumeReading() }
    package func close() { stream.close() }

    /// The answers once there are so many, or fewer when the server has closed.
    @discardableResult
    package func wait(for count: Int) async -> [[UInt8]] {
        if answers.count < count, !hasEnded {
            await withCheckedContinuation { waiting = (count, $0) }
        }
        return answers
    }

    package func waitForEnd() async { await wait(for: .max) }

    private func check() {
        guard let waiting, answers.count >= waiting.count || hasEnded else { return }
        self.waiting = nil
        waiting.continuation.resume()
    }
}
