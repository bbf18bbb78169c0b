import Clocks
import Doors
import Gateways
import Logging
import Overview
import Reactor
import Tor

/// The node that a ``NodeStart`` has made: its parts, and who watches what changes beside it.
@EventLoop
package final class RelayNode {
    package let settings: Settings
    package let host: NodeHost
    package let log: Logger
    package let presence: OnionPresence
    package let gateways: [GatewayAssembly.AppGateways]
    package let store: NodeStore
    package let doors: NodeDoors
    /// The parts of features beside the node.
    package var companions: [any NodeCompanion] = []
    package let phoneTest: PhoneTest
    package let history: NodeHistory
    let disk: DiskWatch
    let proofs: ProofWatch
    let looks: GatewayLooks
    let loopWatch = LoopWatch()
    /// Puts the node's report together.
    package private(set) lazy var desk = ReportDesk { [unowned self] in takeReport() }
    let credentials: CredentialWatch
    let certificates: CertificateWatch
    package let invitations: InvitationWatch
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
    package var settingsNews = SettingsNews()
    /// Readings of changed settings.
    let rereads = InOrder()
    /// The time for which nothing was taken over the restart in place by which this node came; `nil`: it came otherwise.
    let unserved: Duration?
    /// Keys that were taken over since the start.
    var takenBefore: Set<String> = []
    /// The question whether the node would start again, as long as it is asked.
    var startCheck: Task<String?, Never>?

    /// Makes the node of its parts.
    ///
    /// - Parameters:
    ///   - invitations: They are watched from now on.
    ///   - clients: Those of the invitations that the presence knows.
    ///   - transports: The programs that the torrc names.
    init(
        _ settings: Settings, host: NodeHost, log: Logger, presence: OnionPresence,
        gateways: [GatewayAssembly.AppGateways], store: NodeStore, doors: NodeDoors,
        history: NodeHistory, invitations: Invitations, clients: Set<ClientKey>?,
        transports: TransportPrograms, restart: @escaping @EventLoop () -> Void
    ) {
        (self.settings, self.host, self.log, self.restart) = (settings, host, log, restart)
        (self.presence, self.gateways, self.store) = (presence, gateways, store)
        self.doors = doors
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

    /// Tells features which parts of the node are not what they were.
    package func tell(_ parts: ChangedParts) { for companion in companions { companion.changed(parts) } }

    /// Returns what a feature has beside the node, by its type; `nil`: the program was built without it.
    package func companion<Wanted: NodeCompanion>(_ type: Wanted.Type) -> Wanted? {
        for companion in companions { if let found = companion as? Wanted { return found } }
        return nil
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
