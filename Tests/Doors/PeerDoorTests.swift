import Crypto
import Dispatching
import Doors
import Foundation
import Logging
import Persistence
import Reactor
import Relay
import Testing
import Vectors
import Wire

typealias Stream = Reactor.Stream

/// A peer of the test's: raw bytes out, whatever comes back gathered.
@EventLoop
final class RawPeer: StreamHandler {
    let stream: Stream
    private(set) var received: [UInt8] = []
    private(set) var hasEnded = false
    private var waiting: [(condition: (RawPeer) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ endpoint: Endpoint) async throws {
        stream = try await Stream.connect(to: endpoint)
        stream.handler = self
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { received.append(contentsOf: $0) }
        check()
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {
        hasEnded = true
        check()
    }

    func wait(until condition: @escaping (RawPeer) -> Bool) async {
        if condition(self) { return }
        await withCheckedContinuation { waiting.append((condition, $0)) }
    }

    private func check() {
        waiting.filter { $0.condition(self) }.forEach { $0.continuation.resume() }
        waiting.removeAll { $0.condition(self) }
    }

    /// The responses among the frames received so far.
    var responses: [MobileNotificationResponse] {
        var decoder = FrameDecoder(maximumLength: 65536)
        var position = 0
        var found: [MobileNotificationResponse] = []
        while let frame = try? decoder.nextFrame(in: received.span, from: &position) {
            guard case .within(let range) = frame,
                let envelope = try? Envelope(parsing: received.span, in: range),
                case .notificationResponse(let response) = envelope.message
            else { continue }
            found.append(response)
        }
        return found
    }
}

@EventLoop
@Suite struct PeerDoorTests {
    private struct Frame: Decodable {
        var name: String
        var hex: String
        var bisq1: String
        var node: String?
        var reply_hex: String?
    }

    private func door(
        _ change: (inout PeerDoorSettings) -> Void = { _ in }
    ) async throws -> (door: PeerDoor, endpoint: Endpoint, dispatcher: Dispatcher) {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-door-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let app = App(name: "android", service: SampleService.android, isEnabled: true)
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(apps: [app], defaultIOS: "", defaultAndroid: "android"),
                limits: Admission.Limits()), outbox: try await OutboxStore(path: path + "/outbox.sqlite"),
            digester: SubmissionDigester(key: Secret([1])), log: log)
        try await dispatcher.start()
        var settings = PeerDoorSettings()
        change(&settings)
        let door = PeerDoor(settings: settings, dispatcher: dispatcher)
        return (door, try door.open(on: .host("127.0.0.1", port: 0)), dispatcher)
    }

    private func request(_ uid: String, token: String = "t") -> [UInt8] {
        var request = MobileNotificationRequest()
        request.uid = uid
        request.platform = .android
        request.deviceToken = String(repeating: token, count: 40)
        request.message = String(repeating: "QUJD", count: 12)
        return Envelope(messageVersion: 10, message: .notificationRequest(request)).frame
    }

    /// All but two kinds: the node announces capability 9 only where a Bisq client announces all of its own, and it
    /// refuses a length prefix of more than 5 bytes. What the session does there is tested with the wire.
    @Test func framesOfTheVectorsGetTheirRepliesThroughTheSocket() async throws {
        let (door, endpoint, _) = try await door()
        for vector in try Vectors.bisq("frames", as: [Frame].self) {
            guard let reply = vector.reply_hex, !vector.name.hasPrefix("get peers request"),
                vector.name != "length prefix padded to 10 bytes"
            else { continue }
            let peer = try await RawPeer(endpoint)
            let expected = bytes(hex: reply)
            peer.stream.write(bytes(hex: vector.hex))
            await peer.wait { $0.received.count >= expected.count || $0.hasEnded }
            #expect(peer.received == expected, "\(vector.name)")
            peer.stream.close()
        }
        await door.close()
    }

    @Test func aRequestIsAnsweredStoredAndAWrongOneRefusedByItsReason() async throws {
        let (door, endpoint, dispatcher) = try await door()
        let peer = try await RawPeer(endpoint)
        peer.stream.write(request("one") + request("two", token: "!"))
        await peer.wait { $0.responses.count == 2 }
        #expect(
            peer.responses.sorted { $0.requestUid < $1.requestUid } == [
                MobileNotificationResponse(requestUid: "one", status: .stored),
                MobileNotificationResponse(requestUid: "two", status: .refused, reason: "BadDeviceToken"),
            ])
        #expect(dispatcher.waiting == 1)
        await door.close()
    }

    @Test func closingGivesReceiptsFirstAndThenSaysSo() async throws {
        let (door, endpoint, _) = try await door()
        let peer = try await RawPeer(endpoint)
        peer.stream.write(request("one"))
        await peer.wait { !$0.responses.isEmpty }
        await door.close()
        await peer.wait { $0.hasEnded }
        #expect(String(decoding: peer.received, as: UTF8.self).contains("APP_SHUT_DOWN"))
    }

    @Test func anUnfinishedFrameHasADeadlineThatMoreBytesDoNotMove() async throws {
        let (door, endpoint, _) = try await door { $0.frameDeadline = .milliseconds(200) }
        let peer = try await RawPeer(endpoint)
        let frame = request("slow")
        for byte in frame where !peer.hasEnded {
            peer.stream.write([byte])
            await EventLoop.pass(.milliseconds(10))
        }
        await peer.wait { $0.hasEnded }
        #expect(peer.responses.isEmpty)
        #expect(door.counters.closed[.frameTimeout] == 1)
        await door.close()
    }

    @Test func silenceCloses() async throws {
        let (door, endpoint, _) = try await door { $0.idleTimeout = .milliseconds(50) }
        let peer = try await RawPeer(endpoint)
        await peer.wait { $0.hasEnded }
        #expect(peer.received.isEmpty)
        #expect(door.counters.closed[.idle] == 1)
        await door.close()
    }

    /// The one that was silent for longest.
    @Test func forOnePeerTooManyAnotherOneGoesAndIsTold() async throws {
        let (door, endpoint, _) = try await door { $0.connections = 2 }
        let first = try await RawPeer(endpoint)
        let second = try await RawPeer(endpoint)
        first.stream.write(request("a"))
        second.stream.write(request("b", token: "u"))
        await first.wait { !$0.responses.isEmpty }
        await second.wait { !$0.responses.isEmpty }
        first.stream.write(request("c", token: "v"))
        await first.wait { $0.responses.count == 2 }
        let third = try await RawPeer(endpoint)
        await second.wait { $0.hasEnded }
        #expect(String(decoding: second.received, as: UTF8.self).contains("TOO_MANY_CONNECTIONS_OPEN"))
        third.stream.write(request("d", token: "w"))
        await third.wait { !$0.responses.isEmpty || $0.hasEnded }
        #expect(!third.responses.isEmpty && !first.hasEnded)
        #expect(door.evictedConnections == 1)
        await door.close()
    }

    @Test func aPeerThatNeverReadsIsHeldBackAndHoldsUpNobody() async throws {
        let (door, endpoint, _) = try await door {
            $0.limits.framesPerSecond = 60_000
            $0.limits.framesPerTenSeconds = 60_000
            $0.unsentBytes = 4096
        }
        let greedy = try await RawPeer(endpoint)
        greedy.stream.pauseReading()
        let ping: [UInt8] = bytes(hex: "0d080a3a0908d285d8cc0410bd02")
        for _ in 0..<50 { greedy.stream.write(Array(repeatElement(ping, count: 1000).joined())) }
        let other = try await RawPeer(endpoint)
        other.stream.write(request("other"))
        await other.wait { !$0.responses.isEmpty }
        #expect(!greedy.hasEnded)
        greedy.stream.close()
        await door.close()
    }
}
