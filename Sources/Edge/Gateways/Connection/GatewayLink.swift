import Clocks
import Encodings
import Figures
import Logging
import Reactor
import Relay
import TLS

/// The address at which a gateway is called, and the life of its connections.
struct GatewayLinkSettings {
    var url: GatewayURL
    var egress = Egress.direct
    /// The version of HTTP where ALPN doesn't say which.
    var version: GatewayConnection.HTTPVersion
    /// Whether a new connection takes only one request until that was answered: APNs with a provider token.
    var needsProof = false
    var limits = ConnectionLife.Limits()
    /// Connections at once; HTTP/1.1, which takes one request at a time, gets twice as many.
    var connections = 4
    /// The connections of HTTP/1.1, if not twice as many.
    var sequentialConnections: Int?
    var lookUp = Dial.systemLookup
    /// Whether a stranger chose the host: then no log and no report names it.
    var hidesHost = false
}

/// The way to one host: its connections, opened, replaced and multiplied as needed.
///
/// A connection is opened when something is to be sent, or somebody wants to know whether that can be done (``look(then:)``),
/// and further ones while all are as full as the gateway lets them be.
@EventLoop
final class GatewayLink: ConnectionOwner {
    /// Called at the end of a turn in which ``room`` rose from 0, and when ``fault`` appears.
    var onRoom: (@EventLoop () -> Void)?
    /// Called when a connection failed, soon after or before it stood.
    var onFailure: (@EventLoop () -> Void)?
    /// Whether a GOAWAY's word says that the operator must mend something.
    var isFault: (String) -> Bool = { _ in false }
    /// The fault that the operator must mend before anything can be delivered; `nil` when nothing is known to be wrong.
    var fault: String? { faultReason?.text }
    private var faultReason: ExchangeReason?
    /// Whether the fault is that the host is not who it must be, or does not take the node's certificate.
    var isUntrusted: Bool { faultReason == .own(.tls) }
    /// The date of the last answer.
    var date: AnswerDate?

    private let settings: GatewayLinkSettings
    // No closure holds the unchecked ones inout, so exclusivity needs no check at run time.
    @exclusivity(unchecked) var counted = GatewayFigures()
    @exclusivity(unchecked) var refusedDevices = RefusedDevices()
    @exclusivity(unchecked) var wished = WishedPause()
    private var endedRequests = 0
    private var context: TLSContext?
    let log: Logger
    @exclusivity(unchecked) private var connections: [GatewayConnection] = []
    @exclusivity(unchecked) private var demand = LinkDemand()
    private var random = SystemRandomNumberGenerator()
    private var starvedAt = MonotonicTime.longAgo
    private let looks = LinkLooks()
    private let openLater = Timer()
    private let growLater = Timer()
    private let endOfTurn = EndOfTurn()
    /// The time for which all connections must be full before another is opened.
    private static let growthDelay: Duration = .milliseconds(250)

    /// Makes a link; without a TLS context it is for plain HTTP.
    init(_ settings: GatewayLinkSettings, context: TLSContext?, log: Logger) {
        self.settings = settings
        self.context = context
        self.log = log
        openLater.action = { [unowned self] in maintain() }
        growLater.action = { [unowned self] in grow() }
        endOfTurn.action = { [unowned self] in
            maintain()
            tellOfRoom()
        }
        looks.onEnd = { [unowned self] in
            for connection in connections where connection.life.phase == .open && connection.requests == 0 {
                connection.drain()
            }
        }
    }

    func start() {
        demand.isRunning = true
        maintain()
    }

    /// Takes nothing more. Connections close when what is on its way has ended.
    func stop() {
        demand.isRunning = false
        openLater.stop()
        for connection in connections { connection.drain() }
        looks.end()
    }

    /// Takes other credentials: present connections are drained, and new ones opened.
    func use(_ context: TLSContext?) {
        self.context = context
        mended()
        demand.pace.reset(at: EventLoop.now)
        for connection in connections {
            connection.isOutdated = true
            connection.drain()
        }
        endOfTurn.schedule()
    }

    /// The number of further requests that can be sent now.
    var room: Int {
        guard demand.isRunning else { return 0 }
        var room = 0
        for connection in connections { room += connection.room }
        return room
    }

    /// The connection with the most room.
    var roomiest: GatewayConnection? {
        guard demand.isRunning else { return nil }
        if connections.count == 1 {
            let only = connections[0]
            return only.room > 0 ? only : nil
        }
        var best: GatewayConnection?
        var bestRoom = 0
        for connection in connections where connection.room > bestRoom {
            best = connection
            bestRoom = connection.room
        }
        return best
    }

    var figures: GatewayFigures {
        var figures = counted
        figures.fault = fault
        figures.wish = wished.wish
        figures.connections = connections.count
        figures.isResting = demand.isResting
        figures.inFlight = connections.reduce(0) { $0 + $1.life.inFlight }
        figures.requests = connections.reduce(endedRequests) { $0 + $1.requests }
        return figures
    }

    /// The host's name, as the operator reads it.
    var name: String { settings.hidesHost ? LaneHost.others.name : settings.url.authority }

    func note(fault word: String) { faultReason = .word(word) }
    /// Forgets the fault: what was wrong is so no more.
    func mended() { faultReason = nil }
    func note(certificateEnd: Int64) { counted.certificateEnd = certificateEnd }

    /// Notes that more waits than ``room`` lets through: when that lasts, another connection is opened.
    ///
    /// - Parameter reserved: The part of the room that something else is about to take.
    func noteBacklog(beyond reserved: Int = 0) {
        guard room <= reserved else { return }
        want(beyond: reserved)
        // What waits since before the start is seen before it.
        guard demand.isRunning else { return }
        starvedAt = EventLoop.now
        for connection in connections { connection.noteBacklog() }
        if !growLater.isRunning, connections.contains(where: \.isFull) {
            growLater.start(after: GatewayLink.growthDelay)
        }
    }

    /// Sees to it that there is a connection.
    func want() { want(beyond: 0) }

    /// Sees whether the host can be reached, by a connection that is closed again unless something is sent over it. One that
    /// fails is tried again until one stands.
    ///
    /// - Parameter end: Called once: when a connection has stood for a moment, or failed.
    func look(then end: @escaping @EventLoop () -> Void) {
        guard demand.isRunning else { return end() }
        looks.begin(end)
        if connections.contains(where: { $0.life.phase == .open }) { looks.reached() } else { want() }
    }

    private func want(beyond reserved: Int) {
        let isOpening = openLater.isRunning || !usable.isEmpty
        if demand.want(room: room - reserved, isOpening: isOpening) { endOfTurn.schedule() }
    }

    /// Opens the next connection at once, if one is needed: the operator wants it.
    func retryNow() {
        demand.pace.reset(at: EventLoop.now)
        openLater.stop()
        endOfTurn.schedule()
    }

    /// Notes that there is no need for a connection any more.
    func rest() {
        demand.rest()
        openLater.stop()
    }

    private func tellOfRoom() {
        if demand.takeNews(room: room, hasFault: faultReason != nil) { onRoom?() }
    }

    // MARK: Opening

    private var usable: [GatewayConnection] { connections.filter { $0.life.phase != .draining } }

    private func maintain() {
        if demand.needsConnection(hasUsable: !usable.isEmpty) { open() }
    }

    private func grow() {
        let usable = usable
        let isSequential = usable.contains { $0.version == .http1 }
        let most =
            isSequential ? settings.sequentialConnections ?? 2 * settings.connections : settings.connections
        guard demand.isRunning, usable.count < most,
            usable.allSatisfy(\.isFull), EventLoop.now - starvedAt < GatewayLink.growthDelay
        else { return }
        open()
    }

    private func open() {
        let now = EventLoop.now
        let next = demand.pace.nextOpening(at: now)
        guard next <= now else {
            openLater.start(after: next - now)
            return
        }
        demand.pace.opening(at: now)
        counted.connectionsOpened += 1
        connections.append(
            GatewayConnection(
                to: settings.url, by: settings.egress, context, version: settings.version,
                needsProof: settings.needsProof, limits: settings.limits, lookUp: settings.lookUp,
                owner: self))
    }

    // MARK: What connections tell

    func connectionChanged(_ connection: GatewayConnection) {
        // Its certificate was taken, and so was ours.
        if connection.life.phase == .open {
            if isUntrusted { mended() }
            // Of an earlier one.
            if counted.lastError != nil { counted.lastError = nil }
            looks.reached()
        }
        endOfTurn.schedule()
    }

    func connection(_ connection: GatewayConnection, goesAwayFor word: String?) {
        counted.goAways.add(word ?? "-")
        log.notice("gateway.goaway_received", metadata: ["host": "\(name)", "reason": "\(word ?? "-")"])
        // What is said of the credentials of before says nothing of the present ones.
        if let word, isFault(word), !connection.isOutdated { note(fault: word) }
    }

    func connection(_ connection: GatewayConnection, answeredAfter time: Duration) {
        counted.answerTime.add(time.nanoseconds)
    }

    func connectionOnlyFails(_ connection: GatewayConnection) {
        guard demand.pace.takeReplacement(at: EventLoop.now) else { return }
        log.notice("gateway.connection_replaced", metadata: ["host": "\(name)"])
        connection.drain()
    }

    func isSpare(_ connection: GatewayConnection) -> Bool {
        connections.contains { $0 !== connection && $0.life.phase == .open }
    }

    func connectionEnded(_ connection: GatewayConnection, _ end: ConnectionEnd) {
        connections.removeAll { $0 === connection }
        looks.end()
        endedRequests += connection.requests
        let failures = demand.pace.failures
        let meaning = demand.ended(
            connection.life, requests: connection.requests, isOurs: connection.isOutdated || end.isOurs,
            isCutOff: end.isCutOff, at: EventLoop.now, using: &random)
        endOfTurn.schedule()
        guard meaning != .looked else { return }
        switch end {
        case .finished(let reason), .unneeded(let reason):
            log.debug(
                "gateway.connection_closed",
                metadata: ["host": "\(name)", "reason": "\(reason)"])
        case .broken(let reason), .cutOff(let reason):
            // Texts of the system name the host.
            tell(settings.hidesHost ? .own(.unreachable) : reason, isRepeated: failures > 0)
        case .untrusted(let reason):
            faultReason = .own(.tls)
            tell(settings.hidesHost ? .own(.tls) : .system(reason), isRepeated: failures > 0)
        }
        guard meaning == .failure else { return }
        counted.connectionFailures += 1
        onFailure?()
    }

    /// Logs a failure. A host that is away fails every minute, and is logged once.
    private func tell(_ failure: ExchangeReason, isRepeated: Bool) {
        let reason = failure.text
        let isNews = counted.lastError != reason
        counted.lastError = reason
        log.log(
            level: isNews || !isRepeated ? .warning : .debug, "gateway.connection_failed",
            metadata: ["host": "\(name)", "reason": "\(reason)"])
    }
}
