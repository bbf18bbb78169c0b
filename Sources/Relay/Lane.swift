/// One app at one host: what is ready for it, and whether it may be used now.
package struct Lane: Sendable {
    struct Ready: Comparable, Sendable {
        /// Those that failed as a trial last, until the lane recovers; urgent before not urgent; then oldest first.
        let rank: UInt64
        let sequence: Int64
        let slot: Int

        static func < (left: Ready, right: Ready) -> Bool { left.rank < right.rank }
    }

    struct Postponed: Comparable, Sendable {
        let due: Int64
        let sequence: Int64
        let slot: Int

        static func < (left: Postponed, right: Postponed) -> Bool {
            (left.due, left.sequence) < (right.due, right.sequence)
        }
    }

    package enum Condition: Equatable, Sendable {
        case open
        /// After a pause: one notification at a time until the gateway has answered one.
        case trying
        case paused(until: Int64)
    }

    package let id: LaneID
    /// How it is named where a person or a log reads.
    package let shown: LaneID
    /// Its place is free for another one.
    package internal(set) var isGone = false
    /// Without one nothing is sent, and what waits is kept.
    var hasGateway = false
    /// Notifications in memory.
    var count = 0
    /// Those of them on their way into the outbox.
    var storing = 0
    /// Notifications in the backlog that are not in memory, and those on their way there.
    var shelved = 0
    /// Monotonic nanoseconds at which about the oldest of them was submitted.
    var oldestShelvedAt: Int64?
    /// Monotonic nanoseconds from which on there may be something to claim.
    var claimAt = Int64.max
    var isClaiming = false
    /// Devices that a commit still has to put into the backlog: nothing is claimed before.
    var shelving = 0
    /// Monotonic nanoseconds since when it has been seen without notifications; `nil`: it has some.
    var idleSince: Int64?
    /// Bodies are being read: what would come next is among them.
    var isLoading = false
    /// Something may have become due: see ``Pipeline/takeStirred(_:)``.
    var isStirred = false
    /// Monotonic nanoseconds at which something is due; `.max`: when something changes.
    var wakeAt = Int64.max
    var trouble = LaneTrouble()
    var ready = Heap<Ready>()
    var postponed = Heap<Postponed>()
    /// Some in ``ready`` are ranked by it.
    private var hasFailedTrials = false
    package private(set) var condition = Condition.open
    package private(set) var inFlight = 0
    /// Pauses in a row without an answer between them.
    private var failures = 0
    /// How often a trial was answered.
    private(set) var recoveries = 0
    /// The gateway's word for what the operator has to mend; `nil` when there is nothing.
    package private(set) var blockedReason: String?
    /// Since when, in monotonic nanoseconds; `nil` as the reason.
    package private(set) var blockedSince: Int64?

    static let shortestBlock: Duration = .seconds(60)

    init(id: LaneID, shown: LaneID? = nil) {
        self.id = id
        self.shown = shown ?? LaneID(app: id.app, host: id.host.isOrigin ? .others : id.host)
    }

    /// - Parameter failedTrials: Up to 127.
    mutating func addReady(_ slot: Int, sequence: Int64, isUrgent: Bool, failedTrials: UInt8 = 0) {
        if failedTrials > 0 { hasFailedTrials = true }
        let rank = UInt64(sequence) | (isUrgent ? 0 : 1 << 56) | UInt64(failedTrials) << 57
        ready.insert(Ready(rank: rank, sequence: sequence, slot: slot))
    }

    /// Forgets who failed as a trial.
    mutating func rankAnew() {
        guard hasFailedTrials else { return }
        hasFailedTrials = false
        ready.change { ready in
            Ready(rank: ready.rank & (1 << 57 - 1), sequence: ready.sequence, slot: ready.slot)
        }
    }

    /// Whether another one may be sent now; ends a pause whose time has come.
    mutating func mayBegin(at time: Int64) -> Bool {
        switch condition {
        case .open: return true
        case .trying: return inFlight == 0
        case .paused(let until):
            guard time >= until else { return false }
            condition = .trying
            return inFlight == 0
        }
    }

    mutating func began() { inFlight += 1 }
    mutating func ended() { inFlight -= 1 }

    /// The gateway has judged a notification: it works.
    ///
    /// - Returns: Whether a trial was answered: those that failed as trials are ranked as all others again.
    mutating func answered() -> Bool {
        // Of those sent before a pause one may still be answered: that says nothing of what came after it.
        if case .paused = condition { return false }
        let isRecovery = condition == .trying
        if isRecovery { recoveries += 1 }
        failures = 0
        blockedReason = nil
        blockedSince = nil
        condition = .open
        return isRecovery
    }

    /// The gateway is overloaded or away: nothing begins until then. Of many that fail together one counts.
    mutating func pause(
        atLeast asked: Duration?, at time: Int64, policy: RetryPolicy,
        using random: inout some RandomNumberGenerator
    ) {
        if case .paused(let until) = condition {
            condition = .paused(until: max(until, time + policy.obeyed(asked).nanoseconds))
            return
        }
        failures += 1
        let delay = policy.delay(afterAttempts: failures, atLeast: asked, using: &random)
        condition = .paused(until: time + delay.nanoseconds)
    }

    /// Credentials, topic or clock are wrong: a try a minute at first, then rarer, until one is answered.
    mutating func block(
        reason: String, at time: Int64, policy: RetryPolicy, using random: inout some RandomNumberGenerator
    ) {
        blockedReason = reason
        blockedSince = blockedSince ?? time
        pause(atLeast: Lane.shortestBlock, at: time, policy: policy, using: &random)
    }

    /// The operator has changed something: try at once.
    mutating func resume() {
        failures = 0
        if case .paused = condition { condition = .trying }
    }
}
