import Clocks

/// The core between doors and gateways: checks, admits, hands over to the outbox, decides what is sent when, what an
/// answer means, and what each sender hears. No I/O, no clock: events come in, and the caller that brings one carries out
/// the effects that it has (``takeEffects(into:)``).
///
/// It can't be copied: a copy of its tables for each question would cost more than the answer.
package struct Pipeline: ~Copyable, Sendable {
    /// A notification that a gateway has.
    package struct Handle: Equatable, Sendable {
        let slot: Int
        package let sequence: Int64
    }

    package enum Submitted: Equatable, Sendable {
        case answered(Receipt)
        /// The submission is in the next commit. The first id is that under which its sender gets its
        /// receipts, the second that under which it is stored, if it is.
        case storing(ReplyID, NotificationID)
    }

    /// A notification that leaves the books, as the edge counts and lists it.
    package struct Leaving: Equatable, Sendable {
        package let sequence: Int64
        /// The digest of its device token.
        package let token: Digest
        /// The index of its lane in ``lanes``.
        package let lane: Int
        /// The edge's number of the door where it came in; `nil`: it came to another process, or to another node.
        package let door: Int?
        package let submittedAt: MonotonicTime
    }

    /// A notification that has left the books.
    package struct End: Equatable, Sendable {
        package let leaving: Leaving
        package let ending: Ending
        /// Whether the notification was for nobody, to see whether
        /// the way works, and was refused as it should be.
        package var isProbe = false

        package var sequence: Int64 { leaving.sequence }
        package var lane: Int { leaving.lane }
        package var submittedAt: MonotonicTime { leaving.submittedAt }
    }

    /// How long identities and dead tokens are remembered.
    package struct Memory: Sendable {
        /// How long a repetition is recognized.
        package var identities: Duration = .seconds(24 * 3600)
        package var deadTokens: Duration = .seconds(30 * 86400)

        package init() {}
    }

    /// A submission in the next commit.
    struct Ticket: Sendable {
        /// The task of a commit for a submission.
        enum Purpose: Equatable, Sendable {
            /// The outbox stores the notification in this slot.
            case store(Delivery.Slot)
            /// The outbox is asked for the identity, and the sender gets the refusal if it is not known.
            case lookUp(refusal: Receipt)
        }

        let purpose: Purpose
        let door: Int
        let submittedAt: MonotonicTime
        let awaitsOutcome: Bool
        let reply: ReplyID
    }

    var validator: Validator
    let policy: RetryPolicy
    let memory: Memory
    var admission: Admission
    var delivery = Delivery()
    var deadTokens = DeadTokens()
    var provenOrigins = ProvenOrigins()
    var senders = Senders()
    var aliasSenders = AliasSenders()
    var kept = Kept()
    var effects: [Effect] = []

    var commits: Commits
    /// The highest sequence number that the outbox has given out.
    var lastSequence: Int64 = 0
    /// The highest one at the start: what has a higher one was dated by this process.
    private(set) var sequenceAtStart: Int64 = 0

    // What goes out before it is stored.
    /// Zero: nothing does.
    let writeBehind: Duration
    var unstored = Unstored()
    /// The filter of known identities: a submission that may be a repetition is looked for in the outbox first.
    var known = IdentityFilter()

    // The backlog.
    let window: Window
    var isSweeping = false
    var cluster: ClusterShare

    // Time.
    var wallClock: WallClock
    var housekeepingAt = MonotonicTime.max
    /// The time of the next look at the lanes, no later than the first of theirs.
    var lanesWakeAt = MonotonicTime.max

    // Stopping.
    var isStopping = false
    /// Whether the outbox takes nothing more: what ends now is delivered again under the same ids.
    var isClosed = false
    var stopAt = MonotonicTime.max
    var inFlight = 0

    /// Bytes of messages and tokens in memory.
    var bodyBytes = 0
    let bodyBudget: Int

    /// Lanes to origins that an app may have at the same time.
    let originsPerApp: Int
    /// Lanes at the same time, with gateways or with something that waits.
    package static let mostLanes = 1024
    package static let mostOriginsPerApp = 256
    /// The time without notifications after which a lane to an origin is closed.
    static let idleLane: Duration = .seconds(300)
    static let retryWhenOutboxFails: Duration = .seconds(5)
    static let retryCommit: Duration = .seconds(1)
    static let housekeepingInterval: Duration = .seconds(15)
    static let bodiesPerLoad = 64
    /// The most lookups per commit. Above this, a submission that would be refused is refused without a lookup, although
    /// it may be a repetition of one that was stored.
    package static let mostLookups = 256
    /// A gateway that gives a notification back unhandled so often in a row is not believed any more.
    static let longestRunOfReturns = 8

    /// Makes a pipeline.
    ///
    /// - Parameter bodyBudget: Bytes of messages and tokens kept in memory. Beyond it those that are stored
    ///   and not about to be sent are on disk only until their turn comes.
    /// - Parameter writeBehind: How long a notification may be out before it is stored; zero: it is stored
    ///   first.
    /// - Parameter isShared: Whether other nodes can come to the outbox.
    package init(
        validator: Validator, limits: Admission.Limits, policy: RetryPolicy = RetryPolicy(),
        memory: Memory = Memory(), bodyBudget: Int = 4 << 20, originsPerApp: Int = mostOriginsPerApp,
        window: Window = Window(), mostLookups: Int = mostLookups, writeBehind: Duration = .zero,
        isShared: Bool = false
    ) {
        self.validator = validator
        self.policy = policy
        self.memory = memory
        self.bodyBudget = bodyBudget
        self.originsPerApp = originsPerApp
        self.window = window
        commits = Commits(mostLookups: mostLookups)
        self.writeBehind = writeBehind
        cluster = ClusterShare(isShared: isShared)
        wallClock = WallClock(isShared: isShared)
        admission = Admission(limits: limits)
    }

    /// Takes over what waited when the last process ended, however it ended: what was in flight is waiting again.
    ///
    /// - Parameter clockOffset: Milliseconds of the wall clock less those of one that nobody sets.
    package mutating func start(_ content: OutboxContent, at now: Instant, clockOffset: Int64) {
        lastSequence = max(content.lastSequence, content.waiting.last?.sequence ?? 0)
        startClock(content.clock, offset: clockOffset, at: now)
        cluster.begin(content, at: now.monotonic)
        if writeBehind > .zero { known = content.known }
        for backlog in content.backlog { restore(backlog, at: now) }
        housekeepingAt = now.monotonic + Pipeline.housekeepingInterval
        deadTokens.restore(content.deadTokens, at: wallClock.dating(now))
        restore(content.lanes, at: now)
        restore(content.wishes, at: now)
        if let step = content.redating?.by { effects.append(.clockSet(by: step)) }
        let late = wallClock.lateInstant(at: now)
        for row in content.waiting {
            admission.restore(token: row.token, size: row.size)
            let slot = delivery.insert(
                Delivery.Entry(
                    token: row.token, lane: lane(row.lane), size: row.size,
                    submittedAt: now.monotonic
                        - max(.zero, wallClock.date(at: now) - row.acceptedAt),
                    deadline: late.deadline(row.expiresAt, within: Validator.longestMilliseconds),
                    attempts: row.attempts, doubtedEnd: wallClock.isDoubted ? row.expiresAt : nil,
                    isUrgent: row.isUrgent))
            delivery.number(slot, row.sequence)
            lastSequence = max(lastSequence, row.sequence)
            delivery.withLane(delivery.entries[slot].lane) {
                $0.taken.take(row.size)
                $0.standing.hadWaiting()
            }
            let isDue = row.notBefore <= late.unix
            // The wall clock may have jumped: no wait is longer than the longest of ours.
            delivery.enqueue(
                slot, notBefore: isDue ? 0 : late.deadline(row.notBefore, within: policy.longest.milliseconds)
            )
        }
        for lane in delivery.lanes.indices where !delivery.lanes[lane].isRecorded {
            delivery.withLane(lane) { [lastSequence] in $0.openUpTo = lastSequence }
        }
        sequenceAtStart = lastSequence
    }

    // MARK: Effects

    /// Takes all effects since the last call, in their order: `taken` is
    /// empty before. What was taken before has been done.
    ///
    /// - Returns: Whether lanes may have something to send (``takeStirred(_:)``), and ``wakeAt``.
    @discardableResult
    package mutating func takeEffects(into taken: inout [Effect]) -> (hasStirred: Bool, wakeAt: MonotonicTime)
    {
        if !effects.isEmpty {
            senders.effectsTaken()
            swap(&taken, &effects)
        }
        return (!delivery.stirred.isEmpty, wakeAt)
    }

    /// Takes the lanes that may have something to send: see ``pump(_:room:at:)``. `taken` is empty before.
    package mutating func takeStirred(_ taken: inout [Int]) { delivery.takeStirred(&taken) }

    // MARK: Time

    /// The time at which ``wake(at:clockOffset:)`` is to be called.
    @inline(__always)
    package var wakeAt: MonotonicTime {
        // Two by two: Swift makes a list of more, and a copy of the core to ask it for them.
        let soon = min(min(commits.wakeAt, housekeepingAt), min(lanesWakeAt, stopAt))
        return min(soon, min(unstored.wakeAt, cluster.wakeAt))
    }

    /// Does what is due now. `clockOffset` is milliseconds of
    /// the wall clock less those of one that nobody sets.
    package mutating func wake(at now: Instant, clockOffset: Int64) {
        let time = now.monotonic
        noteClock(at: now)
        if unstored.wakeAt <= time { storeDue(at: now) }
        if commits.isToBeWritten(at: time) { writeRemembered(at: time) }
        renewLease(at: time)
        askForShare(at: now)
        if commits.isToBeAsked(at: time) { askForCommit() }
        if lanesWakeAt <= time {
            lanesWakeAt = .max
            for lane in delivery.lanes.indices {
                let due = delivery.lanes[lane].wakeAt
                if due <= time {
                    delivery.withLane(lane) { $0.wakeAt = .max }
                    delivery.stir(lane)
                } else {
                    lanesWakeAt = min(lanesWakeAt, due)
                }
            }
        }
        if housekeepingAt <= time { keepHouse(at: now, clockOffset: clockOffset) }
        if stopAt <= time { endStopping() }
    }

    private mutating func keepHouse(at now: Instant, clockOffset: Int64) {
        housekeepingAt = now.monotonic + Pipeline.housekeepingInterval
        lookAtClock(offset: clockOffset, at: now)
        expire(at: now)
        sweep(at: now)
        admission.tidy(at: now.monotonic)
        giveBackRoom()
        closeIdleLanes(at: now.monotonic)
        takeTurns(at: now.monotonic)
        endWishes(at: now)
        for lane in delivery.lanes.indices { claimGivenUp(lane) }
        let isTrusted = wallClock.hasStood(for: memory.identities, at: now)
        let date = wallClock.date(at: now)
        // With no clock to trust nothing is too old; what is too many goes all the same, and the log is emptied.
        forget(
            acceptedBefore: isTrusted ? date - memory.identities : .min,
            buriedBefore: isTrusted ? date - memory.deadTokens : .min,
            latest: isTrusted ? latestTime(after: date) : .max)
        scheduleCommit(at: now.monotonic)
    }

    /// Lets identities and dead tokens go when their time is over, and those whose time has not come: a clock that was
    /// ahead has set them down, and has been right for long.
    mutating func forget(acceptedBefore: UnixTime, buriedBefore: UnixTime, latest: UnixTime = .max) {
        deadTokens.forget(buriedBefore: buriedBefore, latest: latest)
        known.forget(acceptedBefore: acceptedBefore, latest: latest)
        commits.append(.forget(acceptedBefore: acceptedBefore, buriedBefore: buriedBefore, latest: latest))
    }

    /// Returns the latest time that the clock can have set down since it was set last. Other nodes' clocks may be ahead.
    private func latestTime(after date: UnixTime) -> UnixTime {
        date + (cluster.hasOthers ? memory.identities : .milliseconds(2 * ClockWatch.far))
    }

    // MARK: Stopping

    /// Takes nothing more and sends nothing more. ``Effect/stopped`` comes when requests on their way and the commits
    /// of what they brought have ended, or at the deadline.
    package mutating func stop(at now: Instant, deadline: MonotonicTime) {
        guard !isStopping else { return }
        isStopping = true
        housekeepingAt = .max
        lanesWakeAt = .max
        cluster.stopAsking()
        stopAt = deadline
        storeAll(at: now)
        writeRemembered(at: now.monotonic)
        if !commits.isEmpty { askForCommit() }
        stopIfDone()
    }

    mutating func stopIfDone() {
        guard isStopping, inFlight == 0, commits.isDone else { return }
        endStopping()
    }

    private mutating func endStopping() {
        guard !isClosed else { return }
        isClosed = true
        stopAt = .max
        commits.close()
        effects.append(.stopped)
    }

    /// Takes the phone book that the operator has changed: it holds for what is submitted from now on.
    package mutating func use(_ phoneBook: PhoneBook) { validator.phoneBook = phoneBook }

    /// Whether a device token is the address that a service gives to no phone.
    package func isOfNobody(_ deviceToken: DeviceToken) -> Bool { validator.isOfNobody(deviceToken) }

    /// Whether a gateway still has something that was sent by a time. Looks at all that waits.
    package func hasInFlight(since time: MonotonicTime) -> Bool {
        inFlight > 0
            && delivery.entries.contains { entry in
                if case .inFlight(let since, _) = entry.state { since <= time } else { false }
            }
    }

    // MARK: What the operator may see

    /// The lanes, with those that are gone.
    package var lanes: [Lane] { delivery.lanes }
    package var deadTokenCount: Int { deadTokens.count }
    /// Why the last commit failed; `nil` while the outbox works. Until then nothing is sent: its end could not be
    /// written down.
    package var outboxFault: OutboxError? { commits.fault }
    package var waiting: Int { admission.waiting }
    package var waitingBytes: Int { admission.waitingBytes }
    package var limits: Admission.Limits { admission.limits }
}
