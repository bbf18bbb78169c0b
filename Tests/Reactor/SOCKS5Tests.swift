import Reactor
import Testing

@Suite struct SOCKS5HandshakeTests {
    private let login = SOCKS5Credentials(user: "u", password: "pw")

    /// What is sent for a proxy's bytes, given in pieces; the bytes that came behind the answer at the end.
    private func conversation(
        _ handshake: SOCKS5Handshake, _ pieces: [[UInt8]]
    ) throws(SOCKS5Error) -> (sent: [[UInt8]], unread: [UInt8]?) {
        var handshake = handshake
        var sent = [handshake.greeting]
        for piece in pieces {
            switch try handshake.receive(piece) {
            case .wait: break
            case .send(let bytes): sent.append(bytes)
            case .connected(let unread): return (sent, unread)
            }
        }
        return (sent, nil)
    }

    @Test(arguments: [
        [5, 0, 0, 1, 0, 0, 0, 0, 0, 0], [5, 0, 0, 3, 2, 65, 66, 1, 2],
        [5, 0, 0, 4] + [UInt8](repeating: 7, count: 18),
    ])
    func anyFormOfAddressInTheAnswerIsSteppedOver(reply: [UInt8]) throws {
        let handshake = try SOCKS5Handshake(host: "abc.onion", port: 9_999)
        let request: [UInt8] = [5, 1, 0, 3, 9] + Array("abc.onion".utf8) + [0x27, 0x0f]
        let whole = try conversation(handshake, [[5, 0], reply + [1, 2, 3]])
        #expect(whole.sent == [[5, 1, 0], request])
        #expect(whole.unread == [1, 2, 3])
        let single = try conversation(handshake, ([5, 0] + reply).map { [$0] })
        #expect(single.sent == [[5, 1, 0], request])
        #expect(single.unread == [])
    }

    @Test func aLoginIsSentAndCanNotBeSkipped() throws {
        let handshake = try SOCKS5Handshake(host: "h", port: 1, credentials: login)
        let talk = try conversation(handshake, [[5, 2], [1], [0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]])
        #expect(talk.sent == [[5, 1, 2], [1, 1, 117, 2, 112, 119], [5, 1, 0, 3, 1, 104, 0, 1]])
        #expect(talk.unread == [])
        #expect(throws: SOCKS5Error.methodRefused) { try conversation(handshake, [[5, 0]]) }
        #expect(throws: SOCKS5Error.credentialsRefused) { try conversation(handshake, [[5, 2], [1, 1]]) }
    }

    @Test func whatIsNoProxyIsNamed() throws {
        let handshake = try SOCKS5Handshake(host: "h", port: 1)
        #expect(throws: SOCKS5Error.notSOCKS5) { try conversation(handshake, [Array("HTTP/1.1 400".utf8)]) }
        #expect(throws: SOCKS5Error.notSOCKS5) { try conversation(handshake, [[5, 0], [4]]) }
        #expect(throws: SOCKS5Error.notSOCKS5) { try conversation(handshake, [[5, 0], [5, 0, 0, 9, 1]]) }
        #expect(throws: SOCKS5Error.methodRefused) { try conversation(handshake, [[5, 0xff]]) }
    }

    @Test(
        arguments: [
            (1, .generalFailure, true), (4, .hostUnreachable, true), (5, .connectionRefused, true),
            (6, .timedOut, true), (0xf0, .descriptorNotFound, true), (0xf2, .introductionFailed, true),
            (0xf4, .clientAuthorizationMissing, false), (0xf6, .onionAddressInvalid, false),
            (0x77, .unknown(0x77), true),
        ] as [(UInt8, SOCKS5Refusal, Bool)])
    func aRefusalIsTypedAndSaysWhetherToTryAgain(code: UInt8, refusal: SOCKS5Refusal, retry: Bool) throws {
        let handshake = try SOCKS5Handshake(host: "h", port: 1)
        #expect(throws: SOCKS5Error.refused(refusal)) { try conversation(handshake, [[5, 0], [5, code]]) }
        #expect(refusal.isWorthRetrying == retry)
        #expect(SOCKS5Error.refused(refusal).isWorthRetrying == retry)
    }

    @Test func namesOf255BytesFitAndLongerOnesDoNot() throws {
        let longest = String(repeating: "x", count: 255)
        _ = try SOCKS5Handshake(
            host: longest, port: 1, credentials: SOCKS5Credentials(user: longest, password: longest))
        #expect(throws: SOCKS5Error.lengthOutOfRange(of: "a host name", bytes: 256)) {
            try SOCKS5Handshake(host: longest + "x", port: 1)
        }
        #expect(throws: SOCKS5Error.lengthOutOfRange(of: "a password", bytes: 0)) {
            try SOCKS5Handshake(host: "h", port: 1, credentials: SOCKS5Credentials(user: "u", password: ""))
        }
    }
}

/// Answers each read with the next of its replies, and echoes once they are used up.
@EventLoop
private final class ScriptedProxy: StreamHandler {
    private(set) var endpoint: Endpoint!
    private(set) var received: [[UInt8]] = []
    private var replies: [[UInt8]]
    private var listener: Listener!
    private var streams: [Stream] = []

    init(replies: [[UInt8]]) throws {
        self.replies = replies
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            stream.handler = self
            streams.append(stream)
        }
        endpoint = listener.endpoint
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        bytes.withUnsafeBytes { received.append(Array($0)) }
        guard !replies.isEmpty else { return stream.write(bytes) }
        let reply = replies.removeFirst()
        if reply.isEmpty { stream.close() } else { stream.write(reply) }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {}
}

@EventLoop
@Suite struct SOCKS5ConnectTests {
    private let success: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

    private func route(_ proxy: ScriptedProxy) -> SOCKS5Route {
        SOCKS5Route(
            proxy: proxy.endpoint, host: "abc.onion", port: 80,
            credentials: SOCKS5Credentials(user: "u", password: "p"))
    }

    @Test func bytesFlowBehindTheHandshakeAndNoneIsLost() async throws {
        let proxy = try ScriptedProxy(replies: [[5, 2], [1, 0], success + Array("hello".utf8)])
        let connection = try await Stream.connect(through: route(proxy), deadline: .seconds(10))
        #expect(connection.unread == Array("hello".utf8))
        let recorder = Recorder()
        connection.stream.handler = recorder
        connection.stream.resumeReading()
        connection.stream.write(Array("there".utf8))
        await recorder.wait { $0.received == Array("there".utf8) }
        connection.stream.close()
    }

    @Test func aRefusalIsThrown() async throws {
        let proxy = try ScriptedProxy(replies: [[5, 2], [1, 0], [5, 0xf2, 0, 1, 0, 0, 0, 0, 0, 0]])
        await #expect(throws: SOCKS5Error.refused(.introductionFailed)) {
            try await Stream.connect(through: route(proxy), deadline: .seconds(10))
        }
    }

    @Test func aProxyThatHangsUpIsTold() async throws {
        let proxy = try ScriptedProxy(replies: [[5, 2], []])
        await #expect(throws: SOCKS5Error.proxyEnded(.closedByPeer)) {
            try await Stream.connect(through: route(proxy), deadline: .seconds(10))
        }
    }

    @Test func aSilentProxyIsLeftAtTheDeadline() async throws {
        let listener = try Listener(on: .host("127.0.0.1", port: 0)) { _ in }
        defer { listener.close() }
        let silent = SOCKS5Route(proxy: listener.endpoint, host: "h", port: 1)
        var kept: [Stream] = []
        let keeping = try Listener(on: .host("127.0.0.1", port: 0)) { kept.append($0) }
        defer { keeping.close() }
        await #expect(throws: SOCKS5Error.timedOut) {
            try await Stream.connect(
                through: SOCKS5Route(proxy: keeping.endpoint, host: "h", port: 1),
                deadline: .milliseconds(100))
        }
        await #expect(throws: SOCKS5Error.self) {
            try await Stream.connect(through: silent, deadline: .milliseconds(100))
        }
    }

    @Test func noProxyAtAllIsTold() async throws {
        let listener = try Listener(on: .host("127.0.0.1", port: 0)) { _ in }
        let endpoint = listener.endpoint
        listener.close()
        let error = await #expect(throws: SOCKS5Error.self) {
            try await Stream.connect(
                through: SOCKS5Route(proxy: endpoint, host: "h", port: 1), deadline: .seconds(10))
        }
        guard case .proxyUnreachable(.failed) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
