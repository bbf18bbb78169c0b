import Clocks

/// One app at one host: what is ready for it, and whether it may be used now.
package struct Lane: Sendable {
    package enum Condition: Equatable, Sendable {
        case open
        /// The lane tries after a pause: a few notifications at a time until the gateway has answered one.
        case trying
        case paused(until: MonotonicTime)
    }

    /// A device whose notification has failed as it would if the gateway failed. It
    /// waits by itself until the gateway is known to work.
    struct Suspended: Sendable {
        let token: Digest
        /// The time until which the device is put off.
        let due: MonotonicTime
        /// The time before which the gateway wants nothing for the device.
        let asked: MonotonicTime
    }

    package let id: LaneID
    /// The name of the lane where a person or a log reads.
    package let shown: LaneID
    package internal(set) var stage = LaneStage.bare
    /// All that waits, in memory or not, and what is on its way into the outbox.
    var taken = Room()
    /// Whether the lane has any notifications.
    package var hasSome: Bool { taken.count > 0 || count > 0 }
    /// The counts of what each sender has brought while ``uncounted`` notifications or more waited.
    private var brought = SenderCounts()
    var standing: LaneStanding
    /// The time at which one was last turned away for want of room; `nil`: none was.
    package internal(set) var fullAt: MonotonicTime?
    /// Notifications in memory.
    var count = 0
    /// The number of notifications in memory that are on their way into the outbox.
    var storing = 0
    /// Notifications in the backlog that are not in memory.
    var shelf = LaneShelf()
    var shelved: Int { shelf.count }
    /// The time at which about the oldest of them was submitted.
    var oldestShelvedAt: MonotonicTime?
    var claim = LaneClaim()
    /// `outbox drop` covers every notification on disk up to this number.
    var droppedUpTo: Int64?
    /// The last number of before the start, if the lane was open then: what had failed by then had failed alone.
    var openUpTo: Int64 = 0
    /// The time since when it has been seen without notifications; `nil`: it has some.
    var idleSince: MonotonicTime?
    /// Whether bodies are being read: what would come next is among them.
    var isLoading = false
    /// Whether something may have become due: see ``Pipeline/takeStirred(_:)``.
    var isStirred = false
    /// The time at which something is due; `.max`: when something changes.
    var wakeAt = MonotonicTime.max
    var trouble = LaneTrouble()
    var suspicion = Suspicion<Digest>()
    var window = LaneWindow()
    var promptness = LanePromptness()
    var suspended: [Suspended] = []
    /// Notifications that wait for a way of the gateway, in the order in which they came to wait.
    var wayfarers: [Wayfarer] = []
    var ready = Heap<Ready>()
    var postponed = Heap<Postponed>()
    package private(set) var condition = Condition.open
    package private(set) var inFlight = 0
    private(set) var pause = LanePause()
    /// Pauses in a row without an answer between them.
    var failures: Int { pause.count }
    /// Whether the witnesses against the gateway proved wrong, and it is not known yet whether they fail alone.
    private var isRefuted = false
    /// The number of notifications sent while single devices fail.
    private var mixed = 0
    /// Whether the outbox has a ``LaneRecord`` of it, or will.
    var isRecorded = false
    /// The fault that the operator has to mend; `nil` when there is none.
    package private(set) var block: LaneBlock?

    /// The longest pause, whatever the back-off has come to.
    static let longestPause: Duration = .seconds(60)
    /// The shortest wait of a device that is blocked alone.
    static let shortestBlock: Duration = .seconds(60)
    /// The number of suspended notifications up to which all are tried again by themselves; of more, each the
    /// more rarely.
    static let fewSuspended = 48

    /// The number of notifications that may wait, and that a
    /// sender may bring, before the sender's share counts.
    private static let uncounted = Admission.leastShare / 4

    mutating func take(_ size: Int, from sender: SenderID?) {
        if taken.count < Lane.uncounted {
            brought.forget()
        } else if let sender {
            brought.add(sender)
        }
        taken.take(size)
    }

    /// Counts what a sender has brought no longer: it was not stored.
    mutating func giveBack(from sender: SenderID?) { if let sender { brought.remove(sender) } }

    /// Whether a sender brought enough for its share to count: see
    /// ``Admission/hasRoom(for:isProven:senderBroughtMuch:)``.
    func hasMuch(of sender: SenderID?) -> Bool {
        guard taken.count >= Lane.uncounted, let sender else { return false }
        return brought[sender] >= Lane.uncounted
    }

    init(
        id: LaneID, shown: LaneID? = nil, broughtBy: SenderID? = nil, hasDelivered: Bool = false,
        at time: MonotonicTime = 0
    ) {
        self.id = id
        standing = LaneStanding(broughtBy: broughtBy, hasDelivered: hasDelivered, at: time)
        self.shown = shown ?? LaneID(app: id.app, host: id.host.isOrigin ? .others : id.host)
    }

    mutating func addReady(_ slot: Int, sequence: Int64, isUrgent: Bool) {
        let rank = UInt64(sequence) | (isUrgent ? 0 : 1 << 56)
        ready.insert(Ready(rank: rank, sequence: sequence, slot: slot))
    }

    /// The choice of the notification that may be sent now.
    enum Turn: Equatable, Sendable {
        /// The oldest notification, the urgent before the others.
        case oldest
        /// The newest notification whose device has not failed: if there are any, of a sender that brought no
        /// device that has. If there is none at all, as ``oldest``.
        case newest
        /// The oldest notification of those from which ``newest``
        /// chooses. If there is none at all, as ``oldest``.
        case oldestOther
        /// The notification that ``newest`` chooses, or none.
        case probe
    }

    /// Chooses the next notification while single devices fail. Whatever fails may be the
    /// oldest. Once it is known that single devices fail, most turns go to the other devices,
    /// and to the newest: to more of these than come.
    private func mixedTurn(at time: MonotonicTime) -> Turn {
        let isDoubtful = suspicion.doubts(at: time) > 1
        return switch mixed % 8 {
        case 0: .oldest
        case 4: isDoubtful ? .oldestOther : .oldest
        case 2, 6: isDoubtful ? .newest : .oldestOther
        case _: .newest
        }
    }

    /// Whether single devices fail, as far as is known.
    private func isMixed(at time: MonotonicTime) -> Bool {
        suspicion.hasWitnesses || suspicion.doubts(at: time) > 0
    }

    /// Whether another one may be sent now, and which; ends a pause whose time has come.
    mutating func turn(at time: MonotonicTime) -> Turn? {
        switch condition {
        case .open:
            guard inFlight < window.limit(at: time) else { return nil }
            return isMixed(at: time) ? mixedTurn(at: time) : .oldest
        case .paused(let until) where time >= until:
            condition = .trying
            pause.beginTries(at: time)
            return .newest
        case .paused: return !isHeld(at: time) && pause.beginProbe(at: time) ? .probe : nil
        case .trying:
            guard pause.mayTry || inFlight == 0 else { return nil }
            return pause.tries.isMultiple(of: 2) ? .newest : .oldest
        }
    }

    /// Returns the time until which nothing is sent; `nil`: until something changes.
    func waitsUntil(at time: MonotonicTime) -> MonotonicTime? {
        guard case .paused(let until) = condition else { return nil }
        let probeAt = max(pause.probeAt, pause.askedUntil)
        return probeAt > time ? min(until, probeAt) : until
    }

    mutating func began(at time: MonotonicTime) {
        inFlight += 1
        switch condition {
        case .open: if isMixed(at: time) { mixed &+= 1 }
        case .trying: pause.tried(at: time, isProbe: false)
        case .paused: pause.tried(at: time, isProbe: true)
        }
    }

    mutating func ended() { inFlight -= 1 }

    /// Notes that an attempt that began at that time came to nothing, which says nothing of the gateway.
    mutating func endedAlone(begunAt: MonotonicTime) {
        if condition != .open { pause.giveBack(begunAt: begunAt) }
    }

    /// Notes that the gateway has judged a notification for this device: it works.
    ///
    /// - Returns: Whether devices have failed since the gateway last
    ///   judged one: their notifications are sent again.
    mutating func answered(_ token: Digest, at time: MonotonicTime) -> Bool {
        let witnesses = suspicion.witnesses
        let isRecovery = suspicion.answered(token)
        block = nil
        if isRecovery { refute(witnesses, at: time) }
        pause.count = 0
        guard condition != .open else {
            window.answered()
            return isRecovery
        }
        if pause.askedUntil > time {
            // What it surely asked for holds all the same.
            condition = .paused(until: pause.askedUntil)
        } else {
            condition = .open
            // Who has waited longest is first, whatever it was.
            mixed = 0
            let isOutage = suspicion.doubts(at: time) <= 1
            window.restart(after: isOutage ? (time - pause.beganAt) : .zero, at: time)
        }
        return isRecovery
    }

    /// Notes that a device was answered after this many others had failed: the outage was soon over, or there was none.
    private mutating func refute(_ witnesses: Int, at time: MonotonicTime) {
        isRefuted = pause.count <= Lane.fewPauses
        guard isRefuted else { return suspicion.trust() }
        if condition != .open || witnesses >= Deferral.fewWitnesses { suspicion.doubt(at: time) }
    }

    /// An outage has more of them.
    private static let fewPauses = 2

    /// Handles an attempt that failed, as all would if the gateway were overloaded or away.
    ///
    /// - Parameters:
    ///   - wasAlone: Whether the device failed alone before the start: it is no witness, unless the gateway is sure.
    ///   - few: See ``Deferral/witnesses``.
    ///   - begunAt: The time at which the attempt began.
    /// - Returns: What that says, and whether the lane is to pause for it.
    mutating func failed(
        _ token: Digest, from sender: SenderID?, wasAlone: Bool = false, witnesses few: Int,
        begunAt: MonotonicTime, at time: MonotonicTime
    ) -> (finding: Suspicion<Digest>.Finding, pauses: Bool) {
        let voices = suspicion.voices
        let isSure = few <= 1
        let finding = suspicion.failed(token, from: sender, wasAlone: wasAlone && !isSure)
        guard finding == .news else {
            endedAlone(begunAt: begunAt)
            if finding == .alone, isRefuted {
                isRefuted = false
                suspicion.doubt(at: time)
                if suspicion.doubts(at: time) > 1 { window.endRamp() }
            }
            return (finding, false)
        }
        let doubts = suspicion.doubts(at: time)
        let least = doubts > 0 ? LaneWindow.first << doubts : 1
        // What one sender's devices hear says nothing new.
        if suspicion.voices > voices { window.shrink(inFlight: inFlight, least: least) }
        let pauses =
            switch condition {
            case .open: isSure || suspicion.isReason(witnesses: few, at: time)
            case .trying: pause.missed(begunAt: begunAt) || isSure
            case .paused: true
            }
        return (finding, pauses)
    }

    /// Pauses the lane: the gateway is overloaded or away, and nothing begins until then but a few tries.
    /// Failures at the same time count as one.
    ///
    /// - Parameter isSure: Nothing at all begins before the time that the gateway has asked for.
    mutating func pause(
        atLeast asked: Duration?, isSure: Bool, at time: MonotonicTime, policy: RetryPolicy,
        using random: inout some RandomNumberGenerator
    ) {
        let wished = time + policy.obeyed(asked)
        pause.wished(until: wished, isSure: isSure)
        if case .paused(let until) = condition {
            condition = .paused(until: max(until, wished))
            return
        }
        pause.began(at: time, isFirst: condition == .open, doubts: suspicion.doubts(at: time))
        let own = policy.delay(afterAttempts: failures, atLeast: nil, using: &random)
        condition = .paused(until: max(time + min(own, Lane.longestPause), wished))
    }

    /// Goes on with a pause of the last process.
    mutating func restore(
        until: MonotonicTime, asked: MonotonicTime, pausedAt: MonotonicTime, failures: Int, block: LaneBlock?,
        at time: MonotonicTime
    ) {
        pause.restored(count: failures, beganAt: pausedAt, at: time)
        pause.wished(until: until, isSure: false)
        pause.wished(until: asked, isSure: true)
        condition = until > time ? .paused(until: until) : .trying
        self.block = block
    }

    /// Blocks the lane: credentials, topic or clock are wrong.
    mutating func block(reason: String, at time: MonotonicTime) {
        block = LaneBlock(reason: reason, since: block?.since ?? time)
    }

    /// Resumes the lane at once: the operator has changed something.
    mutating func resume(at time: MonotonicTime) {
        pause.count = 0
        pause.forgetWishes()
        suspicion = Suspicion()
        guard condition != .open else { return }
        // Also of the tries that have begun: of fewer than those, none would be left.
        condition = .trying
        pause.beginTries(at: time)
    }
}
