import Clocks
import Doors
import Gateways
import Logging
import Overview
import Reactor
import Tor

/// The node that a ``NodeStart`` has made: its parts, and who watches what changes beside it.
@EventLoop
final class RelayNode {
    let settings: Settings
    let host: NodeHost
    let log: Logger
    let presence: OnionPresence
    let gateways: [GatewayAssembly.AppGateways]
    let store: NodeStore
    let doors: NodeDoors
    /// The owner's console; `nil`: the settings have no place for it.
    let console: NodeConsole?
    let phoneTest: PhoneTest
    let history: NodeHistory
    let disk: DiskWatch
    let proofs: ProofWatch
    let looks: GatewayLooks
    let loopWatch = LoopWatch()
    /// Puts the node's report together.
    private(set) lazy var desk = ReportDesk { [unowned self] in takeReport() }
    let credentials: CredentialWatch
    let certificates: CertificateWatch
    let invitations: InvitationWatch
    let watchman: Watchman
    /// The programs for bridges, as they were named when tor was started.
    let transports: TransportPrograms
    /// Ends the node for another start.
    let restart: @EventLoop () -> Void
    /// Apps with gateways, as they are now.
    var configured: [String: any ConfiguredApp]
    /// The moment of the start, by the clock that stands while the machine sleeps.
    let begun = EventLoop.awake
    /// Settings that wait for a restart, and things of them that were refused when they were read again.
    var settingsNews = SettingsNews()
    /// Readings of changed settings.
    let rereads = InOrder()
    /// The time for which nothing was taken over the restart in place by which this node came; `nil`: it came otherwise.
    let unserved: Duration?
    /// Keys that were taken over since the start.
    var takenBefore: Set<String> = []

    /// Makes the node of its parts.
    ///
    /// - Parameters:
    ///   - invitations: They are watched from now on.
    ///   - clients: Those of the invitations that the presence knows.
    ///   - transports: The programs that the torrc names.
    init(
        _ settings: Settings, host: NodeHost, log: Logger, presence: OnionPresence,
        gateways: [GatewayAssembly.AppGateways], store: NodeStore, doors: NodeDoors, console: NodeConsole?,
        history: NodeHistory, invitations: Invitations, clients: Set<ClientKey>?,
        transports: TransportPrograms, restart: @escaping @EventLoop () -> Void
    ) {
        (self.settings, self.host, self.log, self.restart) = (settings, host, log, restart)
        (self.presence, self.gateways, self.store) = (presence, gateways, store)
        (self.doors, self.console) = (doors, console)
        // The doors are open now.
        unserved = host.restartedSince.map { max(.zero, EventLoop.awake - $0) }
        (self.history, self.transports) = (history, transports)
        phoneTest = PhoneTest(dispatcher: store.dispatcher)
        disk = DiskWatch(settings.stateDirectory)
        proofs = ProofWatch(store.dispatcher)
        looks = GatewayLooks(gateways.flatMap(\.lanes).map(\.gateway))
        let configured = Dictionary(settings.apps.map { ($0.name, $0.settings) }) { $1 }
        self.configured = configured
        let certificates = CertificateWatch(gateways, doors.listeners, log: log)
        self.certificates = certificates
        let watched = gateways.compactMap { gateways in
            configured[gateways.app].map { gateways.watched(as: $0) }
        }
        credentials = CredentialWatch(watched + [doors.listeners.watched].compactMap(\.self), log: log) {
            app in
            store.dispatcher.resume(app: app)
            certificates.look()
        }
        self.invitations = InvitationWatch(invitations, clients: clients, log: log) { [unowned presence] in
            presence.use(clients: $0)
        }
        watchman = Watchman(settings.watchman, network: settings.onion.network) { [unowned presence] in
            // What tor can't do now says nothing of others.
            presence.state.isPublished ? presence.socks : nil
        } onNews: {
            store.ring($0, $1)
        }
    }

    func start() {
        credentials.start()
        certificates.look()
        invitations.start()
        disk.start()
        proofs.start()
        looks.start()
        history.start { [unowned self] in await desk.put(\.checks) }
    }

    /// Tells what the restart in place was like by which this node came.
    func tellRestart() {
        guard let unserved else { return }
        log.notice(
            "restart.done",
            metadata: [
                "milliseconds": "\(unserved.milliseconds)", "waited": "\(Listener.foundWaiting)",
            ])
    }

    /// Takes over nothing more.
    func stopWatching() {
        credentials.stop()
        certificates.stop()
        invitations.stop()
        watchman.stop()
        looks.stop()
        phoneTest.hurry()
    }

    /// Stops what the owner sees of the node.
    func stopReporting() async {
        await history.stop()
        loopWatch.stop()
        disk.stop()
        proofs.stop()
    }
}
