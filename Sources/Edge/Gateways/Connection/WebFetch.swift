import Encodings
import HTTP1
import Reactor
import Relay
import TLS

/// One file of a web server, as a browser would get it: over HTTPS by the authorities that the system trusts, without
/// following redirects.
@EventLoop
package final class WebFetch: StreamHandler {
    package enum Failure: Error, Equatable {
        /// The server is not who it must be.
        case untrusted(reason: String)
        case unreachable(reason: String)
    }

    private let way: Dial.Way
    private var decoder = HTTPResponseDecoder(limits: HTTPLimits(body: 1 << 20))
    private var continuation: UnsafeContinuation<Result<HTTPResponse, Failure>, Never>?
    private var timer: Timer?

    private init(_ way: Dial.Way) { self.way = way }

    /// Fetches a URL.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that is called in place of the URL's own host; `nil`: the URL's.
    ///   - deadline: The time for the connection, and again for the answer.
    package static func get(
        _ url: GatewayURL, file: String = "", by egress: Egress, at endpoint: Endpoint? = nil,
        deadline: Duration = .seconds(30)
    ) async throws(Failure) -> HTTPResponse {
        let way: Dial.Way
        do throws(ConnectionEnd) {
            way = try await Dial.open(
                to: url, by: egress, try context(for: url),
                lookUp: { (own, deadline) async throws(ConnectError) in
                    try await Stream.addresses(of: endpoint ?? own, deadline: deadline)
                }, deadline: deadline)
        } catch {
            if case .untrusted(let reason) = error { throw .untrusted(reason: reason) }
            throw .unreachable(reason: error.text)
        }
        let request = HTTPRequest(method: "GET", path: url.path + file, isKeptAlive: false)
        return try await WebFetch(way).run(request.encoded(host: url.authority), deadline).get()
    }

    private static func context(for url: GatewayURL) throws(ConnectionEnd) -> TLSContext? {
        guard url.isSecure else { return nil }
        do {
            return try .shared(trusting: .systemRoots, protocols: ["http/1.1"])
        } catch {
            throw ConnectionEnd(error)
        }
    }

    private func run(_ request: [UInt8], _ deadline: Duration) async -> Result<HTTPResponse, Failure> {
        await withUnsafeContinuation { continuation in
            self.continuation = continuation
            timer = Timer { [unowned self] in
                finish(.failure(.unreachable(reason: OwnReason.answerTimeout.code)))
            }
            timer?.start(after: deadline)
            way.stream.handler = self
            if let tls = way.tls { tls.write(request) } else { way.stream.write(request) }
            flush()
            let unread = way.unread
            take(unread.span.bytes)
            way.stream.resumeReading()
        }
    }

    private func flush() {
        guard let tls = way.tls, tls.hasOutput else { return }
        way.stream.write { tls.takeOutput(into: &$0) }
    }

    package func stream(_ stream: Stream, received bytes: RawSpan) {
        guard let tls = way.tls else { return take(bytes) }
        tls.receive(bytes) { take($0) }
        switch tls.state {
        case .handshaking, .open: flush()
        case .closed: endOfStream()
        case .failed(let error): finish(.failure(.unreachable(reason: "\(error)")))
        }
    }

    package func stream(_ stream: Stream, ended end: StreamEnd) { endOfStream() }

    private func take(_ bytes: RawSpan) {
        decoder.append(bytes)
        do throws(HTTPFault) {
            if let answer = try decoder.next() { finish(.success(answer)) }
        } catch {
            finish(.failure(.unreachable(reason: "\(error)")))
        }
    }

    /// Finishes at the stream's end: an answer without a length lasts until here.
    private func endOfStream() {
        if let answer = try? decoder.end() { return finish(.success(answer)) }
        finish(.failure(.unreachable(reason: OwnReason.connectionLost.code)))
    }

    private func finish(_ result: Result<HTTPResponse, Failure>) {
        guard let continuation else { return }
        self.continuation = nil
        timer?.stop()
        way.stream.handler = nil
        way.tls?.close()
        way.stream.close()
        continuation.resume(returning: result)
    }
}
