import Reactor
import Relay

/// The limits and times of connections by which messages come.
package struct MessageDoorSettings: Sendable {
    /// The most connections at a time; a further one closes another.
    package var connections = 2000
    /// The time without a byte from the client after which the connection is closed.
    package var idleTimeout: Duration = .seconds(300)
    /// The longest time from the first byte of a message to its last.
    package var messageDeadline: Duration = .seconds(30)
    /// Bytes of the largest message.
    package var messageBytes = 131_072
    /// Messages of one connection in a second, on average and at once: more wait.
    package var rate = 20
    /// Messages a second of all connections together, so that other doors have their share of the node.
    package var totalRate = 500
    /// Messages of a connection that are no business of this server before it is closed.
    package var strangeMessages = 8

    package init() {}
}

/// Messages over the onion service, on a port of their own: a length of four bytes, then the message. What a message is, the
/// owner of the door knows.
@EventLoop
package final class MessageDoor {
    let settings: MessageDoorSettings
    /// The limits of each connection.
    let limits: DoorConnection.Limits
    /// Takes one message, and answers it later. The sender is `nil` where the circuit is not known.
    package typealias Take =
        @EventLoop (_ message: [UInt8], _ sender: SenderID?, _ answer: @escaping @EventLoop (Reply) -> Void)
        ->
        Void
    let take: Take
    /// Called when a connection ends because of a length that no message has.
    let onRefusal: @EventLoop () -> Void
    private var listeners: [Listener] = []
    /// The rate of one connection; ``totalRate`` is that of all.
    let rate: Rate
    let totalRate: Rate
    var used = Rate.Use()
    private let connections: Places

    /// Makes the door.
    ///
    /// - Parameter room: The room for the buffers of all connections, of other doors too.
    package init(
        settings: MessageDoorSettings, room: BufferRoom = BufferRoom(), take: @escaping Take,
        onRefusal: @escaping @EventLoop () -> Void
    ) {
        self.settings = settings
        limits = DoorConnection.Limits(
            idleTimeout: settings.idleTimeout, deadline: settings.messageDeadline)
        (self.take, self.onRefusal) = (take, onRefusal)
        rate = Rate(perSecond: Double(settings.rate), burst: settings.rate)
        totalRate = Rate(perSecond: Double(settings.totalRate), burst: settings.totalRate)
        connections = Places(settings.connections, room: room)
    }

    /// Begins to listen.
    ///
    /// - Parameter circuits: The circuits by which connections come; `nil`: they don't come over Tor.
    /// - Returns: The endpoint, with its real port.
    package func open(on endpoint: Endpoint, by circuits: Circuits? = nil) throws(SystemError) -> Endpoint {
        let circuits = circuits ?? Circuits(settings: .unlimited)
        let listener = try Listener(on: endpoint) { [unowned self] in accept($0, circuits) }
        listeners.append(listener)
        return listener.endpoint
    }

    package var openConnections: Int { connections.count }
    /// Counts the open connections of circuits that have `count` or more.
    package func openConnections(heldBy count: Int) -> Int { connections.count(heldBy: count) }
    /// The number of connections that made room for others.
    package var evictedConnections: Int { connections.evicted }
    /// Messages that had to wait for their share.
    package internal(set) var slowed = 0

    /// The answer to a message.
    package enum Reply: Equatable, Sendable {
        /// A message.
        case message([UInt8])
        case silence
        /// There is none: it was no message for this door.
        case unreadable
    }

    private func accept(_ stream: Stream, _ circuits: Circuits) {
        MessageConnection(stream, by: circuits, door: self, at: connections).begin()
    }

    /// Accepts nothing more; messages that are being answered are. Returns when all connections have ended.
    package func close() async {
        for listener in listeners { listener.close() }
        listeners = []
        await connections.shutDown()
    }
}
