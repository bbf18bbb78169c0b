import Doors
import Gateways
import Logging
import Reactor
import Tor

/// The way from settings to a running node, which reads from top to bottom as a message travels from the bottom to the
/// top; and the way back, from whatever point.
@EventLoop
final class NodeStart {
    private let settings: Settings
    private let host: NodeHost
    private let log: Logger
    private let state: StateDirectory
    private let parts = OpenParts()
    /// The node; `nil` until the start has made it.
    private var node: RelayNode?
    /// The announcement of the address; `nil` until the address is published for the first time.
    private var announcement: Task<Void, Never>?
    /// Called with the reason why the node has to end by itself; perhaps more than once.
    var onEnd: @EventLoop (NodeError) -> Void = { _ in }

    init(_ settings: Settings, host: NodeHost, log: Logger) throws(NodeError) {
        (self.settings, self.host, self.log) = (settings, host, log)
        state = try StateDirectory(settings.stateDirectory)
    }

    /// Starts the node.
    ///
    /// - Throws: The fault of the start. All that was opened until then is closed.
    func run() async throws(NodeError) -> RelayNode {
        do throws(NodeError) {
            return try await open()
        } catch {
            // Where there are settings to go back to, or another try, whoever connects meanwhile waits.
            if host.canGoBack {
                Handover.shared.begin(for: .thisProcess)
            } else if Handover.shared.hasStore {
                Handover.shared.begin(for: .anotherProcess)
            }
            await parts.close()
            Handover.shared.takeBack()
            throw error
        }
    }

    /// Waits for what is at gateways before a restart in place.
    func waitForGateways() async { await node?.store.waitForGateways() }

    /// Doors close and answer what they took, running commits and requests end, tor is let go. What is not delivered
    /// stays in the outbox.
    func stop() async {
        await parts.close()
        if Handover.shared.isInPlace { state.handOn() }
    }

    func resume() { node?.resume() }

    private func open() async throws(NodeError) -> RelayNode {
        try settings.refuseLoop(as: OnionKeyFile(path: state.onionKey))
        // Nobody would find it.
        if let fault = settings.frontFaults.first { throw .configuration("\(fault)") }
        for app in settings.apps { for file in app.settings.ownFiles { try state.make(file) } }
        let invitations = Invitations(path: StateDirectory.peers(in: state.path))
        let clients: Set<ClientKey>?
        do throws(InvitationError) {
            clients = try await InvitationWatch.load(invitations).get().map { Set($0.values) }
        } catch {
            throw .configuration("\(error)")
        }
        let own = OwnDoors()
        let presence = OnionPresence(try settings.presence(in: state, clients: clients, own: own), log: log)
        let tor = Egress.tor { [weak presence] in presence?.socks }
        let gateways = try GatewayAssembly.gateways(
            for: settings, by: settings.egress(orBy: tor), tor: tor, log: log)
        let circuits = Circuits(settings: settings.onionCircuits)
        let room = BufferRoom(limit: settings.bufferBytes)
        let listeners: DoorListeners
        do throws(SettingsFault) {
            listeners = try DoorListeners(settings, circuits: circuits, room: room, log: log)
        } catch {
            throw .configuration("\(error)")
        }
        let kept = await NodeHistory.kept(at: state.history)
        let transports = await settings.readTransports()
        let store = try await NodeStore(
            settings, state: state, gateways: gateways, circuits: circuits, presence: presence, in: parts,
            log: log
        ) { [weak self] in
            self?.node?.tell(.phones)
        } onTaken: { [weak self] in
            self?.onEnd(.unavailable($0))
        }
        let site = DoorSite(
            settings: settings, outbox: store.outbox, dispatcher: store.dispatcher,
            lanes: gateways.flatMap(\.lanes), sockets: DoorSockets(settings), circuits: circuits, room: room,
            log: log)
        let doors = try await NodeDoors(
            at: site, listeners, own: own, presence: presence, state: state, in: parts)
        let node = RelayNode(
            settings, host: host, log: log, presence: presence, gateways: gateways, store: store,
            doors: doors,
            history: NodeHistory(of: store.dispatcher, at: state.history, kept: kept, log: log),
            invitations: invitations, clients: clients, transports: transports
        ) { [weak self] in
            self?.onEnd(.restarting)
        }
        self.node = node
        node.start()
        try await parts.add(.watches) { _ in node.stopWatching() }
        try await parts.add(.owner) { _ in await node.stopReporting() }
        try await openOwnersDoors(of: node)
        try await publish(node)
        node.loopWatch.start()
        return node
    }

    // MARK: The owner's doors

    /// Opens the owner's door on two listeners, one where the settings say and one in the state directory for
    /// `onionbell status`, and what features have for the owner.
    private func openOwnersDoors(of node: RelayNode) async throws(NodeError) {
        let door = ManagementDoor(desk: node.desk) { await InstalledArticle.read($0) }
        let management = HTTPServer { door.answer($0, respond: $1) }
        do throws(SystemError) {
            _ = try management.open(on: settings.managementListen)
        } catch {
            throw .unavailable(
                "\(error). Stop the program that uses it, or set management.listen to another address")
        }
        try await parts.add(.owner) { _ in await management.close() }
        let companions = settings.nodeFeatures.map { $0.companion(of: node, state: state) }
        node.companions = companions
        let statusDoors = companions.map(\.statusDoor) + [StatusDoor(of: node)]
        let status = HTTPServer { request, respond in
            for door in statusDoors {
                if let handler = door.handler(for: request.path) { return handler(request, respond) }
            }
            door.answer(request, respond: respond)
        }
        status.bodyLimit = { request in companions.lazy.compactMap { $0.bodyLimit(request) }.first }
        try await parts.add(.owner) { _ in await status.close() }
        do throws(SystemError) {
            _ = try status.open(on: .unix(path: state.statusSocket))
        } catch {
            log.warning("node.status_socket_failed", metadata: ["reason": "\(error)"])
        }
        for companion in companions {
            try await parts.add(.owner) { _ in await companion.close() }
            try companion.open(state)
        }
    }

    // MARK: The onion service

    private func publish(_ node: RelayNode) async throws(NodeError) {
        let presence = node.presence
        for companion in node.companions { companion.willPublish(state) }
        presence.onChange = { [unowned self, unowned node] in onionChanged(to: $0, of: node) }
        try await parts.add(.tor) { [unowned self] _ in await unpublish(presence) }
        do {
            try await presence.start(
                node.doors.ports, beside: node.companions.compactMap(\.neighbour))
        } catch {
            throw .unavailable("\(error)")
        }
        // It returns then too.
        guard !parts.isClosing else { throw .stopped }
    }

    private func unpublish(_ presence: OnionPresence) async {
        if Handover.shared.isHandingOn { await presence.handOn() } else { await presence.stop() }
        await announcement?.value
    }

    private func onionChanged(to onion: OnionState, of node: RelayNode) {
        host.onOnionState(onion)
        node.tell(.state)
        guard onion.isPublished, announcement == nil,
            let address = settings.publicAddress(orOwn: node.presence.address)
        else { return }
        let ports = node.doors.ports.map(\.number)
        announcement = Task { await announce(address, at: ports) }
    }

    /// Writes the address down, and then hands it to the host, whose readers look into the file.
    private func announce(_ address: String, at ports: [UInt16]) async {
        if let error = await PrivateFile.replace(state.onionAddress, with: Array("\(address)\n".utf8)) {
            log.error("onion.address_file_failed", metadata: ["reason": "\(error)"])
        }
        host.onPublished(address, ports)
    }
}
