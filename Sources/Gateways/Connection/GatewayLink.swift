import Logging
import Reactor
import Relay
import TLS

/// The way to one host: its connections, opened, replaced and multiplied as needed.
///
/// One connection is kept at all times. Another is opened at once when one goes away or is drained, and further ones
/// while all are as full as the gateway lets them be.
@EventLoop
final class GatewayLink: ConnectionOwner {
    struct Settings {
        var url: GatewayURL
        /// Spoken where ALPN doesn't say which.
        var version: GatewayConnection.HTTPVersion
        /// Only one request on a new connection until it was answered: APNs with a provider token.
        var needsProof = false
        var limits = ConnectionLife.Limits()
        /// Connections at once; HTTP/1.1, which takes one request at a time, gets twice as many.
        var connections = 4
    }

    /// Called at the end of a turn in which ``room`` rose from 0, and when ``fault`` appears.
    var onRoom: (@EventLoop () -> Void)?
    /// Whether a GOAWAY's word says that the operator must mend something.
    var isFault: (String) -> Bool = { _ in false }
    private(set) var figures = GatewayFigures()

    private let settings: Settings
    private var context: TLSContext?
    private let log: Logger
    private var connections: [GatewayConnection] = []
    private var pace = OpeningPace()
    private var random = SystemRandomNumberGenerator()
    private var isRunning = false
    private var lacksRoom = true
    private var starvedAt = Int64.min
    private var openLater: Timer!
    private var growLater: Timer!
    private var endOfTurn: EndOfTurn!

    /// How long all connections must be full before another is opened.
    private static let growthDelay: Duration = .milliseconds(250)

    /// - Parameter context: `nil` for plain HTTP.
    init(_ settings: Settings, context: TLSContext?, log: Logger) {
        self.settings = settings
        self.context = context
        self.log = log
        openLater = Timer { [unowned self] in maintain() }
        growLater = Timer { [unowned self] in grow() }
        endOfTurn = EndOfTurn { [unowned self] in
            maintain()
            tellOfRoom()
        }
    }

    func start() {
        isRunning = true
        maintain()
    }

    /// Takes nothing more. Connections close when what is on its way has ended.
    func stop() {
        isRunning = false
        openLater.stop()
        for connection in connections { connection.drain() }
    }

    /// Other credentials: present connections are drained, and new ones opened.
    func use(_ context: TLSContext?) {
        self.context = context
        figures.fault = nil
        pace.reset(at: EventLoop.monotonicNanoseconds)
        for connection in connections { connection.drain() }
        endOfTurn.schedule()
    }

    /// How many more requests can be sent now.
    var room: Int {
        guard isRunning else { return 0 }
        var room = 0
        for connection in connections { room += connection.room }
        if room == 0 { noteStarvation() }
        return room
    }

    /// The connection with the most room.
    var roomiest: GatewayConnection? {
        guard isRunning else { return nil }
        var best: GatewayConnection?
        var bestRoom = 0
        for connection in connections where connection.room > bestRoom {
            best = connection
            bestRoom = connection.room
        }
        return best
    }

    /// A notification was taken: credentials, host and clock are right.
    func accepted() {
        figures.lastAccepted = EventLoop.unixMilliseconds
        figures.fault = nil
        figures.refusedTokensInARow = 0
    }

    /// Changes the figures that only the gateway knows.
    func note(_ change: (inout GatewayFigures) -> Void) { change(&figures) }

    private func noteStarvation() {
        lacksRoom = true
        starvedAt = EventLoop.monotonicNanoseconds
        if !growLater.isRunning, connections.contains(where: \.isFull) {
            growLater.start(after: GatewayLink.growthDelay)
        }
    }

    private func tellOfRoom() {
        guard lacksRoom, room > 0 || figures.fault != nil else { return }
        lacksRoom = false
        onRoom?()
    }

    // MARK: Opening

    private var usable: [GatewayConnection] { connections.filter { $0.life.phase != .draining } }

    private func maintain() {
        guard isRunning, usable.isEmpty else { return }
        open()
    }

    private func grow() {
        let usable = usable
        let isSequential = usable.contains { $0.version == .http1 }
        guard isRunning, usable.count < (isSequential ? 2 : 1) * settings.connections,
            usable.allSatisfy(\.isFull),
            EventLoop.monotonicNanoseconds - starvedAt < GatewayLink.growthDelay.nanoseconds
        else { return }
        open()
    }

    private func open() {
        let now = EventLoop.monotonicNanoseconds
        let next = pace.nextOpening(at: now)
        guard next <= now else {
            openLater.start(after: .nanoseconds(next - now))
            return
        }
        pace.opening(at: now)
        figures.connectionsOpened += 1
        connections.append(
            GatewayConnection(
                to: settings.url, context, version: settings.version, needsProof: settings.needsProof,
                limits: settings.limits, owner: self))
        figures.connections = connections.count
    }

    // MARK: What connections tell

    func connectionChanged(_ connection: GatewayConnection) {
        endOfTurn.schedule()
    }

    func connection(_ connection: GatewayConnection, goesAwayFor word: String?) {
        GatewayFigures.count(word, in: &figures.goAways)
        log.notice(
            "gateway.goaway",
            metadata: ["host": "\(settings.url.authority)", "reason": "\(word ?? "-")"])
        if let word, isFault(word) { figures.fault = word }
    }

    func isSpare(_ connection: GatewayConnection) -> Bool {
        connections.contains { $0 !== connection && $0.life.phase == .open }
    }

    func connectionEnded(_ connection: GatewayConnection, _ end: ConnectionEnd) {
        connections.removeAll { $0 === connection }
        figures.connections = connections.count
        let failures = pace.failures
        pace.ended(
            answers: connection.life.answers, openedAt: connection.life.startedAt,
            at: EventLoop.monotonicNanoseconds, using: &random)
        switch end {
        case .finished(let reason):
            log.debug(
                "gateway.closed", metadata: ["host": "\(settings.url.authority)", "reason": "\(reason)"])
        case .broken(let reason): tell(reason, isRepeated: failures > 0)
        case .untrusted(let reason):
            figures.fault = "TLS"
            tell(reason, isRepeated: failures > 0)
        }
        if pace.failures > failures { figures.connectionFailures += 1 }
        endOfTurn.schedule()
    }

    /// A host that is away fails every minute; it is told once.
    private func tell(_ reason: String, isRepeated: Bool) {
        let isNews = figures.lastError != reason
        figures.lastError = reason
        log.log(
            level: isNews || !isRepeated ? .warning : .debug, "gateway.connection",
            metadata: ["host": "\(settings.url.authority)", "reason": "\(reason)"])
    }
}
