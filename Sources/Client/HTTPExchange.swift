import HTTP1
import Reactor
import TLS

/// Why a client has no answer.
package enum HTTPExchangeError: Error, Equatable, CustomStringConvertible {
    case dial(PeerDialError)
    case connectionEnded(StreamEnd)
    case noAnswer(after: Duration)
    /// The answer is no HTTP.
    case notHTTP(HTTPFault)
    case brokenTLS(TLSError)

    /// Whether the node may have done what it was asked for: the request was sent, and the answer did not come.
    package var mayBeTaken: Bool {
        switch self {
        case .connectionEnded, .noAnswer, .brokenTLS: true
        case .dial, .notHTTP: false
        }
    }

    package var description: String {
        switch self {
        case .dial(let error): error.description
        case .connectionEnded(let end): "the connection ended without an answer: \(end)"
        case .noAnswer(let duration): "no answer after \(duration)"
        case .notHTTP(let fault): "what answers there does not speak HTTP: \(fault)"
        case .brokenTLS(let error): error.description
        }
    }
}

/// One HTTP request over a connection of its own, as Bisq's clients send it.
@EventLoop
package final class HTTPExchange: StreamHandler {
    /// A hook for tests: called with every request of this process that dials.
    package static var onAsk: (@EventLoop (HTTPRequest) -> Void)?

    private let stream: Stream
    /// The open session over the stream; `nil`: plain HTTP.
    private let tls: TLSSession?
    private var decoder: HTTPResponseDecoder
    private var continuation: UnsafeContinuation<Result<HTTPResponse, HTTPExchangeError>, Never>?
    private var timer: Timer?

    private init(_ stream: Stream, _ tls: TLSSession?, longest: Int) {
        self.stream = stream
        self.tls = tls
        decoder = HTTPResponseDecoder(limits: HTTPLimits(body: longest))
    }

    /// Connects to the host, asks, and takes the answer.
    ///
    /// - Parameters:
    ///   - host: as the Host field has it.
    ///   - attemptTimeout: for one attempt to connect over tor; more follow until the deadline.
    ///   - deadline: for the connection, and again for the answer.
    ///   - longest: bytes of the answer's body.
    package static func answer(
        to request: HTTPRequest, host: String, by route: PeerRoute, attemptTimeout: Duration = .seconds(20),
        deadline: Duration = .seconds(120), longest: Int = HTTPLimits().body
    ) async throws(HTTPExchangeError) -> HTTPResponse {
        HTTPExchange.onAsk?(request)
        let connection: (stream: Stream, unread: [UInt8])
        do {
            connection = try await route.dial(attemptTimeout: attemptTimeout, deadline: deadline)
        } catch {
            throw .dial(error)
        }
        defer { connection.stream.close() }
        return try await answer(
            to: request, host: host, over: connection.stream, unread: connection.unread, deadline: deadline,
            longest: longest)
    }

    /// Asks over a connection that stands (reading paused, these bytes came already) and takes the answer.
    package static func answer(
        to request: HTTPRequest, host: String, over stream: Stream, tls: TLSSession? = nil, unread: [UInt8],
        deadline: Duration, longest: Int = HTTPLimits().body
    ) async throws(HTTPExchangeError) -> HTTPResponse {
        try await answerAndRest(
            to: request, host: host, over: stream, tls: tls, unread: unread, deadline: deadline,
            longest: longest
        ).0
    }

    /// Returns the answer and the bytes behind it, where it ends HTTP on the connection. Reading is paused then.
    static func answerAndRest(
        to request: HTTPRequest, host: String, over stream: Stream, tls: TLSSession? = nil, unread: [UInt8],
        deadline: Duration, longest: Int = HTTPLimits().body
    ) async throws(HTTPExchangeError) -> (HTTPResponse, rest: [UInt8]) {
        let exchange = HTTPExchange(stream, tls, longest: longest)
        let answer = try await exchange.run(request.encoded(host: host), unread: unread, deadline).get()
        return (answer, exchange.decoder.rest)
    }

    private func run(
        _ request: [UInt8], unread: [UInt8], _ deadline: Duration
    ) async -> Result<HTTPResponse, HTTPExchangeError> {
        await withUnsafeContinuation { continuation in
            self.continuation = continuation
            timer = Timer { [unowned self] in finish(.failure(.noAnswer(after: deadline))) }
            timer?.start(after: deadline)
            stream.handler = self
            if let tls { tls.write(request) } else { stream.write(request) }
            flush()
            receive(unread.span.bytes)
            stream.resumeReading()
        }
    }

    private func flush() {
        guard let tls, tls.hasOutput else { return }
        stream.write { tls.takeOutput(into: &$0) }
    }

    package func stream(_ stream: Stream, received bytes: RawSpan) {
        guard let tls else { return receive(bytes) }
        tls.receive(bytes) { receive($0) }
        switch tls.state {
        case .handshaking, .open: flush()
        case .closed: self.stream(stream, ended: .closedByPeer)
        case .failed(let error): finish(.failure(.brokenTLS(error)))
        }
    }

    private func receive(_ bytes: RawSpan) {
        decoder.append(bytes)
        do throws(HTTPFault) {
            if let answer = try decoder.next() { finish(.success(answer)) }
        } catch {
            finish(.failure(.notHTTP(error)))
        }
    }

    package func stream(_ stream: Stream, ended end: StreamEnd) {
        // An answer without a length lasts until here.
        if let answer = try? decoder.end() { return finish(.success(answer)) }
        finish(.failure(.connectionEnded(end)))
    }

    private func finish(_ result: Result<HTTPResponse, HTTPExchangeError>) {
        timer?.stop()
        stream.pauseReading()
        continuation?.resume(returning: result)
        continuation = nil
    }
}
