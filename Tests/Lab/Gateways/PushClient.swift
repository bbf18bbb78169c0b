import Crypto
import Encodings
import HTTP2
import Lab
import Reactor
import TLS

/// What became of a request.
enum PushOutcome: Equatable, Sendable {
    case answered(Int, String)
    case failed(HTTP2RequestFailure)
}

/// A client of a simulated gateway: a stream, a TLS session and an HTTP/2 session.
@EventLoop
final class PushClient: StreamHandler {
    let http2: HTTP2ClientSession
    private(set) var connectionEvents: [HTTP2ConnectionEvent] = []
    private(set) var answers: [Int: HTTP2Response] = [:]
    private(set) var isClosed = false
    /// Called when all events of a read have been handled, if an answer was among them.
    var onAnswer: (() -> Void)?
    private let stream: Stream
    private let tls: TLSSession
    private let authority: String
    private var waiting: [Int: (PushOutcome) -> Void] = [:]
    private var opening: CheckedContinuation<Void, Never>?
    private var closing: [CheckedContinuation<Void, Never>] = []
    private var lastTag = 0
    private var buffer: [UInt8] = []

    private init(_ stream: Stream, _ tls: TLSSession, authority: String, presumedStreams: Int) {
        self.stream = stream
        self.tls = tls
        self.authority = authority
        http2 = HTTP2ClientSession(presumedStreams: presumedStreams)
        stream.handler = self
    }

    static func connect(
        to simulator: GatewaySimulator, _ context: TLSContext, presumedStreams: Int = 1
    ) async throws -> PushClient {
        guard case .host(let host, _) = simulator.endpoint else { fatalError("a simulator listens on TCP") }
        let client = PushClient(
            try await Stream.connect(to: simulator.endpoint), try TLSSession(to: host, context),
            authority: "\(simulator.endpoint)", presumedStreams: presumedStreams)
        await withCheckedContinuation { continuation in
            client.opening = continuation
            client.flush()
        }
        return client
    }

    var tlsState: TLSSession.State { tls.state }

    func send(_ head: HTTP2Headers, _ body: [UInt8]) async -> PushOutcome {
        await withCheckedContinuation { continuation in
            submit(head, body) { continuation.resume(returning: $0) }
            flush()
        }
    }

    /// Sends all at once; their outcomes in the order in which they came.
    func sendAll(_ heads: [HTTP2Headers], _ body: [UInt8]) async -> [(request: Int, outcome: PushOutcome)] {
        var outcomes: [(request: Int, outcome: PushOutcome)] = []
        await withCheckedContinuation { continuation in
            for (number, head) in heads.enumerated() {
                submit(head, body) { outcome in
                    outcomes.append((number, outcome))
                    if outcomes.count == heads.count { continuation.resume() }
                }
            }
            flush()
        }
        return outcomes
    }

    private func submit(_ head: HTTP2Headers, _ body: [UInt8], _ completion: @escaping (PushOutcome) -> Void)
    {
        lastTag += 1
        waiting[lastTag] = completion
        http2.submit(head, body: body, tag: lastTag)
    }

    func head(path: String, _ fields: [String: String]) -> HTTP2Headers {
        var head = HTTP2Headers(method: "POST", authority: authority, path: path)
        for (name, value) in fields { head.add(name: name, value) }
        return head
    }

    var lastAnswer: HTTP2Response? { answers[lastTag] }

    func ended() async {
        guard !isClosed else { return }
        await withCheckedContinuation { closing.append($0) }
    }

    func close() {
        stream.close()
        end()
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        let before = answers.count
        tls.receive(bytes) { http2.receive($0) }
        flush()
        if answers.count > before { onAnswer?() }
        // The limit of streams is known when the first SETTINGS have come.
        if !connectionEvents.isEmpty { open() }
        switch tls.state {
        case .closed, .failed:
            stream.closeWhenFlushed()
            end()
        case .handshaking, .open: break
        }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { self.end() }

    private func open() {
        opening?.resume()
        opening = nil
    }

    private func end() {
        guard !isClosed else { return }
        isClosed = true
        http2.connectionLost()
        takeEvents()
        open()
        for continuation in closing { continuation.resume() }
        closing = []
    }

    private func flush() {
        if tls.state == .open {
            takeEvents()
            var hasMore = true
            while hasMore {
                buffer.removeAll(keepingCapacity: true)
                hasMore = http2.takeOutput(into: &buffer)
                tls.write(buffer)
            }
        }
        takeEvents()
        stream.write { tls.takeOutput(into: &$0) }
    }

    private func takeEvents() {
        for event in http2.takeEvents() {
            switch event {
            case .answered(let tag, let answer):
                answers[tag] = answer
                let body = String(decoding: answer.body, as: UTF8.self)
                waiting.removeValue(forKey: tag)?(.answered(answer.status, body))
            case .failed(let tag, let failure):
                waiting.removeValue(forKey: tag)?(.failed(failure))
            case .connection(let event): connectionEvents.append(event)
            }
        }
    }
}

/// A signed token with these claims.
func webToken(_ key: SigningKey, kid: String, claims: String) throws -> String {
    let header = #"{"alg":"\#(key.algorithm.rawValue)","kid":"\#(kid)"}"#
    let text = Base64.encodeForURL(Array(header.utf8)) + "." + Base64.encodeForURL(Array(claims.utf8))
    return text + "." + Base64.encodeForURL(try key.sign(Array(text.utf8)))
}

extension LabCredentials {
    /// Made once.
    private static let shared = try! LabCredentials()

    /// Made off the loop: an RSA key takes its time, and other tests their deadlines.
    @concurrent static func prepared() async -> LabCredentials { shared }
    @concurrent static func stranger() async throws -> LabCredentials { try LabCredentials() }

    static let topic = "org.example.app"
    static let deviceToken = String(repeating: "0a", count: 32)
    /// Used by all: no two signatures are the same, and a connection takes one token in 20 minutes.
    static let goodToken = try! shared.providerToken()

    func providerToken(age: Int64 = 0, kid: String? = nil, team: String? = nil) throws -> String {
        let issuedAt = EventLoop.unixMilliseconds / 1000 - age
        return try webToken(
            providerKey, kid: kid ?? keyID, claims: #"{"iss":"\#(team ?? teamID)","iat":\#(issuedAt)}"#)
    }

    /// The fields of a good alert, with some of them changed.
    func pushFields(_ changes: [String: String?] = [:]) throws -> [String: String] {
        var fields = [
            "authorization": "bearer \(Self.goodToken)", "apns-topic": Self.topic,
            "apns-push-type": "alert",
            "apns-priority": "10", "apns-id": "123e4567-e89b-12d3-a456-42661417400f",
        ]
        for (name, value) in changes { fields[name] = value }
        return fields
    }

    func assertion(audience: String, changes: [String: String] = [:]) throws -> String {
        let now = EventLoop.unixMilliseconds / 1000
        var claims = [
            "iss": "\"\(accountEmail)\"", "scope": "\"https://www.googleapis.com/auth/firebase.messaging\"",
            "aud": "\"\(audience)\"", "iat": "\(now)", "exp": "\(now + 3600)",
        ]
        for (name, value) in changes { claims[name] = value }
        let text = claims.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        return try webToken(accountKey, kid: accountKeyID, claims: "{\(text)}")
    }
}
