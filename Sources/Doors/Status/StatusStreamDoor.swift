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
        /// Messages of a connection that are no business of this server before it is closed.
        package var strangeMessages = 8

        package init() {}
    }

    let settings: Settings
    let server: StatusServer
    private var listeners: [Listener] = []
    private var connections: [ObjectIdentifier: StatusConnection] = [:]
    private var whenEmpty: CheckedContinuation<Void, Never>?

    package init(settings: Settings, server: StatusServer) {
        self.settings = settings
        self.server = server
    }

    /// Begins to listen.
    ///
    /// - Returns: Where, with the real port.
    package func open(on endpoint: Endpoint) throws(SystemError) -> Endpoint {
        let listener = try Listener(on: endpoint) { [unowned self] in accept($0) }
        listeners.append(listener)
        return listener.endpoint
    }

    package var openConnections: Int { connections.count }

    private func accept(_ stream: Stream) {
        guard connections.count < settings.connections else { return stream.close() }
        let connection = StatusConnection(stream, door: self)
        connections[ObjectIdentifier(connection)] = connection
    }

    func ended(_ connection: StatusConnection) {
        connections[ObjectIdentifier(connection)] = nil
        if connections.isEmpty {
            whenEmpty?.resume()
            whenEmpty = nil
        }
    }

    /// Accepts nothing more; messages that are being answered are. Returns when all connections have ended.
    package func close() async {
        for listener in listeners { listener.close() }
        listeners = []
        for connection in connections.values { connection.shutDown() }
        guard !connections.isEmpty else { return }
        await withCheckedContinuation { whenEmpty = $0 }
    }
}
