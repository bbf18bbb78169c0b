/// What lies between doors and gateways: checks, admits, hands over to the outbox, decides what is sent when, and what
/// an answer means. No I/O, no clock: the dispatcher carries out what this decides.
package struct Pipeline: Sendable {
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

    package enum Step: Equatable, Sendable {
        case send(Handle, Notification)
        /// The next ones are on disk only: ask the outbox, then ``loaded(_:at:)``.
        case load([Int64])
        /// This one came to its end without being sent.
        case ended(sequence: Int64, Ending)
        /// Nothing before this time (monotonic nanoseconds).
        case wait(until: Int64)
        /// Nothing until something changes.
        case idle
    }

    private let validator: Validator
    private let policy: RetryPolicy
    private var admission: Admission
    private var delivery = Delivery()
    private var deadTokens: [Digest: Int64] = [:]
    private var changes: [OutboxChange] = []
    private var nextSequence: Int64 = 1
    private var bodyBytes = 0

    /// Bodies beyond this stay on disk only until their turn comes.
    private static let bodyBudget = 4 << 20
    private static let bodiesPerLoad = 64
    /// A gateway that gives a notification back unhandled so often in a row is not believed any more.
    private static let longestRunOfReturns = 8

    package init(validator: Validator, limits: Admission.Limits, policy: RetryPolicy = RetryPolicy()) {
        self.validator = validator
        self.policy = policy
        admission = Admission(limits: limits)
    }

    /// Takes over what waited when the last process ended, however it ended: what was in flight is waiting again.
    package mutating func restore(_ content: OutboxContent, at now: Instant) {
        nextSequence = content.nextSequence
        deadTokens = content.deadTokens
        for row in content.waiting {
            admission.restore(token: row.token, size: row.size)
            let slot = delivery.insert(
                Delivery.Entry(
                    sequence: row.sequence, token: row.token, lane: delivery.lane(row.lane), size: row.size,
                    expiresAt: row.expiresAt, attempts: row.attempts, isUrgent: row.isUrgent))
            // The wall clock may have jumped: no wait is longer than the longest of ours.
            let wait = min(max(0, row.notBefore - now.unixMilliseconds), policy.longest.milliseconds)
            delivery.enqueue(
                slot, notBefore: now.monotonicNanoseconds + wait * 1_000_000, at: now.monotonicNanoseconds)
        }
    }

    // MARK: In

    package mutating func submit(
        _ submission: Submission, id: NotificationID, at now: Instant,
        digests: (Notification) -> SubmissionDigests
    ) -> Submitted {
        let notification: Notification
        do throws(Reason) {
            notification = try validator.validate(submission, as: id, at: now)
        } catch {
            return .answered(.refused(error))
        }
        let digests = digests(notification)
        if deadTokens[digests.token] != nil {
            return .answered(.ended(.tokenDead(reason: Reason.unregistered.rawValue)))
        }
        let size = notification.message.utf8.count + notification.deviceToken.utf8.count
        if let retryAfter = admission.admit(token: digests.token, size: size, at: now) {
            return .answered(.busy(retryAfter: retryAfter))
        }
        let sequence = nextSequence
        nextSequence += 1
        let slot = delivery.insert(
            Delivery.Entry(
                sequence: sequence, token: digests.token, lane: delivery.lane(notification.lane), size: size,
                expiresAt: notification.expiresAt, isUrgent: notification.isUrgent, body: .init(notification))
        )
        bodyBytes += size
        changes.append(
            .store(StoreRequest(sequence: sequence, notification: notification, digests: digests)))
        return .storing(Handle(slot: slot, sequence: sequence))
    }

    /// The outbox has answered for one submission.
    ///
    /// - Returns: What to tell the sender.
    package mutating func stored(_ handle: Handle, result: StoreResult, at now: Instant) -> Receipt {
        switch result {
        case .stored:
            if bodyBytes > Pipeline.bodyBudget { dropBody(of: handle.slot) }
            delivery.enqueue(handle.slot, notBefore: 0, at: now.monotonicNanoseconds)
            return .stored
        case .alreadyWaiting:
            leave(handle.slot)
            return .stored
        case .alreadyEnded(let ending):
            leave(handle.slot)
            return .ended(ending)
        case .conflict:
            leave(handle.slot)
            return .refused(.duplicateUid)
        }
    }

    /// The commit failed: nothing is stored, the sender is told to come again.
    package mutating func storeFailed(_ handle: Handle) { leave(handle.slot) }

    /// Whether this notification has not ended.
    package func isWaiting(_ sequence: Int64) -> Bool { delivery.slots[sequence] != nil }

    /// How it ended, when that is not yet in a commit.
    package func unsavedEnding(of sequence: Int64) -> Ending? {
        for case .finish(sequence, let ending) in changes { return ending }
        return nil
    }

    /// The changes that belong into the next commit. They are gone from here: a commit that fails must keep them.
    package mutating func takeChanges() -> [OutboxChange] {
        defer { changes = [] }
        return changes
    }

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
        let entry = delivery.entries[slot]
        guard entry.expiresAt > now.unixMilliseconds else {
            return .ended(sequence: entry.sequence, finish(slot, .expired).ending)
        }
        guard let body = entry.body else { return .load(load(from: slot, lane: lane, at: time)) }
        delivery.setState(.inFlight, of: slot)
        delivery.withLane(lane) { $0.began() }
        return .send(Handle(slot: slot, sequence: entry.sequence), body.notification)
    }

    private mutating func load(from first: Int, lane: Int, at time: Int64) -> [Int64] {
        var sequences: [Int64] = []
        var next: Int? = first
        while let slot = next {
            delivery.setState(.loading, of: slot)
            sequences.append(delivery.entries[slot].sequence)
            guard sequences.count < Pipeline.bodiesPerLoad else { break }
            next = delivery.takeNext(lane: lane, at: time)
        }
        return sequences
    }

    /// Bodies that ``Step/load(_:)`` asked for. A missing one has no row any more: it leaves the books.
    package mutating func loaded(_ bodies: [Int64: Notification], of sequences: [Int64]) {
        for sequence in sequences {
            guard let slot = delivery.slots[sequence], delivery.entries[slot].state == .loading else {
                continue
            }
            guard let notification = bodies[sequence] else {
                leave(slot)
                continue
            }
            delivery.setBody(.init(notification), of: slot)
            bodyBytes += delivery.entries[slot].size
            delivery.giveBack(slot)
        }
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
    ) -> [(sequence: Int64, ending: Ending)] {
        let slot = handle.slot
        let lane = delivery.entries[slot].lane
        let time = now.monotonicNanoseconds
        delivery.withLane(lane) { $0.ended() }
        switch outcome {
        case .accepted:
            delivery.withLane(lane) { $0.answered() }
            return [finish(slot, .delivered)]
        case .refused(let reason):
            delivery.withLane(lane) { $0.answered() }
            return [finish(slot, .refused(reason: reason))]
        case .tokenDead(let reason, let since):
            delivery.withLane(lane) { $0.answered() }
            return bury(slot, reason: reason, since: since ?? now.unixMilliseconds)
        case .blocked(let reason):
            delivery.withLane(lane) { [policy] in
                $0.block(reason: reason, at: time, policy: policy, using: &random)
            }
            delivery.giveBack(slot)
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
            return
        }
        delivery.countAttempt(of: slot)
        let time = now.monotonicNanoseconds
        let delay = policy.delay(
            afterAttempts: entry.attempts + 1, atLeast: deferral.scope == .device ? deferral.retryAfter : nil,
            using: &random)
        switch deferral.scope {
        case .device:
            delivery.postpone(slot, until: time + delay.nanoseconds)
        case .app:
            delivery.withLane(entry.lane) { [policy] in
                $0.pause(atLeast: deferral.retryAfter, at: time, policy: policy, using: &random)
            }
            delivery.giveBack(slot)
        }
        changes.append(
            .postpone(
                sequence: entry.sequence, attempts: entry.attempts + 1,
                notBefore: deferral.scope == .device ? now.unixMilliseconds + delay.milliseconds : 0))
    }

    private mutating func bury(_ slot: Int, reason: String, since: Int64) -> [(
        sequence: Int64, ending: Ending
    )] {
        let token = delivery.entries[slot].token
        deadTokens[token] = since
        changes.append(.buryToken(token, since: since))
        let behind = delivery.waiting(of: token)
        let ending = Ending.tokenDead(reason: reason)
        // From the back, so that none of them becomes ready in between.
        return behind.reversed().map { finish($0, ending) } + [finish(slot, ending)]
    }

    /// Ends what has expired. To be called now and then: what expires unsent is only noticed here.
    package mutating func expire(at now: Instant) -> [(sequence: Int64, ending: Ending)] {
        delivery.entries.indices.filter { slot in
            let entry = delivery.entries[slot]
            guard entry.expiresAt <= now.unixMilliseconds else { return false }
            switch entry.state {
            case .queued, .ready, .postponed: return true
            case .storing, .loading, .inFlight, .free: return false
            }
        }.map { finish($0, .expired) }
    }

    /// Lets identities and dead tokens go when their time is over.
    package mutating func forget(acceptedBefore: Int64, buriedBefore: Int64) {
        deadTokens = deadTokens.filter { $0.value >= buriedBefore }
        changes.append(.forget(acceptedBefore: acceptedBefore, buriedBefore: buriedBefore))
    }

    /// The credentials of a lane are new: what was blocked is tried at once.
    package mutating func resume(lane: Int) { delivery.withLane(lane) { $0.resume() } }

    // MARK: Leaving

    private mutating func finish(_ slot: Int, _ ending: Ending) -> (sequence: Int64, ending: Ending) {
        let sequence = delivery.entries[slot].sequence
        changes.append(.finish(sequence: sequence, ending))
        leave(slot)
        return (sequence, ending)
    }

    private mutating func leave(_ slot: Int) {
        let entry = delivery.entries[slot]
        dropBody(of: slot)
        admission.release(token: entry.token, size: entry.size)
        delivery.remove(slot)
    }

    private mutating func dropBody(of slot: Int) {
        guard delivery.entries[slot].body != nil else { return }
        bodyBytes -= delivery.entries[slot].size
        delivery.setBody(nil, of: slot)
    }

    // MARK: What the operator may see

    package var lanes: [Lane] { delivery.lanes }
    package func blockedReason(lane: Int) -> String? { delivery.lanes[lane].blockedReason }
    package mutating func lane(_ id: LaneID) -> Int { delivery.lane(id) }
    package var waiting: Int { admission.waiting }
    package var waitingBytes: Int { admission.waitingBytes }
}
