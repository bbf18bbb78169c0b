import Clocks
import Encodings
import Reactor
import TLS

/// Opens a way to a host: its name looked up, TCP to one of its addresses, TLS over that. An address that fails at TCP
/// or at TLS is passed over for the next.
@EventLoop
package enum Dial {
    /// The addresses of an endpoint, asked for anew by each connection; takes no longer than the time given.
    typealias Lookup = @EventLoop (Endpoint, Duration) async throws(ConnectError) -> [SocketAddress]

    nonisolated static let systemLookup: Lookup = { (endpoint, deadline) async throws(ConnectError) in
        try await Stream.addresses(of: endpoint, deadline: deadline)
    }

    /// The stream has its reading paused, so that nothing is lost before it has its handler.
    package struct Way {
        package let stream: Stream
        /// The open TLS session; `nil` for plain HTTP.
        package let tls: TLSSession?
        /// The bytes that the host sent right behind its handshake.
        package let unread: [UInt8]
    }

    /// Opens a way to a host.
    ///
    /// - Parameters:
    ///   - context: The TLS context; `nil` for plain HTTP.
    ///   - deadline: The time for all of it. One address gets half of what is left, so that one that doesn't
    ///     answer leaves time for the next.
    /// - Throws: The error of the last address; but if an address was not who it must be, that: the operator
    ///   must look.
    static func open(
        to url: GatewayURL, by egress: Egress, _ context: TLSContext?, lookUp: Lookup, deadline: Duration
    ) async throws(ConnectionEnd) -> Way {
        let end = EventLoop.now + deadline
        if egress.isProxied {
            let stream: Stream
            let unread: [UInt8]
            do {
                (stream, unread) = try await egress.connect(to: url, deadline: deadline)
            } catch {
                throw error.isOfProxy ? .cutOff(.system("\(error)")) : .broken(.system("\(error)"))
            }
            return try await secure(stream, unread, to: url, context, until: end)
        }
        // Not even its name may leave the machine otherwise.
        guard !url.isOnion else { throw .broken(.system("only tor reaches an onion address")) }
        var addresses: [SocketAddress]
        do {
            addresses = try await lookUp(url.endpoint, deadline)
        } catch {
            throw .broken(.system("\(error)"))
        }
        var failure = ConnectionEnd.broken(.own(.setupTimeout))
        while !addresses.isEmpty {
            let left = end - EventLoop.now
            guard left > .zero else { break }
            let address = addresses.removeFirst()
            let attempt = addresses.isEmpty ? left : left / 2
            do {
                return try await open(to: address, of: url, context, deadline: attempt)
            } catch {
                if case .untrusted = failure { continue }
                failure = error
            }
        }
        throw failure
    }

    /// Why a browser would not reach a page.
    package enum WebFailure: Error, Equatable {
        /// The server is not who it must be.
        case untrusted(reason: String)
        case unreachable(reason: String)
    }

    /// Opens a way to a web server as a browser would: HTTPS by the authorities that the system trusts.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint that is called in place of the URL's own host; `nil`: the URL's.
    ///   - deadline: The time for all of it.
    package static func openWeb(
        to url: GatewayURL, by egress: Egress, at endpoint: Endpoint?, deadline: Duration
    ) async throws(WebFailure) -> Way {
        do throws(ConnectionEnd) {
            var context: TLSContext?
            if url.isSecure {
                do { context = try .shared(trusting: .systemRoots, protocols: ["http/1.1"]) } catch {
                    throw ConnectionEnd(error)
                }
            }
            return try await open(
                to: url, by: egress, context,
                lookUp: { (own, deadline) async throws(ConnectError) in
                    try await Stream.addresses(of: endpoint ?? own, deadline: deadline)
                }, deadline: deadline)
        } catch {
            if case .untrusted(let reason) = error { throw .untrusted(reason: reason) }
            throw .unreachable(reason: error.text)
        }
    }

    private static func open(
        to address: SocketAddress, of url: GatewayURL, _ context: TLSContext?, deadline: Duration
    ) async throws(ConnectionEnd) -> Way {
        let end = EventLoop.now + deadline
        let stream: Stream
        do {
            stream = try await Stream.connect(to: address, of: url.endpoint, deadline: deadline)
        } catch {
            throw .broken(.system("\(error)"))
        }
        return try await secure(stream, [], to: url, context, until: end)
    }

    private static func secure(
        _ stream: Stream, _ unread: [UInt8], to url: GatewayURL, _ context: TLSContext?,
        until end: MonotonicTime
    ) async throws(ConnectionEnd) -> Way {
        guard let context else {
            stream.pauseReading()
            return Way(stream: stream, tls: nil, unread: unread)
        }
        let handshake: Handshake
        do {
            handshake = Handshake(stream, try TLSSession(to: url.host, context))
        } catch {
            throw ConnectionEnd(error)
        }
        return try await handshake.result(within: end - EventLoop.now)
    }
}

/// Carries a client's TLS handshake over a stream, once.
@EventLoop
private final class Handshake: StreamHandler {
    private let stream: Stream
    private let tls: TLSSession
    private var unread: [UInt8] = []
    private var continuation: UnsafeContinuation<ConnectionEnd?, Never>?
    private var timer: Timer?

    init(_ stream: Stream, _ tls: TLSSession) {
        self.stream = stream
        self.tls = tls
    }

    func result(within deadline: Duration) async throws(ConnectionEnd) -> Dial.Way {
        timer = Timer { [unowned self] in finish(.broken(.own(.handshakeTimeout))) }
        timer?.start(after: max(deadline, .zero))
        let failure = await withUnsafeContinuation { continuation in
            self.continuation = continuation
            stream.handler = self
            stream.resumeReading()
            send()
        }
        if let failure {
            // Goes with the alert that tells the host why.
            stream.closeWhenFlushed()
            throw failure
        }
        return Dial.Way(stream: stream, tls: tls, unread: unread)
    }

    private func send() {
        if tls.hasOutput { stream.write { tls.takeOutput(into: &$0) } }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        tls.receive(bytes) { plain in plain.withUnsafeBytes { unread.append(contentsOf: $0) } }
        send()
        switch tls.state {
        case .handshaking: break
        case .open: finish(nil)
        case .closed: finish(.broken(.closedByGateway))
        case .failed(let error): finish(ConnectionEnd(error))
        }
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { finish(.broken(.system("\(end)"))) }

    private func finish(_ failure: ConnectionEnd?) {
        guard let continuation else { return }
        self.continuation = nil
        timer?.stop()
        stream.handler = nil
        stream.pauseReading()
        continuation.resume(returning: failure)
    }
}

extension ConnectionEnd {
    /// Alerts about certificates, versions and protocols need an operator; any other may pass by itself.
    init(_ error: TLSError) {
        switch error {
        case .untrusted, .unusable: self = .untrusted(reason: "\(error)")
        case .refusedByPeer(40...49, _), .refusedByPeer(70, _), .refusedByPeer(71, _), .refusedByPeer(112, _),
            .refusedByPeer(116, _), .refusedByPeer(120, _):
            self = .untrusted(reason: "\(error)")
        case .refusedByPeer, .broken: self = .broken(.system("\(error)"))
        }
    }
}
