import Dispatching
import Doors
import Logging
import Overview
import Persistence
import Reactor
import Relay
import Tor

/// The parts of the node that doors are made of.
package struct DoorSite {
    package let settings: Settings
    package let outbox: OutboxStore
    package let dispatcher: Dispatcher
    package let lanes: [GatewayAssembly.Lane]
    /// The sockets at which tor hands streams over, and by which clients come there.
    package let sockets: DoorSockets
    package let circuits: Circuits
    package let room: BufferRoom
    package let log: Logger
}

/// A door that is ready to be served.
package struct OpenedDoor {
    /// The door with its places over HTTP; `nil`: it has none.
    package var placed: DoorListeners.PlacedDoor?
    /// The virtual ports that lead to listeners of its own.
    package var ports: [VirtualPort] = []
    /// The way back to senders, which the peers' door serves too; `nil`: it has none.
    package var replies: (any WayBackDesk)?
    package var addFigures: @EventLoop (inout Report) -> Void = { _ in }
    /// The part that the feature's own calls use; `nil`: they use none.
    package var desk: (any AnyObject & Sendable)?
    /// Takes over what a command has changed in its tables.
    package var lookNow: @EventLoop () async -> Void = {}
    /// Ends what it has beside its place over HTTP.
    package var close: @EventLoop () async -> Void = {}

    package init(placed: DoorListeners.PlacedDoor? = nil) { self.placed = placed }
}
