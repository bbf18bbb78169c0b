import Crypto
import Dispatching
import Doors
import Gateways
import Glibc
import Logging
import Metrics
import Persistence
import Reactor
import Relay
import Tor

/// The running node: everything wired together in ``start()``, which reads from top to bottom as a message travels
/// from the bottom to the top.
@EventLoop
final class RelayNode {
    let settings: Settings
    let log: Logger
    let state: StateDirectory
    /// Called once the address can be reached for the first time.
    private let onPublished: @EventLoop (_ address: String, _ ports: [UInt16]) -> Void
    /// Called with every change of the onion service's state.
    var onOnionState: (@EventLoop (OnionState) -> Void)?
    /// Called with the reason why nothing can be stored any more before a start anew; perhaps more than once.
    var onStoreTaken: (@EventLoop (String) -> Void)?

    private(set) var dispatcher: Dispatcher?
    private(set) var outbox: OutboxStore?
    var gateways: [GatewayAssembly.AppGateways] = []
    var configured: [String: any ConfiguredApp] = [:]  // Apps with gateways, as they are now.
    let level: LogLevel  // Of the log.
    var takenBefore: Set<String> = []  // Keys that were taken over since the start.
    /// Reads the configuration anew; `nil`: it stays as it was.
    var readSettings: (@Sendable () throws(SettingsError) -> Settings)?
    var settingsFile: String?  // Of which they were read.
    var isSupervised = false  // Somebody starts the node again when it ends.
    var onRestart: (@EventLoop () -> Void)?
    private(set) var lanes: [GatewayAssembly.Lane] = []
    var credentials: CredentialWatch?
    var certificateAlarms: [String: CertificateAlarm] = [:]
    var certificateTimer: Timer?
    private(set) var peerDoor: PeerDoor?
    private(set) var listeners: DoorListeners?
    private(set) var doors: [OpenedDoor] = []  // Those of `ConfiguredDoors`.
    let circuits: Circuits
    let room: BufferRoom  // For the buffers of all doors' connections.
    var closedCircuits = LastMinute()  // Those that tor was asked to close.
    private let sockets: DoorSockets
    private var managementServer: HTTPServer?
    private var statusDoorServer: HTTPServer?
    private(set) var history: NodeHistory?
    let loopWatch = LoopWatch()
    let disk: DiskWatch
    private(set) var presence: OnionPresence?
    private(set) var virtualPorts: [UInt16] = []
    private(set) var invitationWatch: InvitationWatch?
    private(set) var invited: Int?  // Peers who are invited; `nil`: everybody may call.
    private(set) var transports = TransportPrograms()  // As tor was started.
    private(set) var phoneBook: StoreWatch<PhoneBook>?
    var watchman: Watchman?
    private(set) var phoneTest: PhoneTest?
    private(set) var console: NodeConsole?
    private(set) lazy var calls = NodeCalls(of: self)
    private let ownDoors = OwnDoors()
    private var hasBeenPublished = false
    private var stopping: Task<Void, Never>?  // Set once, whoever asks and however often.

    init(
        settings: Settings, log: Logger, level: LogLevel = LogLevel(.info),
        onPublished: @escaping @EventLoop (_ address: String, _ ports: [UInt16]) -> Void
    ) throws(NodeError) {
        self.settings = settings
        self.log = log
        self.level = level
        self.onPublished = onPublished
        var circuits = settings.circuits
        circuits.areTold = settings.isGuarded
        circuits.areShared = !settings.isGuarded
        self.circuits = Circuits(settings: circuits)
        room = BufferRoom(limit: settings.bufferBytes)
        sockets = DoorSockets(settings)
        state = try StateDirectory(settings.stateDirectory)
        disk = DiskWatch(settings.stateDirectory)
    }

    func start() async throws(NodeError) {
        try refuseLoop()
        try refusePrivateFront()
        for app in settings.apps { for file in app.settings.ownFiles { try state.make(file) } }
        gateways = try GatewayAssembly.gateways(for: settings, by: egress, tor: torEgress, log: log)
        do throws(SettingsFault) {
            listeners = try DoorListeners(settings, circuits: circuits, room: room, log: log)
        } catch {
            throw .configuration("\(error)")
        }
        lanes = gateways.flatMap(\.lanes)
        for app in settings.apps { configured[app.name] = app.settings }
        let dispatcher = try await openOutbox()
        try openManagement(dispatcher)
        console = try makeConsole()
        try sockets.prepare()
        try await openDoors(dispatcher)
        let peers = try openPeerDoor(dispatcher)
        try await publish(peers: peers, http: try openHTTPDoors(dispatcher))
        loopWatch.start()
    }

    // MARK: From the gateways to the doors

    private func openOutbox() async throws(NodeError) -> Dispatcher {
        let (place, outbox): (StorePlace, OutboxStore)
        do {
            place = try settings.store()
            if let path = place.file, state.hasLostOutbox {
                log.warning("outbox.made_anew", metadata: ["path": "\(path)"])
            }
            outbox = try await OutboxStore(place)
        } catch {
            throw error as? NodeError ?? .unavailable("\(error)")
        }
        guard stopping == nil else {
            await outbox.close()
            throw .stopped
        }
        let validator = Validator(
            apps: GatewayAssembly.apps(of: settings), defaultIOS: settings.defaultIOS,
            defaultAndroid: settings.defaultAndroid, defaultLifetime: settings.lifetime)
        var memory = Pipeline.Memory()
        memory.identities = settings.identityMemory
        memory.deadTokens = settings.deadTokenMemory
        let pipeline = Pipeline(
            validator: validator, limits: settings.limits, memory: memory, writeBehind: settings.writeBehind,
            isShared: place.isShared)
        let digester = SubmissionDigester(key: try state.digestKey())
        let dispatcher = Dispatcher(pipeline: pipeline, outbox: outbox, digester: digester, log: log)
        for lane in lanes { dispatcher.add(lane.gateway, for: lane.id) }
        dispatcher.makeGateway = { [gateways] lane in
            gateways.first { $0.app == lane.app }?.open(lane.host)
        }
        dispatcher.onRefusal = { [circuits] in circuits.refused($0) }
        dispatcher.onStoreTaken = { [weak self] in self?.onStoreTaken?($0) }
        dispatcher.torTime = { [weak self] in self?.torTime }
        self.dispatcher = dispatcher
        self.outbox = outbox
        await outbox.listen { Task { @EventLoop in dispatcher.toldOfArrivals() } }
        do {
            phoneBook = try await StoreWatch(in: outbox, log: log) { [weak self] in
                dispatcher.use($0)
                self?.console?.events.changed(.phones)
            }
            let waiting = try await dispatcher.start()
            if waiting > 0 { log.notice("outbox.restored", metadata: ["waiting": "\(waiting)"]) }
        } catch {
            throw .unavailable("the outbox can't be read: \(error)")
        }
        guard stopping == nil else { throw .stopped }
        for lane in lanes { lane.gateway.start() }
        watchCredentials()
        openWatchman()
        return dispatcher
    }

    /// One door on two listeners: where the settings say, and in the state directory for `onionbell status`.
    private func openManagement(_ dispatcher: Dispatcher) throws(NodeError) {
        disk.start()
        history = NodeHistory(of: self, at: state.history)
        history?.start()
        let door = ManagementDoor { [unowned self] in
            report
        } article: {
            await InstalledArticle.read($0)
        }
        let server = HTTPServer { door.answer($0, respond: $1) }
        _ = try open("management.listen", settings.managementListen) { (endpoint) throws(SystemError) in
            try server.open(on: endpoint)
        }
        managementServer = server
        phoneTest = PhoneTest(dispatcher: dispatcher)
        let status = HTTPServer { [calls] request, respond in
            if let handler = calls.handler(for: request.path) { return handler(request, respond) }
            door.answer(request, respond: respond)
        }
        status.bodyLimit = NodeCalls.bodyLimit
        do {
            _ = try status.open(on: .unix(path: state.statusSocket))
            statusDoorServer = status
        } catch {
            log.warning("node.status_socket_failed", metadata: ["reason": "\(error)"])
        }
    }

    private func openDoors(_ dispatcher: Dispatcher) async throws(NodeError) {
        guard let outbox else { return }
        let site = DoorSite(
            settings: settings, outbox: outbox, dispatcher: dispatcher, lanes: lanes, sockets: sockets,
            circuits: circuits, room: room, log: log)
        for door in ConfiguredDoors.all {
            if let one = try await door.open(at: site, state: state) { doors.append(one) }
        }
    }

    private func openPeerDoor(_ dispatcher: Dispatcher) throws(NodeError) -> Endpoint {
        let door = PeerDoor(
            settings: settings.peers, dispatcher: dispatcher, circuits: circuits, room: room,
            replies: doors.lazy.compactMap(\.replies).first)
        peerDoor = door
        ownDoors.peerFrames = { [unowned door] in door.counters.frames }
        return try sockets.open("peers", orAt: ("onion.peer_listen", settings.onion.peerListen)) {
            (endpoint) throws(SystemError) in try door.open(on: endpoint)
        }
    }

    private func openHTTPDoors(_ dispatcher: Dispatcher) throws(NodeError) -> [VirtualPort] {
        guard let listeners else { return [] }
        let places = settings.onion.httpPorts.map { DoorPlace.onion(port: $0) }
        let bisq = DoorListeners.PlacedDoor(
            BisqRelayDoor(settings: settings.bisqRelay, dispatcher: dispatcher) { [lanes] in
                lanes.isInDoubt($0)
            },
            places: places, body: settings.http.limits.body)
        let own = DoorListeners.PlacedDoor(ownDoors, places: places, body: 0)
        return doors.flatMap(\.ports) + (try listeners.open([own, bisq] + doors.compactMap(\.placed)))
    }

    private func open(
        _ key: String, _ endpoint: Endpoint, _ open: (Endpoint) throws(SystemError) -> Endpoint
    ) throws(NodeError) -> Endpoint {
        do {
            return try open(endpoint)
        } catch {
            throw .unavailable("\(error). Stop the program that uses it, or set \(key) to another address")
        }
    }

    // MARK: The onion service

    private func publish(peers: Endpoint, http: [VirtualPort]) async throws(NodeError) {
        let ports: [VirtualPort]
        do {
            ports = [try VirtualPort(settings.onion.peerPort, to: peers)] + http
        } catch {
            throw .configuration("onion: \(error)")
        }
        var presenceSettings = OnionPresence.Settings(
            source: try torSource(), key: OnionKeyFile(path: state.onionKey), ports: ports)
        presenceSettings.socks = settings.tor.socks
        presenceSettings.heartbeat = settings.tor.heartbeat
        presenceSettings.uploadTime = settings.onion.uploadTimeout
        presenceSettings.selfDial = settings.onion.selfDial
        presenceSettings.selfDial.doors = ownDoors.doors(of: settings.onion)
        presenceSettings.selfDial.front = OnionAddress(settings.onion.publicAddress)
        // It would be closed as idle.
        presenceSettings.selfDial.lineInterval = min(
            presenceSettings.selfDial.lineInterval, settings.peers.idleTimeout / 2)
        let invitations = Invitations(path: StateDirectory.peers(in: state.path))
        presenceSettings.form = settings.onionForm(torDirectory: state.torDirectory)
        do throws(InvitationError) {
            presenceSettings.form.clients = try invitations.load().map { Set($0.values) }
        } catch {
            throw .configuration("\(error)")
        }
        if let onion = console?.onion { presenceSettings.form.neighbours.append(onion) }
        transports = settings.transports
        invited = presenceSettings.form.clients?.count
        let presence = OnionPresence(presenceSettings, log: log)
        self.presence = presence
        virtualPorts = ports.map(\.number)
        circuits.onMisbehaviour = { [unowned self, unowned presence] circuit in
            closedCircuits.add(1, at: EventLoop.monotonicNanoseconds)
            presence.closeCircuit(circuit)
        }
        let watch = InvitationWatch(invitations, clients: presenceSettings.form.clients, log: log) {
            [unowned self, unowned presence] in
            invited = $0?.count
            presence.use(clients: $0)
        }
        watch.start()
        invitationWatch = watch
        console?.watch(presence, in: state)
        presence.onChange = { [unowned self] in onionChanged(to: $0) }
        do {
            try await presence.start()
        } catch {
            throw .unavailable("\(error)")
        }
    }

    private func onionChanged(to onionState: OnionState) {
        onOnionState?(onionState)
        console?.events.changed(.state)
        guard onionState.isPublished, !hasBeenPublished,
            let address = publicAddress(orOwn: presence?.address)
        else { return }
        hasBeenPublished = true
        do {
            try state.write(onionAddress: address)
        } catch {
            log.error("onion.address_file_failed", metadata: ["reason": "\(error)"])
        }
        onPublished(address, virtualPorts)
    }

    func waitForOutbox() async { await dispatcher?.waitForOutbox() }  // Until it has answered.

    // MARK: Stopping

    /// Doors close and answer what they took, running commits and requests end, tor is let go. What is not delivered
    /// stays in the outbox.
    func stop() async {
        let task = stopping ?? Task { await takeDown() }
        stopping = task
        await task.value
    }

    /// The part of the 9.5 seconds of a stop that deliveries may take; tor and the management endpoint have the rest.
    private static let longestDelivery: Duration = .seconds(8)

    private func takeDown() async {
        let began = EventLoop.monotonicNanoseconds
        credentials?.stop()
        invitationWatch?.stop()
        phoneBook?.stop()
        watchman?.stop()
        certificateTimer?.stop()
        async let peers: Void? = peerDoor?.close()
        async let requests: Void? = listeners?.close()
        let others = doors.map { door in Task { await door.close() } }
        _ = await (peers, requests)
        for door in others { await door.value }
        // An answer that comes too late to be written down makes an Android phone ring twice: all the time that is left.
        let passed = Duration.nanoseconds(EventLoop.monotonicNanoseconds - began)
        await dispatcher?.stop(deadline: max(RelayNode.longestDelivery - passed, .seconds(1)))
        await presence?.stop()
        await history?.stop()
        loopWatch.stop()
        disk.stop()
        await console?.close()
        await managementServer?.close()
        await statusDoorServer?.close()
    }
}
