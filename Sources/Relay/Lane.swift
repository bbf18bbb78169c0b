/// One app at one host: what is ready for it, and whether it may be used now.
package struct Lane: Sendable {
    struct Ready: Comparable, Sendable {
        /// Urgent before not urgent; then oldest first.
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
        /// After a pause: a few notifications at a time until the gateway has answered one.
        case trying
        case paused(until: Int64)
    }

    /// One that has failed as the gateway does, and waits by itself until the gateway is known to work.
    struct Suspended: Sendable {
        let slot: Int
        var sequence: Int64
        /// Monotonic nanoseconds until which it is put off, and before which the gateway doesn't want it.
        let due: Int64
        let asked: Int64
    }

    package let id: LaneID
    /// How it is named where a person or a log reads.
    package let shown: LaneID
    /// Its place is free for another one.
    package internal(set) var isGone = false
    /// Without one nothing is sent, and what waits is kept.
    package internal(set) var hasGateway = false
    /// Its gateway had a fault when it was looked at last.
    var hasFault = false
    /// All that waits, in memory or not, and what is on its way into the outbox.
    var taken = Room()
    /// Whether anything is for it.
    package var hasSome: Bool { taken.count > 0 || count > 0 }
    /// Who has brought what while so much waited that it matters.
    private var brought = SenderCounts()
    /// Its gateway has taken one since the start, or had some left for it then.
    var isProven = false
    /// Monotonic nanoseconds at which one was last turned away for want of room; `nil`: none was.
    package internal(set) var fullAt: Int64?
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
    /// What is on disk only, up to this number, is claimed to end: the operator gives it up.
    var givenUpTo: Int64?
    /// The operator wants what is on disk with a number up to this tried whenever it is due.
    var hurriedTo: Int64?
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
    var suspicion = Suspicion()
    var window = LaneWindow()
    /// Whether it answers within ``Pipeline/writeBehind`` and ``Pipeline/shortWindow``.
    var promptness = Promptness()
    var shortPromptness = Promptness()
    var suspended: [Suspended] = []
    var ready = Heap<Ready>()
    var postponed = Heap<Postponed>()
    package private(set) var condition = Condition.open
    package private(set) var inFlight = 0
    /// Pauses in a row without an answer between them.
    private(set) var failures = 0
    /// Monotonic nanoseconds: since when it is not open, and before when the gateway wants nothing.
    private(set) var pausedAt: Int64 = 0
    private(set) var askedUntil: Int64 = 0
    /// The outbox has a ``LaneRecord`` of it, or will.
    var isRecorded = false
    /// The gateway's word for what the operator has to mend; `nil` when there is nothing.
    package private(set) var blockedReason: String?
    /// Since when, in monotonic nanoseconds; `nil` as the reason.
    package private(set) var blockedSince: Int64?

    /// Whatever a gateway's back-off has come to, and for one device that is blocked alone.
    static let longestPause: Duration = .seconds(60)
    static let shortestBlock: Duration = .seconds(60)
    /// Notifications that try at once when a pause is over: more each time, so that a few that always fail don't keep one
    /// that would not from its turn.
    static let trials = 3
    static let mostTrials = 48

    /// Places and bytes.
    struct Room: Equatable, Sendable {
        var count = 0
        var bytes = 0

        mutating func take(_ size: Int) {
            count += 1
            bytes += size
        }

        mutating func release(_ size: Int) {
            count -= 1
            bytes -= size
        }

        mutating func add(_ other: Room) {
            count += other.count
            bytes += other.bytes
        }
    }

    /// So many may wait, and a sender may bring so many, before its share is looked at.
    private static let uncounted = Admission.leastShare / 4

    mutating func take(_ size: Int, from sender: SenderID?) {
        if taken.count < Lane.uncounted {
            brought.forget()
        } else if let sender {
            brought.add(sender)
        }
        taken.take(size)
    }

    /// See ``Admission/hasRoom(for:isProven:senderBroughtMuch:)``.
    func hasMuch(of sender: SenderID?) -> Bool {
        guard taken.count >= Lane.uncounted, let sender else { return false }
        return brought[sender] >= Lane.uncounted
    }

    init(id: LaneID, shown: LaneID? = nil) {
        self.id = id
        self.shown = shown ?? LaneID(app: id.app, host: id.host.isOrigin ? .others : id.host)
    }

    mutating func addReady(_ slot: Int, sequence: Int64, isUrgent: Bool) {
        let rank = UInt64(sequence) | (isUrgent ? 0 : 1 << 56)
        ready.insert(Ready(rank: rank, sequence: sequence, slot: slot))
    }

    /// Whether another one may be sent now; ends a pause whose time has come.
    mutating func mayBegin(at time: Int64) -> Bool {
        if case .paused(let until) = condition {
            guard time >= until else { return false }
            condition = .trying
        }
        let limit = condition == .open ? window.limit(at: time) : trials
        return inFlight < limit
    }

    private var trials: Int { min(Lane.trials << min(max(0, failures - 1), 8), Lane.mostTrials) }

    /// The outbox has numbered one that failed before it was stored.
    mutating func renumberSuspended(_ slot: Int, from before: Int64, to sequence: Int64) {
        for index in suspended.indices
        where suspended[index].slot == slot && suspended[index].sequence == before {
            suspended[index].sequence = sequence
        }
    }

    mutating func began() { inFlight += 1 }
    mutating func ended() { inFlight -= 1 }

    /// The gateway has judged a notification for this device: it works.
    ///
    /// - Returns: Whether some have failed since it last did: they are sent again.
    mutating func answered(_ token: Digest, at time: Int64) -> Bool {
        let isRecovery = suspicion.answered(token)
        failures = 0
        blockedReason = nil
        blockedSince = nil
        switch condition {
        case .open: window.answered()
        // What it asked for holds all the same.
        case .paused where askedUntil > time: condition = .paused(until: askedUntil)
        case .paused, .trying:
            condition = .open
            window.restart(after: .nanoseconds(time - pausedAt), at: time)
        }
        return isRecovery
    }

    /// The gateway is overloaded or away: nothing begins until then. Of many that fail together one counts.
    mutating func pause(
        atLeast asked: Duration?, at time: Int64, policy: RetryPolicy,
        using random: inout some RandomNumberGenerator
    ) {
        askedUntil = max(askedUntil, time + policy.obeyed(asked).nanoseconds)
        if case .paused(let until) = condition {
            condition = .paused(until: max(until, askedUntil))
            return
        }
        if condition == .open { pausedAt = time }
        failures += 1
        let own = policy.delay(afterAttempts: failures, atLeast: nil, using: &random)
        condition = .paused(until: max(time + min(own, Lane.longestPause).nanoseconds, askedUntil))
    }

    /// Goes on with a pause of the last process.
    mutating func restore(until: Int64, asked: Int64, pausedAt: Int64, failures: Int, at time: Int64) {
        self.failures = failures
        self.pausedAt = pausedAt
        askedUntil = asked
        condition = until > time ? .paused(until: until) : .trying
    }

    /// Credentials, topic or clock are wrong.
    mutating func block(reason: String, at time: Int64) {
        blockedReason = reason
        blockedSince = blockedSince ?? time
    }

    /// The operator has changed something: try at once.
    mutating func resume() {
        failures = 0
        askedUntil = 0
        suspicion = Suspicion()
        if case .paused = condition { condition = .trying }
    }
}
