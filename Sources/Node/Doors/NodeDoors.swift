import Clocks
import Doors
import Figures
import Reactor
import Relay
import Tor

/// The doors that senders come to, each open at its places.
@EventLoop
package final class NodeDoors {
    let peers: PeerDoor
    package let listeners: DoorListeners
    /// The open doors of ``Features``.
    package let others: [OpenedDoor]
    package let circuits: Circuits
    /// The room for the buffers of all doors' connections.
    let room: BufferRoom
    /// The virtual ports that lead to the doors.
    let ports: [VirtualPort]
    private let own: OwnDoors
    /// The circuits that tor was asked to close.
    private var closedCircuits = LastMinute()

    init(
        at site: DoorSite, _ listeners: DoorListeners, own: OwnDoors, presence: OnionPresence,
        state: borrowing StateDirectory, in parts: OpenParts
    ) async throws(NodeError) {
        let (settings, dispatcher) = (site.settings, site.dispatcher)
        try site.sockets.prepare()
        var others: [OpenedDoor] = []
        for feature in settings.features {
            guard let opened = try await feature.open(at: site, state: state) else { continue }
            try await parts.add(.doors) { _ in await opened.close() }
            others.append(opened)
        }
        let peers = PeerDoor(
            settings: settings.peers, dispatcher: dispatcher, circuits: site.circuits, room: site.room,
            replies: others.lazy.compactMap(\.replies).first)
        own.peerFrames = { [unowned peers] in peers.counters.frames }
        let place = try site.sockets.open("peers", orAt: ("onion.peer_listen", settings.onion.peerListen)) {
            (endpoint) throws(SystemError) in try peers.open(on: endpoint)
        }
        try await parts.add(.doors) { _ in await peers.close() }
        try await parts.add(.doors) { _ in await listeners.close() }
        let places = settings.onion.httpPorts.map { DoorPlace.onion(port: $0) }
        let bisq = DoorListeners.PlacedDoor(
            BisqRelayDoor(settings: settings.bisqRelay, dispatcher: dispatcher) { site.lanes.isInDoubt($0) },
            places: places, body: settings.http.limits.body)
        let http = try listeners.open(
            [.init(own, places: places, body: 0), bisq] + others.compactMap(\.placed))
        do throws(VirtualPortError) {
            ports = [try VirtualPort(settings.onion.peerPort, to: place)] + others.flatMap(\.ports) + http
        } catch {
            throw .configuration("onion: \(error)")
        }
        (self.peers, self.listeners, self.others, self.own) = (peers, listeners, others, own)
        (circuits, room) = (site.circuits, site.room)
        circuits.onMisbehaviour = { [unowned self, unowned presence] circuit in
            closedCircuits.add(1, at: EventLoop.now)
            presence.closeCircuit(circuit)
        }
        circuits.onArrival = { [unowned presence] in presence.clientCame() }
    }

    func circuitsClosed(at now: MonotonicTime) -> Int { Int(closedCircuits.sum(at: now)) }
}
