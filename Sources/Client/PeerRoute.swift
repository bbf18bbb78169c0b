import Crypto
import Encodings
import Reactor

/// How a peer reaches a node.
package enum PeerRoute: Equatable, Sendable {
    case direct(Endpoint)
    /// An onion address through tor's SOCKS port.
    case tor(socks: Endpoint, onion: String, port: UInt16)
}

/// Why a peer has no connection to the node.
package enum PeerDialError: Error, Equatable, CustomStringConvertible {
    case direct(ConnectError)
    case tor(SOCKS5Error, attempts: Int)

    package var description: String {
        switch self {
        case .direct(let error): error.description
        case .tor(.proxyUnreachable(let error), _):
            "no tor answers: \(error); start tor, or name its SOCKS port with --socks"
        case .tor(let error, attempts: 1): error.description
        case .tor(let error, let attempts): "\(error) (\(attempts) attempts, each over another circuit)"
        }
    }
}

extension PeerRoute {
    /// Connects to the node; over tor, if need be, several times until the deadline.
    ///
    /// A stream to an onion service that has just moved can hang for two minutes without tor trying another way, so
    /// an attempt gets `attemptTimeout` and the next one another SOCKS user name, which makes tor build a new circuit.
    ///
    /// - Returns: a stream with reading paused, and what came over it already.
    @EventLoop
    func dial(
        attemptTimeout: Duration, deadline: Duration
    ) async throws(PeerDialError) -> (stream: Stream, unread: [UInt8]) {
        switch self {
        case .direct(let endpoint):
            do {
                let stream = try await Stream.connect(to: endpoint, deadline: deadline)
                stream.pauseReading()
                return (stream, [])
            } catch {
                throw .direct(error)
            }
        case .tor(let socks, let onion, let port):
            let end = ContinuousClock.now + deadline
            let isolation = Hex.encode(randomBytes(8))
            var attempts = 0
            while true {
                attempts += 1
                let route = SOCKS5Route(
                    proxy: socks, host: onion, port: port,
                    credentials: SOCKS5Credentials(user: "onionbell-\(isolation)-\(attempts)", password: "x"))
                do {
                    let left = max(end - .now, .milliseconds(1))
                    return try await Stream.connect(through: route, deadline: min(attemptTimeout, left))
                } catch {
                    let pause = Duration.milliseconds(500)
                    guard error.isWorthRetrying, end - .now > pause else {
                        throw .tor(error, attempts: attempts)
                    }
                    await Self.wait(pause)
                }
            }
        }
    }

    @EventLoop
    private static func wait(_ duration: Duration) async {
        var timer: Timer?
        await withUnsafeContinuation { continuation in
            timer = Timer { continuation.resume() }
            timer?.start(after: duration)
        }
        timer?.stop()
    }
}
