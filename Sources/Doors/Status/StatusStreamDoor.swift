import Reactor

/// Status' messages over the onion service, on a port of their own: a length of four bytes, then the message.
@EventLoop
package final class StatusStreamDoor {
    package struct Settings: Sendable {
        /// Connections at a time; one more is closed at once.
        package var connections = 2000
        /// Nothing read for that long closes.
        package var idleTimeout: Duration = .seconds(300)
        /// From the first byte of a message to its last.
        package var messageDeadline: Duration = .seconds(30)
        /// Bytes of the largest message.
        package var messageBytes = 262_144
        /// Messages of one connection in a second, on average and at once: more wait.
        package var rate = 20
        /// The same of all connections together, so that other doors have their share of the node.
        package var totalRate = 500
        /// Messages of a connection that are no business of this server before it is closed.
        package var strangeMessages = 8

        package init() {}
    }

    let settings: Settings
    let server: StatusServer
    private var listeners: [Listener] = []
    var pace: MessagePace
    private let connections = OpenConnections<StatusConnection>()

    package init(settings: Settings, server: StatusServer) {
        self.settings = settings
        self.server = server
        pace = MessagePace(rate: settings.totalRate)
    }

    /// Begins to listen.
    ///
    /// - Parameter circuits: by which connections come; `nil`: they don't come over Tor.
    /// - Returns: Where, with the real port.
    package func open(on endpoint: Endpoint, by circuits: Circuits? = nil) throws(SystemError) -> Endpoint {
        let circuits = circuits ?? Circuits(settings: .unlimited)
        let listener = try Listener(on: endpoint) { [unowned self] in accept($0, circuits) }
        listeners.append(listener)
        return listener.endpoint
    }

    /// Connections that were one too many.
    package private(set) var refusedConnections = 0
    /// Messages that had to wait for their share.
    package internal(set) var slowed = 0

    private func accept(_ stream: Stream, _ circuits: Circuits) {
        guard connections.count < settings.connections else {
            refusedConnections += 1
            return stream.close()
        }
        let connection = StatusConnection(stream, by: circuits, door: self)
        connections.insert(connection)
    }

    func ended(_ connection: StatusConnection) {
        connections.remove(connection)
    }

    /// Accepts nothing more; messages that are being answered are. Returns when all connections have ended.
    package func close() async {
        for listener in listeners { listener.close() }
        listeners = []
        await connections.shutDown()
    }
}

/// So many in a second, on average and at once (a leaky bucket in one number).
struct MessagePace {
    private let interval: Int64
    private let most: Int64
    /// Monotonic nanoseconds at which all of it is unused again.
    private var usedUntil: Int64 = 0

    init(rate: Int) {
        interval = 1_000_000_000 / Int64(rate)
        most = interval * Int64(rate - 1)
    }

    /// Nanoseconds until one more may come; 0: now.
    func delay(at now: Int64) -> Int64 { max(0, usedUntil - most - now) }

    mutating func count(at now: Int64) { usedUntil = max(usedUntil, now) + interval }
}
