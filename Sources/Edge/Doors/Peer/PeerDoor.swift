import Dispatching
import Figures
import Reactor
import Wire

/// The limits and times of the endpoint for Bisq peers.
package struct PeerDoorSettings: Sendable {
    package var network = BisqNetwork.mainnet
    package var limits = PeerSession.Limits()
    /// The most open connections. A further one closes others of the circuit or address with the most, with
    /// TOO_MANY_CONNECTIONS_OPEN.
    package var connections = 20_000
    /// The time without a byte from the peer after which the connection is closed (Bisq's socket timeout).
    package var idleTimeout: Duration = .seconds(240)
    /// The longest time from the first byte of a frame to its last.
    package var frameDeadline: Duration = .seconds(30)
    /// The most requests of one connection without a receipt; then reading stops until some are answered.
    package var unanswered = 256
    /// The most bytes that wait for the peer to take them; then reading stops until it has.
    package var unsentBytes = 256 << 10

    package init() {}
}

/// The endpoint for Bisq peers: frames over the onion service.
@EventLoop
package final class PeerDoor {
    package struct Counters: Equatable, Sendable {
        package var connections = 0
        package var frames = 0
        /// The number of times that a peer was read no further because too many of its requests had no answer
        /// yet.
        package var heldBack = 0
        package var closed: [PeerClose: Int] = [:]

        package init() {}
    }

    // Nothing that holds this or the turn inout calls back here, so exclusivity needs no check at run time.
    @exclusivity(unchecked) package internal(set) var counters = Counters()
    let settings: PeerDoorSettings
    /// The limits of each connection.
    let limits: DoorConnection.Limits
    let dispatcher: Dispatcher
    let counter: DoorCounter
    let circuits: Circuits
    /// The way back; `nil`: the node has no mailboxes.
    let replies: (any WayBackDesk)?
    /// The turn that all connections use, one after the other: cleared after each read.
    @exclusivity(unchecked) var turn = PeerTurn()

    private var listener: Listener?
    private let connections: Places

    /// Makes the door.
    ///
    /// - Parameter room: The room for the buffers of all connections, of other doors too.
    package init(
        settings: PeerDoorSettings, dispatcher: Dispatcher, circuits: Circuits? = nil,
        room: BufferRoom = BufferRoom(), replies: (any WayBackDesk)? = nil
    ) {
        self.replies = replies
        connections = Places(settings.connections, room: room)
        self.settings = settings
        limits = DoorConnection.Limits(
            idleTimeout: settings.idleTimeout, deadline: settings.frameDeadline,
            unsentBytes: settings.unsentBytes)
        self.dispatcher = dispatcher
        counter = dispatcher.door("peer")
        self.circuits = circuits ?? Circuits()
    }

    /// Begins to listen.
    ///
    /// - Returns: The endpoint, with its real port.
    package func open(on endpoint: Endpoint) throws(SystemError) -> Endpoint {
        let listener = try Listener(on: endpoint) { [unowned self] in accept($0) }
        self.listener = listener
        return listener.endpoint
    }

    package var openConnections: Int { connections.count }
    /// Counts the open connections of circuits that have `count` or more.
    package func openConnections(heldBy count: Int) -> Int { connections.count(heldBy: count) }
    /// Connections closed to make room for others, since the start.
    package var evictedConnections: Int { connections.evicted }

    private func accept(_ stream: Stream) {
        counters.connections += 1
        PeerConnection(stream, door: self, at: connections).begin()
    }

    func ended(_ reason: PeerClose) {
        counters.closed[reason, default: 0] += 1
        if reason == .connectionLost { lost.add(1, at: EventLoop.now) }
    }

    private var lost = LastMinute()
    /// The number of peers whose connections were lost within the last minute.
    package var lostWithinAMinute: Int { Int(lost.sum(at: EventLoop.now)) }

    /// Accepts nothing more; each peer gets the receipts it waits for and a close message. Returns when all have.
    package func close() async {
        listener?.close()
        listener = nil
        await connections.shutDown()
    }
}
