import Doors
import Logging
import Node
import Reactor
import Tor

/// The onion listener of the console, from its socket to the published address.
@EventLoop
final class ConsoleOnion {
    /// The state of the address. No keys of clients are watched in `open`: the presence does not have the service yet,
    /// and drops them.
    private enum AddressState {
        case open
        case watched(InvitationWatch)
        case published(InvitationWatch)
    }

    /// The service that the presence publishes beside the node's own.
    let service: NeighbourService
    /// The circuits by which clients come.
    private let circuits: Circuits
    private var state = AddressState.open
    /// The calls to make once clients can find the address.
    private var waiting: [@EventLoop () -> Void] = []

    init(_ service: NeighbourService, circuits: Circuits) {
        (self.service, self.circuits) = (service, circuits)
    }

    /// Takes over who may find the address, and says when clients can.
    func watch(_ presence: OnionPresence, _ invitations: Invitations, log: Logger) {
        circuits.onMisbehaviour = { [unowned presence] in presence.closeCircuit($0) }
        let address = service.address
        let watch = InvitationWatch(invitations, clients: service.form.clients, log: log, to: .console) {
            [unowned presence] in presence.use(clients: $0, ofNeighbour: address)
        }
        watch.start()
        state = .watched(watch)
        presence.onNeighbour = { [unowned self] in
            guard $0 == address, case .watched(let watch) = state else { return }
            log.notice("console.published")
            state = .published(watch)
            for call in waiting { call() }
            waiting = []
        }
    }

    /// Calls back once clients can find the address, or at once if they can.
    func whenPublished(_ call: @escaping @EventLoop () -> Void) {
        if case .published = state { call() } else { waiting.append(call) }
    }

    /// Takes over who may find the address now.
    func lookNow() async { await clients?.lookNow() }

    /// Why the clients' keys can't be read; `nil`: they can.
    var fault: String? { clients?.fault }

    func close() { clients?.stop() }

    /// The watch of the clients' keys; `nil` while the presence does not have the service.
    private var clients: InvitationWatch? {
        switch state {
        case .open: nil
        case .watched(let clients), .published(let clients): clients
        }
    }
}
