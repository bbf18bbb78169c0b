import Dispatching
import Doors
import Logging
import Overview
import Persistence
import Reactor
import Relay
import Tor

/// A door over HTTP for other senders than Bisq's, as the settings place it.
protocol ConfiguredDoor: Sendable {
    /// The key of the places.
    static var listenKey: String { get }

    /// Returns the places at which the settings want the door; empty: it is off, or has no place over HTTP.
    static func places(in settings: Settings) -> [DoorPlace]

    /// Opens the door's tables and reads its files; its sockets for HTTP are opened by the caller. Called
    /// once, before senders come.
    ///
    /// - Returns: `nil`: the settings want it nowhere.
    @EventLoop
    static func open(
        at site: DoorSite, state: borrowing StateDirectory
    ) async throws(NodeError) -> OpenedDoor?
}

/// The doors that this program knows: a new one is a folder of `Sources/Edge/Doors`, its opening and a line here.
enum ConfiguredDoors {
    static let all: [any ConfiguredDoor.Type] = [
        GorushDoor.self, StatusIMDoor.self, WebPushDoor.self, BitwardenDoor.self, PhonePageDoor.self,
        MailboxDoor.self,
    ]
}

/// The parts of the node that doors are made of.
struct DoorSite {
    let settings: Settings
    let outbox: OutboxStore
    let dispatcher: Dispatcher
    let lanes: [GatewayAssembly.Lane]
    /// The sockets at which tor hands streams over, and by which clients come there.
    let sockets: DoorSockets
    let circuits: Circuits
    let room: BufferRoom
    let log: Logger
}

/// A door that is ready to be served.
struct OpenedDoor {
    /// The door with its places over HTTP; `nil`: it has none.
    var placed: DoorListeners.PlacedDoor?
    /// The virtual ports that lead to listeners of its own.
    var ports: [VirtualPort] = []
    /// The way back to senders, which the peers' door serves too; `nil`: it has none.
    var replies: ReplyBoard?
    var addFigures: @EventLoop (inout Report) -> Void = { _ in }
    /// Puts a test into the mailbox of a name, and returns `nil` if there is none; `nil`: the door has no mailboxes.
    var ring: (@EventLoop (_ mailbox: String) async throws(OutboxError) -> MailboxPutResult?)?
    /// Takes over what a command has changed in its tables.
    var lookNow: @EventLoop () async -> Void = {}
    /// Ends what it has beside its place over HTTP.
    var close: @EventLoop () async -> Void = {}
}
