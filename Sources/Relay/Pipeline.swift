/// What lies between doors and gateways: checks, admits, hands over to the outbox, decides what is sent when, and what
/// an answer means. No I/O, no clock: the dispatcher carries out what this decides.
///
/// It can't be copied: a copy of its tables for each question would cost more than the answer.
package struct Pipeline: ~Copyable, Sendable {
    /// A notification in the books, from its submission to its end.
    package struct Handle: Equatable, Sendable {
        let slot: Int
        package let sequence: Int64
    }

    package enum Submitted: Equatable, Sendable {
        case answered(Receipt)
        /// In ``takeChanges()``; its result goes to ``stored(_:result:at:)`` or ``storeFailed(_:)``.
        case storing(Handle)
    }

    /// A notification that has left the books.
    package struct End: Equatable, Sendable {
        package let sequence: Int64
        package let ending: Ending
        /// Its index in ``lanes``.
        package let lane: Int
        /// Monotonic nanoseconds.
        package let acceptedAt: Int64
    }

    package enum Step: Equatable, Sendable {
        case send(Handle, Notification)
        /// The next ones are on disk only: ask the outbox, then ``loaded(_:of:)``.
        case load([Int64])
        /// This one came to its end without being sent.
        case ended(End)
        /// Nothing before this time (monotonic nanoseconds).
        case wait(until: Int64)
        /// Nothing until something changes.
        case idle
    }

    private let validator: Validator
    private let policy: RetryPolicy
    private var admission: Admission
    private var delivery = Delivery()
    private var deadTokens = DeadTokens()
    private var changes = PendingChanges()
    private var nextSequence: Int64 = 1
    /// Bytes of messages and tokens in memory.
    private(set) var bodyBytes = 0
    private let bodyBudget: Int

    private static let bodiesPerLoad = 64
    /// A gateway that gives a notification back unhandled so often in a row is not believed any more.
    private static let longestRunOfReturns = 8

    /// - Parameter bodyBudget: Bytes of messages and tokens kept in memory. Beyond it those that are stored and not
    ///   about to be sent are on disk only until their turn comes.
    package init(
        validator: Validator, limits: Admission.Limits, policy: RetryPolicy = RetryPolicy(),
        bodyBudget: Int = 4 << 20
    ) {
        self.validator = validator
        self.policy = policy
        self.bodyBudget = bodyBudget
        admission = Admission(limits: limits)
    }

    /// Takes over what waited when the last process ended, however it ended: what was in flight is waiting again.
    package mutating func restore(_ content: OutboxContent, at now: Instant) {
        nextSequence = content.nextSequence
        deadTokens.restore(content.deadTokens, at: now)
        for row in content.waiting {
            admission.restore(token: row.token, size: row.size)
            let slot = delivery.insert(
                Delivery.Entry(
                    sequence: row.sequence, token: row.token, lane: delivery.lane(row.lane), size: row.size,
                    acceptedAt: now.monotonicNanoseconds
                        - max(0, now.unixMilliseconds - row.acceptedAt) * 1_000_000,
                    deadline: now.deadline(row.expiresAt, within: Validator.longestMilliseconds),
                    attempts: row.attempts, isUrgent: row.isUrgent))
            let isDue = row.notBefore <= now.unixMilliseconds
            // The wall clock may have jumped: no wait is longer than the longest of ours.
            delivery.enqueue(
                slot, notBefore: isDue ? 0 : now.deadline(row.notBefore, within: policy.longest.milliseconds))
        }
    }

    // MARK: In

    /// - Parameter digests: Called when the recipient is checked and the message is not yet.
    package mutating func submit(
        _ submission: Submission, at now: Instant, digests makeDigests: (Recipient) -> SubmissionDigests
    ) -> Submitted {
        let notification: Notification
        let digests: SubmissionDigests
        do throws(Reason) {
            let (recipient, app) = try validator.recipient(of: submission)
            digests = makeDigests(recipient)
            if let registeredAt = submission.registeredAt,
                deadTokens.revive(digests.token, registeredAt: registeredAt)
            {
                changes.append(.reviveToken(digests.token))
            }
            if let since = deadTokens.since(digests.token, at: now) {
                return .answered(.ended(.unregistered(since: since)))
            }
            notification = try validator.notification(
                submission, to: recipient, of: app, as: NotificationID(digests), at: now)
        } catch {
            return .answered(.refused(error))
        }
        let size = notification.size
        if let busy = admission.admit(token: digests.token, size: size, at: now) {
            return .answered(.busy(busy))
        }
        let sequence = nextSequence
        nextSequence += 1
        let slot = delivery.insert(
            Delivery.Entry(
                sequence: sequence, token: digests.token, lane: delivery.lane(notification.lane), size: size,
                acceptedAt: now.monotonicNanoseconds,
                deadline: now.deadline(notification.expiresAt, within: Validator.longestMilliseconds),
                isUrgent: notification.content.isUrgent, body: notification))
        bodyBytes += size
        changes.append(
            .store(StoreRequest(sequence: sequence, notification: notification, digests: digests)))
        return .storing(Handle(slot: slot, sequence: sequence))
    }

    /// The id of one that is on its way into the outbox: a repetition has that of the first.
    package func id(of handle: Handle) -> NotificationID? {
        delivery.entries[handle.slot].body?.id
    }

    /// The outbox has answered for one submission.
    ///
    /// - Returns: What to tell the sender.
    package mutating func stored(_ handle: Handle, result: StoreResult, at now: Instant) -> Receipt {
        let slot = slot(of: handle, in: .storing)
        switch result {
        case .stored:
            admission.settle(size: delivery.entries[slot].size)
            // The gateway may have said so while it was being stored.
            if let since = deadTokens.sinceUnlessTried(delivery.entries[slot].token, at: now) {
                return .ended(finish(slot, .unregistered(since: since)).ending)
            }
            spareBody(of: slot)
            delivery.enqueue(slot)
            return .stored
        case .alreadyWaiting:
            abandon(slot)
            return .stored
        case .alreadyEnded(let ending):
            abandon(slot)
            return .ended(ending)
        case .conflict:
            abandon(slot)
            return .refused(.duplicateUid)
        }
    }

    /// The commit failed: nothing is stored, the sender is told to come again.
    package mutating func storeFailed(_ handle: Handle) { abandon(slot(of: handle, in: .storing)) }

    private mutating func abandon(_ slot: Int) {
        admission.settle(size: delivery.entries[slot].size)
        leave(slot)
    }

    private func slot(of handle: Handle, in state: Delivery.State) -> Int {
        precondition(
            delivery.entries[handle.slot].isCurrent(handle.sequence, state),
            "notification \(handle.sequence) is told of as \(state); "
                + "its place is \(delivery.entries[handle.slot].state)")
        return handle.slot
    }

    /// Whether this notification has not ended.
    package func isWaiting(_ sequence: Int64) -> Bool { delivery.slots[sequence] != nil }

    /// How it ended, when that was not yet in the outbox when the last commit began.
    package func unsavedEnding(of sequence: Int64) -> Ending? { changes.ending(of: sequence) }

    /// Whether the next commit is the one that writes its end down.
    package func holdsEnd(of sequence: Int64) -> Bool { changes.holdsEnd(of: sequence) }

    /// The changes that belong into the next commit, one commit after another: the results of one are told before the
    /// next is taken. One that fails is told by ``storeFailed(_:)`` for each of its submissions and ``putBack(_:)``.
    package mutating func takeChanges() -> [OutboxChange] { changes.take() }

    /// The commit of these failed: all but the submissions go into the next one, before what has come since.
    package mutating func putBack(_ failed: [OutboxChange]) { changes.putBack(failed) }

    package var hasChanges: Bool { !changes.isEmpty }

    // MARK: Out

    /// What a lane does next.
    package mutating func nextStep(in lane: Int, at now: Instant) -> Step {
        let time = now.monotonicNanoseconds
        guard delivery.withLane(lane, { $0.mayBegin(at: time) }) else {
            if case .paused(let until) = delivery.lanes[lane].condition { return .wait(until: until) }
            return .idle
        }
        guard let slot = delivery.takeNext(lane: lane, at: time) else {
            return delivery.nextDue(lane: lane).map { .wait(until: $0) } ?? .idle
        }
        guard delivery.entries[slot].deadline > time else {
            return .ended(finish(slot, .expired))
        }
        guard let body = delivery.entries[slot].body else {
            return .load(load(from: slot, lane: lane, at: time))
        }
        delivery.setState(.inFlight, of: slot)
        delivery.withLane(lane) { $0.began() }
        return .send(Handle(slot: slot, sequence: delivery.entries[slot].sequence), body)
    }

    private mutating func load(from first: Int, lane: Int, at time: Int64) -> [Int64] {
        var sequences: [Int64] = []
        var next: Int? = first
        while let slot = next {
            guard delivery.entries[slot].body == nil else {
                delivery.giveBack(slot)
                break
            }
            delivery.setState(.loading, of: slot)
            sequences.append(delivery.entries[slot].sequence)
            guard sequences.count < Pipeline.bodiesPerLoad else { break }
            next = delivery.takeNext(lane: lane, at: time)
        }
        return sequences
    }

    /// Bodies that ``Step/load(_:)`` asked for.
    ///
    /// - Returns: Those without one: the operator has taken their rows away, they end here.
    @discardableResult
    package mutating func loaded(
        _ bodies: [Int64: Notification], of sequences: [Int64]
    ) -> [End] {
        var ended: [End] = []
        for sequence in sequences {
            guard let slot = delivery.slots[sequence], delivery.entries[slot].state == .loading else {
                continue
            }
            guard let notification = bodies[sequence] else {
                ended.append(finish(slot, .refused(reason: .internal)))
                continue
            }
            delivery.setBody(notification, of: slot)
            bodyBytes += delivery.entries[slot].size
            delivery.giveBack(slot)
        }
        return ended
    }

    /// The outbox could not be read: they are tried again.
    package mutating func loadFailed(_ sequences: [Int64]) {
        for sequence in sequences {
            guard let slot = delivery.slots[sequence], delivery.entries[slot].state == .loading else {
                continue
            }
            delivery.giveBack(slot)
        }
    }

    /// An attempt has ended.
    ///
    /// - Returns: The notifications that ended with it: this one, and those that waited for a token that proved dead.
    package mutating func attemptEnded(
        _ handle: Handle, _ outcome: Outcome, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> [End] {
        let slot = slot(of: handle, in: .inFlight)
        let lane = delivery.entries[slot].lane
        let time = now.monotonicNanoseconds
        delivery.withLane(lane) { $0.ended() }
        switch outcome {
        case .accepted:
            delivery.withLane(lane) { $0.answered() }
            let token = delivery.entries[slot].token
            if deadTokens.revive(token) { changes.append(.reviveToken(token)) }
            return [finish(slot, .delivered)]
        case .refused(let reason, let detail):
            delivery.withLane(lane) { $0.answered() }
            return [finish(slot, .refused(reason: .gateway(reason), detail: detail))]
        case .tokenDead(let reason, let since, let detail):
            delivery.withLane(lane) { $0.answered() }
            // A clock of theirs that is ahead must not keep it dead for longer.
            return bury(
                slot, .tokenDead(reason: .gateway(reason), detail: detail),
                since: min(since ?? .max, now.unixMilliseconds), at: now)
        case .blocked(let reason):
            guard !delivery.isAlone(slot) else {
                let deferral = Deferral(reason: reason, scope: .device, retryAfter: Lane.shortestBlock)
                postpone(slot, deferral, at: now, using: &random)
                return []
            }
            delivery.noteTrial(of: slot)
            delivery.withLane(lane) { [policy] in
                $0.block(reason: reason, at: time, policy: policy, using: &random)
            }
            delivery.giveBack(slot)
            spareBody(of: slot)
            return []
        case .deferred(let deferral):
            postpone(slot, deferral, at: now, using: &random)
            return []
        }
    }

    private mutating func postpone(
        _ slot: Int, _ deferral: Deferral, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        let entry = delivery.entries[slot]
        if deferral.isUnharmed, entry.returns < Pipeline.longestRunOfReturns {
            delivery.countReturn(of: slot)
            delivery.giveBack(slot)
            spareBody(of: slot)
            return
        }
        delivery.countAttempt(of: slot)
        let attempts = entry.attempts + 1
        let time = now.monotonicNanoseconds
        var notBefore: Int64 = 0
        let isAlone = delivery.isAlone(slot)
        if deferral.scope != .device { delivery.noteTrial(of: slot) }
        for lane in delivery.lanes(concernedBy: deferral.scope, in: entry.lane) {
            delivery.withLane(lane) { [policy] in
                $0.pause(atLeast: deferral.retryAfter, at: time, policy: policy, using: &random)
            }
        }
        if deferral.scope == .device || isAlone {
            let delay = policy.delay(afterAttempts: attempts, atLeast: deferral.retryAfter, using: &random)
            delivery.postpone(slot, until: time + delay.nanoseconds, isThrottled: deferral.isThrottle)
            notBefore = now.unixMilliseconds + delay.milliseconds
        } else {
            delivery.giveBack(slot)
        }
        changes.append(.postpone(sequence: entry.sequence, attempts: attempts, notBefore: notBefore))
        spareBody(of: slot)
    }

    private mutating func bury(
        _ slot: Int, _ ending: Ending, since: Int64, at now: Instant
    ) -> [End] {
        let token = delivery.entries[slot].token
        if let told = deadTokens.bury(token, since: since, at: now) {
            changes.append(.buryToken(token, told))
        }
        let behind = delivery.waiting(of: token)
        // From the back, so that none of them becomes ready in between.
        return behind.reversed().map { finish($0, ending) } + [finish(slot, ending)]
    }

    /// Ends what has expired. To be called now and then: what expires unsent is only noticed here.
    package mutating func expire(at now: Instant) -> [End] {
        delivery.entries.indices.filter { slot in
            guard delivery.entries[slot].deadline <= now.monotonicNanoseconds else { return false }
            switch delivery.entries[slot].state {
            case .queued, .ready, .postponed: return true
            case .storing, .loading, .inFlight, .free: return false
            }
        }.map { finish($0, .expired) }
    }

    /// Lets identities and dead tokens go when their time is over.
    package mutating func forget(acceptedBefore: Int64, buriedBefore: Int64) {
        deadTokens.forget(buriedBefore: buriedBefore)
        changes.append(.forget(acceptedBefore: acceptedBefore, buriedBefore: buriedBefore))
    }

    /// The credentials of a lane are new: what was blocked is tried at once.
    package mutating func resume(lane: Int) { delivery.withLane(lane) { $0.resume() } }

    // MARK: Leaving

    private mutating func finish(_ slot: Int, _ ending: Ending) -> End {
        let end = End(
            sequence: delivery.entries[slot].sequence, ending: ending, lane: delivery.entries[slot].lane,
            acceptedAt: delivery.entries[slot].acceptedAt)
        changes.append(.finish(sequence: end.sequence, ending))
        leave(slot)
        return end
    }

    private mutating func leave(_ slot: Int) {
        dropBody(of: slot)
        admission.release(token: delivery.entries[slot].token, size: delivery.entries[slot].size)
        delivery.remove(slot)
    }

    /// To be called for what is stored and not about to be sent.
    private mutating func spareBody(of slot: Int) {
        if bodyBytes > bodyBudget { dropBody(of: slot) }
    }

    private mutating func dropBody(of slot: Int) {
        guard delivery.entries[slot].body != nil else { return }
        bodyBytes -= delivery.entries[slot].size
        delivery.setBody(nil, of: slot)
    }

    // MARK: What the operator may see

    package var lanes: [Lane] { delivery.lanes }
    package func blockedReason(lane: Int) -> String? { delivery.lanes[lane].blockedReason }
    package func blockedReason(of sequence: Int64) -> String? {
        lane(of: sequence).flatMap { delivery.lanes[$0].blockedReason }
    }
    package func lane(of sequence: Int64) -> Int? {
        delivery.slots[sequence].map { delivery.entries[$0].lane }
    }
    package mutating func lane(_ id: LaneID) -> Int { delivery.lane(id) }
    package var deadTokenCount: Int { deadTokens.count }
    package var waiting: Int { admission.waiting }
    package var waitingBytes: Int { admission.waitingBytes }
    package var limits: Admission.Limits { admission.limits }

    /// What is stored and has not ended, by lane. Looks at every notification: not for the way of a message.
    package func queues() -> [Queue] {
        var queues = [Queue](repeating: Queue(), count: delivery.lanes.count)
        let spared = Set(
            delivery.entries.lazy.filter { $0.state == .postponed && $0.isThrottled }.map(\.token))
        for entry in delivery.entries where entry.state != .free && entry.state != .storing {
            queues[entry.lane].add(
                acceptedAt: entry.acceptedAt,
                isSpared: !spared.isEmpty && entry.state != .inFlight && spared.contains(entry.token))
        }
        return queues
    }

    /// What waits in one lane.
    package struct Queue: Equatable, Sendable {
        package private(set) var waiting = 0
        /// Monotonic nanoseconds at which the oldest was submitted; `nil`: nothing waits.
        package private(set) var oldestAcceptedAt: Int64?
        /// The same without those whose device its gateway wants spared: they wait as they should.
        package private(set) var oldestDueAcceptedAt: Int64?

        mutating func add(acceptedAt: Int64, isSpared: Bool) {
            waiting += 1
            oldestAcceptedAt = min(oldestAcceptedAt ?? .max, acceptedAt)
            guard !isSpared else { return }
            oldestDueAcceptedAt = min(oldestDueAcceptedAt ?? .max, acceptedAt)
        }
    }
}
