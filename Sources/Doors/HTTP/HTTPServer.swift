import HTTP1
import Reactor
import TLS

/// A small HTTP/1.1 server on the event loop: one request of a connection at a time, everything bounded.
///
/// Own code rather than libevent's `evhttp`, because the doors promise what that can't do: a deadline for head and
/// body, strict framing (no request smuggling past a proxy), a status for each limit, and memory only while a request
/// is incomplete.
@EventLoop
package final class HTTPServer {
    package struct Settings: Sendable {
        package var limits = HTTPLimits()
        /// Connections at a time; one more is closed at once.
        package var connections = 5000
        /// From a request's first byte to its last.
        package var requestDeadline: Duration = .seconds(10)
        /// Between requests.
        package var idleTimeout: Duration = .seconds(60)

        package init() {}
    }

    package struct Counters: Equatable, Sendable {
        package var connections = 0
        /// One too many, and closed at once.
        package var refusedConnections = 0
        package var requests = 0
        package var answers: [Int: Int] = [:]
    }

    /// Answers a request by calling `respond` once, now or later.
    package typealias Handler =
        @EventLoop (_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) -> Void

    package internal(set) var counters = Counters()
    let settings: Settings
    let circuits: Circuits
    let handler: Handler
    private var listeners: [Listener] = []
    private let connections = OpenConnections<HTTPConnection>()

    /// - Parameter circuits: by which connections come; `nil`: they don't come over Tor, and have no limits of that kind.
    package init(
        settings: Settings = Settings(), circuits: Circuits? = nil, handler: @escaping Handler
    ) {
        self.settings = settings
        self.circuits = circuits ?? Circuits(settings: .unlimited)
        self.handler = handler
    }

    /// For doors that share it; a path that none of them knows is answered 404.
    package convenience init(
        settings: Settings = Settings(), circuits: Circuits? = nil, doors: [any HTTPDoor]
    ) {
        self.init(settings: settings, circuits: circuits) { request, respond in
            for door in doors where door.matches(path: request.path) {
                return door.answer(request, respond: respond)
            }
            respond(HTTPResponse(status: 404, text: "no such door"))
        }
    }

    /// Begins to listen.
    ///
    /// - Parameter certificate: shown to clients, with whom TLS is spoken; `nil`: plain HTTP.
    /// - Returns: Where, with the real port.
    package func open(
        on endpoint: Endpoint, showing certificate: ServerCertificate? = nil
    ) throws(SystemError) -> Endpoint {
        let listener = try Listener(on: endpoint) { [unowned self] in accept($0, certificate) }
        listeners.append(listener)
        return listener.endpoint
    }

    package var openConnections: Int { connections.count }

    private func accept(_ stream: Stream, _ certificate: ServerCertificate?) {
        guard connections.count < settings.connections else {
            counters.refusedConnections += 1
            return stream.close()
        }
        counters.connections += 1
        let tls = certificate.map { TLSSession(serving: $0.context) }
        let connection = HTTPConnection(stream, tls, server: self)
        connections.insert(connection)
    }

    func ended(_ connection: HTTPConnection) {
        connections.remove(connection)
    }

    /// Accepts nothing more and lets the requests in progress be answered. Returns when all connections have ended.
    package func close() async {
        for listener in listeners { listener.close() }
        listeners = []
        await connections.shutDown()
    }
}
