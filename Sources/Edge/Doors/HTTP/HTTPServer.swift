import HTTP1
import Reactor
import TLS

/// The limits and times of an HTTP server, and whom it believes about addresses.
package struct HTTPServerSettings: Sendable {
    package var limits = HTTPLimits()
    /// Connections at a time; for one more another one goes.
    package var connections = 5000
    /// The most connections of one address at endpoints for the world; 0: no limit.
    package var connectionsPerAddress = 100
    /// The field, in lower case, in which ``trustedProxies``, and clients that come by a Unix socket, say whose a
    /// request is; empty: none.
    package var clientAddressHeader = ""
    package var trustedProxies: [NetworkAddress.Range] = []
    /// The statuses of answers that count against a stranger's circuit. A circuit that got too many of them is not
    /// served any more.
    package var refusals: Set<Int> = []
    /// Connections taken before the rest of the loop has its turn.
    package var acceptsPerTurn = 64
    /// The longest time from a request's first byte to its last.
    package var requestDeadline: Duration = .seconds(10)
    /// The longest time between requests.
    package var idleTimeout: Duration = .seconds(60)
    /// The longest time for which a client may take nothing of its answers; `nil`: as long as between
    /// requests.
    package var sendTimeout: Duration?

    package init() {}
}

/// A small HTTP/1.1 server on the event loop: one request of a connection at a time, everything bounded.
///
/// Own code rather than libevent's `evhttp`, because the doors promise what that can't do: a deadline for head and
/// body, strict framing (no request smuggling past a proxy), a status for each limit, and memory only while a request
/// is incomplete.
@EventLoop
package final class HTTPServer {
    package struct Counters: Equatable, Sendable {
        package var connections = 0
        /// Connections closed before the TLS handshake, as one address began too many.
        package var refusedHandshakes = 0
        /// Times that connections had to wait in the kernel's backlog, as all together began too many.
        package var delayedHandshakes = 0
        package var requests = 0
        package var answers: [Int: Int] = [:]
    }

    /// Answers a request by calling `respond` once, now or later.
    package typealias Handler =
        @EventLoop (_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) -> Void

    /// Takes over a request that is answered piece by piece, or with one answer all the same.
    package typealias Opening = @EventLoop (LiveAnswer) -> Void

    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) package internal(set) var counters = Counters()
    let settings: HTTPServerSettings
    /// The limits of each connection.
    let limits: DoorConnection.Limits
    package let circuits: Circuits
    /// The share of strangers, for which their requests wait; `nil`: all are served as they come.
    let strangers: StrangersShare?
    let countsRefusals: Bool
    let handler: Handler
    /// Gives an answer that no door has made the form of the doors that are served here.
    let refusal: @EventLoop (HTTPResponse) -> HTTPResponse
    /// Asked by a request's head for another limit of its body than that of ``HTTPServerSettings/limits``; `nil`: there is none.
    package var bodyLimit: ((HTTPRequest) -> Int?)?
    private let doors: [any HTTPDoor]
    private let liveDoors: [any LiveDoor]
    private var listeners: [Listener] = []
    private let connections: Places
    /// Called when a trusted proxy does not say readably whose a request is. The request counts as the proxy's own.
    package var onUnknownClient: (@EventLoop () -> Void)?

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - circuits: The circuits by which connections come; `nil`: they don't come over Tor, and have no
    ///     limits of that kind.
    ///   - room: The room for the buffers of all connections, of other doors too.
    package init(
        settings: HTTPServerSettings = HTTPServerSettings(), circuits: Circuits? = nil,
        room: BufferRoom = BufferRoom(),
        doors: [any HTTPDoor] = [],
        refusal: @escaping @EventLoop (HTTPResponse) -> HTTPResponse = { $0 }, handler: @escaping Handler
    ) {
        connections = Places(settings.connections, room: room)
        self.settings = settings
        limits = DoorConnection.Limits(
            idleTimeout: settings.idleTimeout, sendTimeout: settings.sendTimeout ?? settings.idleTimeout,
            deadline: settings.requestDeadline)
        let circuits = circuits ?? Circuits(settings: .unlimited)
        self.circuits = circuits
        strangers = circuits.strangers
        countsRefusals = !settings.refusals.isEmpty
        (self.doors, liveDoors) = (doors, doors.compactMap { $0 as? any LiveDoor })
        self.refusal = refusal
        self.handler = handler
    }

    /// Makes a server for doors that share it; a path that none of them knows is answered 404.
    package convenience init(
        settings: HTTPServerSettings = HTTPServerSettings(), circuits: Circuits? = nil,
        room: BufferRoom = BufferRoom(),
        doors: [any HTTPDoor]
    ) {
        let refusal: @EventLoop (HTTPResponse) -> HTTPResponse = { response in
            doors.reduce(response) { $1.refusal($0) }
        }
        self.init(settings: settings, circuits: circuits, room: room, doors: doors, refusal: refusal) {
            request, respond in
            for door in doors {
                if let handler = door.handler(for: request.path) { return handler(request, respond) }
            }
            respond(refusal(HTTPResponse(status: 404, text: "no such endpoint")))
        }
    }

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - certificate: The certificate shown to clients, with whom TLS is spoken; `nil`: plain HTTP.
    ///   - networks: The networks that may connect; all others are turned away. Empty: everybody.
    /// - Returns: The endpoint, with its real port.
    package func open(
        on endpoint: Endpoint, showing certificate: ServerCertificate? = nil,
        from networks: [NetworkAddress.Range] = []
    ) throws(SystemError) -> Endpoint {
        let listener = try Listener(on: endpoint, acceptsPerTurn: settings.acceptsPerTurn) {
            [unowned self] stream in
            guard networks.isEmpty || stream.isFrom(networks) else { return stream.close() }
            accept(stream, certificate)
        }
        listeners.append(listener)
        return listener.endpoint
    }

    package var openConnections: Int { connections.count }
    /// Counts the open connections of circuits or addresses that have `count` or more.
    package func openConnections(heldBy count: Int) -> Int { connections.count(heldBy: count) }
    /// The number of connections that made room for others.
    package var evictedConnections: Int { connections.evicted }

    private func accept(_ stream: Stream, _ certificate: ServerCertificate?) {
        let address = circuits.settings.areAddresses ? stream.peerAddress : nil
        let isProxy =
            circuits.settings.areAddresses && !settings.clientAddressHeader.isEmpty
            && (stream.peerAddress.map(isTrusted) ?? true)
        var arrival = DoorConnection.Arrival(circuits: circuits)
        if let address, !isProxy { arrival.origin = origin(of: address) }
        if let certificate {
            guard countHandshake(arrival.origin, certificate) else { return stream.close() }
            arrival.tls = TLSSession(serving: certificate.context)
        }
        counters.connections += 1
        HTTPConnection(stream, arrival, isProxy: isProxy, server: self, at: connections).begin()
    }

    /// Counts one more handshake or its refusal. Over the rate of all, the listeners pause.
    ///
    /// - Returns: Whether the handshake may begin.
    private func countHandshake(_ origin: Origin?, _ certificate: ServerCertificate) -> Bool {
        let now = EventLoop.now
        if let origin {
            let delay = certificate.handshakesPerAddress.take(
                from: &circuits.circuit(origin, at: now).handshakes, at: now)
            guard delay == .zero else {
                counters.refusedHandshakes += 1
                return false
            }
        }
        certificate.handshakes.add(to: &certificate.used, at: now)
        let delay = certificate.handshakes.delay(after: certificate.used, at: now)
        if delay > .zero {
            counters.delayedHandshakes += 1
            for listener in listeners { listener.pause(for: delay) }
        }
        return true
    }

    /// Returns the call that takes over a request which is answered piece by piece; `nil`: the request is
    /// answered as any other.
    func opening(of request: HTTPRequest) -> Opening? {
        for door in liveDoors {
            if let opening = door.opening(of: request) { return opening }
        }
        return nil
    }

    private func isTrusted(_ address: NetworkAddress) -> Bool {
        settings.trustedProxies.contains { $0.contains(address) }
    }

    /// Returns the origin of a request that a trusted proxy has sent.
    func client(of request: borrowing HTTPRequest, from proxy: NetworkAddress?) -> Origin {
        let client = ForwardedClient(
            in: request.fields, of: settings.clientAddressHeader, from: proxy, isTrusted: isTrusted)
        switch client {
        case .address(let address): return .address(address.block)
        case .unknown(let proxy):
            onUnknownClient?()
            return proxy.map { origin(of: $0) } ?? .anybody
        }
    }

    /// Returns the origin of a connection from an address. At a place for the owner nothing tells programs of this machine
    /// apart, and each has millions of addresses.
    private func origin(of address: NetworkAddress) -> Origin {
        circuits.settings.areShared && address.isLoopback ? .anybody : .address(address.block)
    }

    /// Accepts nothing more and lets the requests in progress be answered. Returns when all connections have ended.
    package func close() async {
        for listener in listeners { listener.close() }
        listeners = []
        if Handover.shared.isHandingOn { for door in doors { door.hurry() } }
        await connections.shutDown()
    }
}

extension Stream {
    fileprivate func isFrom(_ networks: [NetworkAddress.Range]) -> Bool {
        peerAddress.map { address in networks.contains { $0.contains(address) } } ?? false
    }
}
