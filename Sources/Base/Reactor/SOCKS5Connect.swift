/// A destination behind a SOCKS5 proxy.
package struct SOCKS5Route: Equatable, Sendable {
    package var proxy: Endpoint
    /// The name or address of the destination, which the proxy looks up, such as an onion address.
    package var host: String
    package var port: UInt16
    /// The user name and password, `nil` for none. tor uses separate circuits for each pair.
    package var credentials: SOCKS5Credentials?

    package init(proxy: Endpoint, host: String, port: UInt16, credentials: SOCKS5Credentials? = nil) {
        self.proxy = proxy
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

extension Stream {
    /// Connects through a proxy. The stream comes with reading paused, so that nothing is lost before it has its
    /// handler: set that, use `unread`, then call ``resumeReading()``.
    ///
    /// - Parameter deadline: The time for all of it: the proxy, the login, and the connection that the proxy makes.
    /// - Returns: `unread` is what the far side sent in the same moment as the proxy's answer.
    package static func connect(
        through route: SOCKS5Route, deadline: Duration
    ) async throws(SOCKS5Error) -> (stream: Stream, unread: [UInt8]) {
        let handshake = try SOCKS5Handshake(
            host: route.host, port: route.port, credentials: route.credentials)
        let end = ContinuousClock.now + deadline
        let stream: Stream
        do {
            stream = try await connect(to: route.proxy, deadline: deadline)
        } catch .timedOut {
            // It may be busy, as when its answer is late.
            throw .timedOut
        } catch {
            throw .proxyUnreachable(error)
        }
        let dialogue = SOCKS5Dialogue(stream, handshake)
        let result = await dialogue.result(deadline: max(end - .now, .zero))
        do {
            return (stream, try result.get())
        } catch {
            stream.close()
            throw error
        }
    }
}

/// Carries a handshake over a stream, once.
@EventLoop
private final class SOCKS5Dialogue: StreamHandler {
    private let stream: Stream
    private var handshake: SOCKS5Handshake
    private var continuation: UnsafeContinuation<Result<[UInt8], SOCKS5Error>, Never>?
    private var timer: Timer?

    init(_ stream: Stream, _ handshake: SOCKS5Handshake) {
        self.stream = stream
        self.handshake = handshake
    }

    func result(deadline: Duration) async -> Result<[UInt8], SOCKS5Error> {
        timer = Timer { [unowned self] in finish(.failure(.timedOut)) }
        timer?.start(after: deadline)
        return await withUnsafeContinuation { continuation in
            self.continuation = continuation
            stream.handler = self
            stream.write(handshake.greeting)
        }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        do throws(SOCKS5Error) {
            switch try handshake.receive(bytes.withUnsafeBytes { Array($0) }) {
            case .wait: break
            case .send(let bytes): stream.write(bytes)
            case .connected(let unread): finish(.success(unread))
            }
        } catch {
            finish(.failure(error))
        }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {
        finish(.failure(.proxyEnded(end)))
    }

    private func finish(_ result: Result<[UInt8], SOCKS5Error>) {
        guard let continuation else { return }
        self.continuation = nil
        timer?.stop()
        stream.handler = nil
        stream.pauseReading()
        continuation.resume(returning: result)
    }
}
