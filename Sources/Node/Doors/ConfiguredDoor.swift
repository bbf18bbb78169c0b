import Dispatching
import Doors
import Logging
import Persistence
import Reactor
import Relay

/// A door over HTTP for other senders than Bisq's, as the settings place it.
protocol ConfiguredDoor: Sendable {
    /// The places at which the settings want it; empty: it is off, or has no place over HTTP.
    static func places(in settings: Settings) -> [DoorPlace]

    /// Opens its tables and reads its files; its sockets are opened by the caller. Called once, before senders come.
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
        GorushDoor.self, StatusDoor.self, WebPushDoor.self, BitwardenDoor.self, PhonePageDoor.self,
        MailboxDoor.self,
    ]
}

/// The parts of the node that doors are made of.
struct DoorSite {
    let settings: Settings
    let outbox: OutboxStore
    let dispatcher: Dispatcher
    let room: BufferRoom
    /// The door of the mailboxes; `nil`: no app keeps notifications here.
    let mailboxes: MailboxDoor?
    /// Whether what a lane's gateway says of device tokens may be the fault of the settings.
    let isInDoubt: @EventLoop (LaneID) -> Bool
    let log: Logger
}

/// A door that is ready to be served.
struct OpenedDoor {
    /// `nil`: it has no place over HTTP.
    var placed: DoorListeners.PlacedDoor?
    /// The door of the same service over a stream; `nil`: it has none.
    var stream: StatusStreamDoor?
}

extension RelayNode {
    /// Whether what a lane's gateway says of device tokens may be the fault of the settings.
    func isInDoubt(_ lane: LaneID) -> Bool {
        lanes.first { $0.id == lane }?.gateway.figures.isInDoubt ?? true
    }
}
