import Reactor
import Testing

/// Remembers what a stream hands over; `wait` ends as soon as the condition holds.
@EventLoop
final class Recorder: StreamHandler {
    private(set) var received: [UInt8] = []
    private(set) var end: StreamEnd?
    private(set) var flushes = 0
    var echoes = false
    private var waiting: [(condition: (Recorder) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []

    func stream(_ stream: Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { received.append(contentsOf: $0) }
        if echoes { stream.write(bytes) }
        check()
    }

    func streamFlushed(_ stream: Stream) {
        flushes += 1
        check()
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {
        #expect(self.end == nil, "told of the end twice")
        self.end = end
        check()
    }

    func wait(until condition: @escaping (Recorder) -> Bool) async {
        if condition(self) { return }
        await withCheckedContinuation { waiting.append((condition, $0)) }
    }

    private func check() {
        let ready = waiting.filter { $0.condition(self) }
        waiting.removeAll { $0.condition(self) }
        for waiter in ready { waiter.continuation.resume() }
    }
}

@EventLoop
@Suite struct StreamTests {
    @Test(arguments: ["127.0.0.1:0", "[::1]:0", "unix"])
    func bytesGoBothWays(endpoint text: String) async throws {
        let path = "/tmp/onionbell-test-\(UInt64.random(in: 0 ..< .max))"
        let server = Recorder()
        server.echoes = true
        var accepted: [Stream] = []
        let endpoint = try #require(text == "unix" ? .unix(path: path) : Endpoint(text))
        let listener = try Listener(on: endpoint) { stream in
            stream.handler = server
            accepted.append(stream)
        }
        let client = try await Stream.connect(to: listener.endpoint)
        let recorder = Recorder()
        client.handler = recorder
        client.write(Array("over".utf8))
        client.write(Array(" and out".utf8))
        await recorder.wait { $0.received.count == 12 }
        #expect(String(decoding: recorder.received, as: UTF8.self) == "over and out")
        client.closeWhenFlushed()
        await server.wait { $0.end != nil }
        #expect(server.end == .closedByPeer)
        listener.close()
    }

    /// A large buffer that is filled piece by piece holds one piece, and the order of the pieces stays.
    @Test func whatIsDrainedLeavesBeforeTheTurnEnds() async throws {
        let (left, right) = try Stream.pair()
        let receiver = Recorder()
        right.handler = receiver
        let pieces = (0..<40).map { [UInt8](repeating: UInt8($0), count: 1000) }
        for piece in pieces.dropLast() {
            left.write(piece)
            left.drain()
            #expect(left.unsentBytes == 0)
        }
        left.write(pieces[39])
        #expect(left.unsentBytes == 1000)
        await receiver.wait { $0.received.count == 40_000 }
        #expect(receiver.received == Array(pieces.joined()))
    }

    /// What the kernel does not take waits for the turn's end, in its order.
    @Test func aFullConnectionDrainsNoFurther() async throws {
        let (left, right) = try Stream.pair()
        let receiver = Recorder()
        right.handler = receiver
        right.pauseReading()
        let bytes = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for piece in 0..<4 {
            left.write(Array(bytes[(piece * 1_000_000)...].prefix(1_000_000)))
            left.drain()
        }
        #expect(left.unsentBytes > 1_000_000)
        right.resumeReading()
        await receiver.wait { $0.received.count == bytes.count }
        #expect(receiver.received == bytes)
    }

    @Test func aPeerThatDoesNotReadHoldsTheSenderBackAndLosesNothing() async throws {
        let (left, right) = try Stream.pair()
        let sender = Recorder()
        let receiver = Recorder()
        left.handler = sender
        right.handler = receiver
        right.pauseReading()
        let bytes = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        left.write(bytes)
        for _ in 0..<3 { await EventLoop.nextTurn() }
        #expect(left.unsentBytes > 1_000_000)
        #expect(receiver.received.isEmpty)
        right.resumeReading()
        await receiver.wait { $0.received.count == bytes.count }
        #expect(receiver.received == bytes)
        await sender.wait { $0.flushes > 0 }
        #expect(left.unsentBytes == 0)
    }

    @Test func aPauseIsNoSilence() async throws {
        let (left, right) = try Stream.pair()
        let recorder = Recorder()
        right.handler = recorder
        right.idleTimeout = .milliseconds(20)
        right.pauseReading()
        left.write([1, 2])
        await EventLoop.pass(.milliseconds(60))
        #expect(recorder.received.isEmpty && recorder.end == nil)
        right.resumeReading()
        await recorder.wait { $0.end != nil }
        #expect(recorder.received == [1, 2])
        #expect(recorder.end == .idle)
    }

    @Test func lastWordsArriveEvenIfThePeerIsStillSending() async throws {
        var servers: [Stream] = []
        let silent = Recorder()
        let listener = try Listener(on: .host("127.0.0.1", port: 0)) { stream in
            stream.handler = silent
            servers.append(stream)
        }
        let client = try await Stream.connect(to: listener.endpoint)
        let recorder = Recorder()
        client.handler = recorder
        client.write([UInt8](repeating: 1, count: 300_000))
        await silent.wait { !$0.received.isEmpty }
        servers[0].write(Array("goodbye".utf8))
        servers[0].closeWhenFlushed()
        await recorder.wait { $0.end != nil }
        #expect(recorder.end == .closedByPeer)
        #expect(String(decoding: recorder.received, as: UTF8.self) == "goodbye")
    }

    @Test func silenceEndsAStreamThatHasAnIdleTimeout() async throws {
        let (left, right) = try Stream.pair()
        let recorder = Recorder()
        left.handler = recorder
        left.idleTimeout = .milliseconds(30)
        await recorder.wait { $0.end != nil }
        #expect(recorder.end == .idle)
        #expect(!left.isOpen)
        right.close()
    }

    @Test func aPeerThatTakesNothingIsGivenUp() async throws {
        let (left, right) = try Stream.pair()
        let recorder = Recorder()
        left.handler = recorder
        left.sendTimeout = .milliseconds(50)
        right.pauseReading()
        left.write([UInt8](repeating: 0, count: 10_000_000))
        await recorder.wait { $0.end != nil }
        #expect(recorder.end == .peerReadsNothing)
    }

    @Test func closingInsideACallbackIsSafe() async throws {
        final class Closer: StreamHandler {
            var calls = 0
            func stream(_ stream: Stream, received bytes: RawSpan) {
                calls += 1
                stream.write(bytes)
                stream.close()
            }
            func stream(_ stream: Stream, ended end: StreamEnd) { calls += 1000 }
        }
        for _ in 0..<100 {
            let (left, right) = try Stream.pair()
            let closer = Closer()
            right.handler = closer
            let recorder = Recorder()
            left.handler = recorder
            left.write([1])
            await recorder.wait { $0.end != nil }
            #expect(closer.calls == 1)
        }
    }

    @Test func aRefusedConnectionSaysWhere() async {
        await #expect(
            throws: ConnectError.failed(SystemError("connect to unix:/nonexistent/socket", code: 2))
        ) {
            _ = try await Stream.connect(to: .unix(path: "/nonexistent/socket"))
        }
    }

    @Test func anUnknownHostIsNamed() async throws {
        do {
            _ = try await Stream.connect(to: .host("no-such-host.invalid", port: 1), deadline: .seconds(20))
            Issue.record("connected to a host that can't exist")
        } catch {
            #expect(error.description.contains("no-such-host.invalid"))
        }
    }

    @Test func aPortThatIsTakenIsAnErrorWithItsName() throws {
        let first = try Listener(on: .host("127.0.0.1", port: 0)) { _ in }
        #expect(throws: SystemError.self) { try Listener(on: first.endpoint) { _ in } }
        first.close()
    }
}

@Suite struct EndpointTests {
    @Test(arguments: [
        ("127.0.0.1:9051", Endpoint.host("127.0.0.1", port: 9051)), ("[::1]:1", .host("::1", port: 1)),
        ("localhost:65535", .host("localhost", port: 65535)),
        ("unix:/run/tor/control", .unix(path: "/run/tor/control")),
    ])
    func textAndEndpointAgree(text: String, endpoint: Endpoint) {
        #expect(Endpoint(text) == endpoint)
        #expect(endpoint.description == text)
    }

    @Test(arguments: [
        "", "9051", ":9051", "host:", "host:65536", "host:-1", "::1:80", "unix:relative", "host:x",
    ])
    func whatIsNoEndpointIsRefused(text: String) {
        #expect(Endpoint(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.255.0.9:1", true), ("[::1]:1", true), ("localhost:1", true),
        ("unix:/x", true),
        ("127.example.com:1", false), ("127.0.0.1.example.com:1", false), ("127.0.0.256:1", false),
        ("0.0.0.0:1", false), ("[::]:1", false), ("10.0.0.1:1", false),
    ])
    func loopbackIsThisMachineOnly(text: String, isLoopback: Bool) {
        #expect(Endpoint(text)?.isLoopback == isLoopback)
    }
}
