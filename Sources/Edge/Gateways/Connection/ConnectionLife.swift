import Clocks
import Relay

/// The life of one connection to a gateway: whether it may take another request, and when it must prove that it lives.
///
/// Facts come in as arguments; nothing here waits.
struct ConnectionLife: Equatable, Sendable {
    struct Limits: Equatable, Sendable {
        /// The time for lookup, TCP, TLS and the first SETTINGS together.
        var setup: Duration = .seconds(30)
        /// The time without a byte from the gateway, and with no request on its way, after which a PING asks
        /// for one.
        var idle: Duration = .seconds(60)
        /// The time without a byte from the gateway, while a request waits for its answer, after which a PING
        /// asks for one.
        var unanswered: Duration = .seconds(10)
        /// The time for the answer to a PING: any byte will do.
        var ping: Duration = .seconds(10)
        /// The time for the answer to a request; then its outcome is unclear.
        var request: Duration = .seconds(20)
        /// The time with nothing to do after which a further connection, opened because the first was full,
        /// is closed.
        var spare: Duration = .seconds(600)
        /// The longest time without room for a request, while one waits for it and none is on its way.
        var starved: Duration = .seconds(60)
        /// The time for which a connection may only fail before another one takes its place.
        var failing: Duration = .seconds(10)
        /// Requests on their way at once, whatever the gateway allows.
        var inFlight = 500
        /// The time without a request after which the connection is closed; the next one is opened when there is a request.
        var rest: Duration = .seconds(3600)
    }

    enum Phase: Equatable, Sendable {
        case settingUp
        case open
        /// Takes nothing more; what is on its way may end.
        case draining
    }

    let limits: Limits
    let startedAt: MonotonicTime
    private(set) var phase = Phase.settingUp
    /// The time since when the connection stands: TCP, TLS and the first SETTINGS worked. `nil`: it never stood.
    private(set) var openedAt: MonotonicTime?
    /// Whether the gateway has taken our credentials: it answered a request otherwise than by refusing them.
    private(set) var isProven: Bool
    private(set) var inFlight = 0
    private(set) var answers = 0
    /// Whether nothing was sent yet.
    private var isUnused = true
    private var lastReceived: MonotonicTime
    private var lastAnswer: MonotonicTime
    /// The time since when something is on its way without pause, or since when nothing is.
    private var changedAt: MonotonicTime
    private var pingedAt: MonotonicTime?
    /// Requests that failed with nothing taken between them, and when the first of them did.
    private var failures = 0
    private var failingSince: MonotonicTime = 0

    /// The time for which an unused connection stands. It was opened to see whether the gateway can be reached, or its
    /// notification is gone.
    static let unusedRest: Duration = .seconds(3)
    /// One failure may be its request's.
    static let fewFailures = 2

    /// Makes the life of a new connection.
    ///
    /// - Parameter needsProof: Whether only one request may be on its way until one was answered, as with an
    ///   APNs provider token.
    init(limits: Limits = Limits(), needsProof: Bool, at time: MonotonicTime) {
        self.limits = limits
        isProven = !needsProof
        startedAt = time
        lastReceived = time
        changedAt = time
        lastAnswer = time
    }

    /// Returns the number of further requests that may be handed to the connection.
    ///
    /// - Parameter freeStreams: The free streams by the gateway's last SETTINGS; below 0 when they took back
    ///   what they had allowed.
    func room(freeStreams: Int) -> Int {
        guard phase == .open else { return 0 }
        let bound = isProven ? limits.inFlight : 1
        return max(0, min(freeStreams, bound - inFlight))
    }

    /// Whether more connections could help: this one is as full as the gateway lets it be.
    func isFull(freeStreams: Int) -> Bool {
        phase == .open && isProven && inFlight > 0 && room(freeStreams: freeStreams) == 0
    }

    mutating func received(at time: MonotonicTime) {
        lastReceived = time
        pingedAt = nil
    }

    mutating func opened(at time: MonotonicTime) {
        guard phase == .settingUp else { return }
        phase = .open
        openedAt = time
    }

    mutating func drain() { phase = .draining }

    mutating func sent(at time: MonotonicTime) {
        if inFlight == 0 { changedAt = time }
        isUnused = false
        inFlight += 1
    }

    mutating func ended(wasAnswered: Bool, at time: MonotonicTime) {
        inFlight -= 1
        if inFlight == 0 { changedAt = time }
        guard wasAnswered else { return }
        answers += 1
        lastAnswer = time
    }

    mutating func proved() { isProven = true }

    /// The sign that the end of a request gives of the connection.
    enum Sign: Equatable {
        case works
        case fails
        /// The gateway refuses what was asked.
        case nothing
    }

    mutating func note(_ sign: Sign, at time: MonotonicTime) {
        switch sign {
        case .works: failures = 0
        case .fails:
            if failures == 0 { failingSince = time }
            failures += 1
        case .nothing: break
        }
    }

    /// Whether all that comes over the connection fails, and has for a while: what stands behind it may be
    /// broken, and another connection may lead elsewhere.
    func onlyFails(at time: MonotonicTime) -> Bool {
        phase == .open && failures >= ConnectionLife.fewFailures
            && time - failingSince >= limits.failing
    }

    /// Notes that a request had no answer in time. If no other request had an answer either since it was
    /// sent, the gateway takes and doesn't give: the connection is drained, and another one opened.
    mutating func timedOut(sentAt: MonotonicTime) {
        if lastAnswer <= sentAt { drain() }
    }

    enum Check: Equatable {
        case wait(until: MonotonicTime)
        case ping
        case end(End)
    }

    /// The reason why a connection ends by itself.
    enum End: Equatable {
        /// The connection took nothing more, and all its requests have ended.
        case drained
        /// Another connection does its work.
        case spare
        /// There is no work.
        case unused
        case setupTimeout
        /// The gateway has not answered a PING.
        case silent
        /// The gateway has allowed no request for too long.
        case starved
    }

    /// The time at which the connection has had nothing to do for long enough. Its setup may take longer than that.
    private var restEnd: MonotonicTime {
        guard phase == .open, inFlight == 0 else { return .max }
        let rest = isUnused ? min(limits.rest, ConnectionLife.unusedRest) : limits.rest
        return max(changedAt, openedAt ?? startedAt) + rest
    }

    /// Returns the next step of the connection.
    ///
    /// - Parameters:
    ///   - isSpare: Whether another connection is open that can do its work.
    ///   - starvedSince: The time since which the gateway allows no request that waits; `nil`: it does.
    mutating func check(at time: MonotonicTime, isSpare: Bool, starvedSince: MonotonicTime? = nil) -> Check {
        if let starvedSince, phase == .open, inFlight == 0, time >= starvedSince + limits.starved {
            return .end(.starved)
        }
        switch phase {
        case .settingUp:
            let end = startedAt + limits.setup
            return time >= end ? .end(.setupTimeout) : .wait(until: end)
        case .draining where inFlight == 0:
            return .end(.drained)
        case .open where isSpare && inFlight == 0 && time >= changedAt + limits.spare:
            return .end(.spare)
        case .open, .draining:
            let rest = starvedSince == nil ? restEnd : .max
            guard time < rest else { return .end(.unused) }
            if let pingedAt {
                let end = pingedAt + limits.ping
                return time >= end ? .end(.silent) : .wait(until: min(end, rest))
            }
            let patience = inFlight > 0 ? limits.unanswered : limits.idle
            let end = (inFlight > 0 ? max(lastReceived, changedAt) : lastReceived) + patience
            guard end + limits.ping < rest else { return .wait(until: rest) }
            guard time >= end else { return .wait(until: end) }
            pingedAt = time
            return .ping
        }
    }
}
