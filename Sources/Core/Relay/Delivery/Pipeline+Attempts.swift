import Clocks
import Encodings

/// The way from the queue to the gateways, and what their answers mean.
extension Pipeline {
    enum Step: Equatable, Sendable {
        case send(Handle, Notification)
        /// The next notifications are on disk only.
        case load([Int64])
        /// The notification came to its end without being sent, or waits for the clock.
        case ended
        /// No attempt is due before this time.
        case wait(until: MonotonicTime)
        /// No attempt is due until something changes.
        case idle
    }

    /// Sends the notifications of a lane.
    ///
    /// - Parameters:
    ///   - room: How many its gateway takes.
    ///   - hasFault: Whether its gateway knows of something that the operator has to mend. One is sent all the same: it
    ///     comes back blocked, and so the lane learns of it.
    package mutating func pump(_ lane: Int, room: Int, hasFault: Bool = false, at now: Instant) {
        if delivery.lanes[lane].stage.hasFault != hasFault {
            delivery.withLane(lane) { $0.note(hasFault: hasFault) }
            // What blocked it is over: no pause of that time is waited for.
            if !hasFault { resume(delivery.lanes[lane].id, at: now) }
        }
        var room = hasFault ? max(1, room) : room
        guard room > 0, !delivery.lanes[lane].isLoading, maySend(in: lane, at: now) else { return }
        var isStarved = false
        var wakeAt = MonotonicTime.max
        sending: while room > 0 {
            switch nextStep(in: lane, at: now) {
            case .send(let handle, let notification):
                effects.append(.send(handle, notification, lane: lane))
                room -= 1
            case .load(let sequences):
                delivery.withLane(lane) { $0.isLoading = true }
                effects.append(.load(sequences, lane: lane))
                break sending
            case .ended: continue
            case .wait(let time):
                wakeAt = time
                isStarved = true
                break sending
            case .idle:
                isStarved = true
                break sending
            }
        }
        refill(lane, isStarved: isStarved, at: now)
        let claimAt = delivery.lanes[lane].shelved > 0 ? delivery.lanes[lane].claim.at : .max
        // What is due and not claimed waits for something else to change.
        if claimAt > now.monotonic { wakeAt = min(wakeAt, claimAt) }
        if wakeAt < .max { wake(lane, at: wakeAt) }
    }

    /// Whether anything of a lane may be sent, however much room its gateway has.
    @inline(__always)
    func maySend(in lane: Int, at now: Instant) -> Bool {
        !isStopping && commits.fault == nil && delivery.lanes[lane].stage.hasGateway
            && holdsLease(at: now.monotonic)
    }

    mutating func wake(_ lane: Int, at time: MonotonicTime) {
        delivery.withLane(lane) { $0.wakeAt = time }
        lanesWakeAt = min(lanesWakeAt, time)
    }

    /// Decides what a lane does next.
    mutating func nextStep(in lane: Int, at now: Instant) -> Step {
        let time = now.monotonic
        guard let turn = delivery.withLane(lane, { $0.turn(at: time) }) else {
            return delivery.lanes[lane].waitsUntil(at: time).map { .wait(until: $0) } ?? .idle
        }
        guard let slot = take(turn, of: lane, at: time) else {
            if turn == .probe {
                return delivery.lanes[lane].waitsUntil(at: time).map { .wait(until: $0) } ?? .idle
            }
            return delivery.nextDue(lane: lane).map { .wait(until: $0) } ?? .idle
        }
        return begin(slot, in: lane, at: now) ?? .load(load(from: slot, lane: lane, at: time))
    }

    /// Begins the attempt of a notification whose turn it is; `nil`: its body is to be read first.
    @inline(__always)
    mutating func begin(_ slot: Int, in lane: Int, at now: Instant) -> Step? {
        let time = now.monotonic
        guard delivery.entries[slot].deadline > time else {
            finish(slot, .expired, at: now)
            return .ended
        }
        guard owns(delivery.entries[slot].token) || delivery.entries[slot].writing != .first else {
            giveBack(slot)
            return .ended
        }
        guard let dated = delivery.entries[slot].body else { return nil }
        let isStored = delivery.entries[slot].writing == .first
        let body = wallClock.told(dated, isStored ? delivery.entries[slot].sequence : nil, at: now)
        if let time = waitsForClock(body, at: now) {
            delivery.postpone(slot, until: time, isThrottled: false)
            return .ended
        }
        delivery.begin(slot, at: time)
        delivery.withLane(lane) { $0.began(at: time) }
        inFlight += 1
        return .send(Handle(slot: slot, sequence: delivery.entries[slot].sequence), body)
    }

    @inline(__always)
    private mutating func take(_ turn: Lane.Turn, of lane: Int, at time: MonotonicTime) -> Int? {
        switch turn {
        case .oldest: delivery.takeNext(lane: lane, at: time)
        case .newest: delivery.takeOther(lane: lane, at: time) ?? delivery.takeNext(lane: lane, at: time)
        case .oldestOther:
            delivery.takeOther(lane: lane, isOldest: true, at: time)
                ?? delivery.takeNext(lane: lane, at: time)
        case .probe: delivery.takeOther(lane: lane, at: time)
        }
    }

    private mutating func load(from first: Int, lane: Int, at time: MonotonicTime) -> [Int64] {
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

    // MARK: Answers

    /// Takes the outcome of an attempt. Those that waited for a token that proved dead end with it.
    package mutating func attemptEnded(
        _ handle: Handle, _ outcome: Outcome, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        let slot = handle.slot
        guard case .inFlight(let begunAt, handle.sequence) = delivery.entries[slot].state else {
            preconditionFailure(
                "an answer for \(handle.sequence), whose place is \(delivery.entries[slot].state)")
        }
        let lane = delivery.entries[slot].lane
        inFlight -= 1
        delivery.withLane(lane) { $0.ended() }
        let blockedBefore = delivery.lanes[lane].block?.reason
        note(outcome, of: slot, in: lane, begunAt: begunAt, at: now)
        judge(slot, outcome, begunAt: begunAt, at: now, using: &random)
        settleUnstored(slot, at: now)
        if outcome.isJudgement, delivery.lanes[lane].isRecorded { writeDown(lane: lane, at: now) }
        tellIfBlocked(lane, before: blockedBefore)
        serveNewcomer(after: lane, at: now.monotonic)
        delivery.stir(lane)
        if !commits.isEmpty { scheduleCommit(at: now.monotonic) }
        stopIfDone()
    }

    /// Counts an outcome in the lane's state that the operator sees.
    private mutating func note(
        _ outcome: Outcome, of slot: Int, in lane: Int, begunAt: MonotonicTime, at now: Instant
    ) {
        let time = now.monotonic
        let token = delivery.entries[slot].token
        // What fails alone is no trouble of the gateway's.
        if !delivery.lanes[lane].suspicion.isAlone(token) || outcome.isJudgement,
            let news = delivery.withLane(lane, { $0.trouble.note(outcome, at: time) })
        {
            effects.append(.trouble(news, lane: lane))
        }
        if outcome.isJudgement {
            let answerTime = time - begunAt
            let window = writeBehind
            delivery.withLane(lane) { $0.promptness.answered(after: answerTime, within: window) }
        }
        if outcome != .accepted { delivery.withLane(lane) { $0.standing.failed() } }
        switch outcome {
        case .deferred(let deferral): effects.append(.deferred(reason: deferral.reason, lane: lane))
        case .blocked(let reason): effects.append(.deferred(reason: reason, lane: lane))
        case .refused, .tokenDead:
            if let sender = delivery.entries[slot].body?.sender { effects.append(.refused(sender)) }
        case .accepted, .kept: break
        }
    }

    private mutating func judge(
        _ slot: Int, _ outcome: Outcome, begunAt: MonotonicTime, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) {
        switch outcome {
        case .accepted, .kept:
            delivery.answered(slot, at: now.monotonic)
            noteDelivery(by: delivery.entries[slot].lane, at: now.monotonic)
            let token = delivery.entries[slot].token
            if deadTokens.revive(token) { commits.append(.reviveToken(token)) }
            if case .kept = outcome { return keep(slot) }
            finish(slot, .delivered, at: now)
        case .refused(let reason, let kind, let detail):
            delivery.answered(slot, at: now.monotonic)
            finish(slot, .refused(reason: .gateway(reason, kind), detail: detail), at: now)
        case .tokenDead(let reason, let told, let detail):
            delivery.answered(slot, at: now.monotonic)
            // A clock of theirs that is ahead must not keep it dead for longer. Ours may have been set since the app
            // registered the token: both times are of the clock that dates what is accepted.
            let since = wallClock.dated(min(told ?? .max, now.unix), at: now)
            // Dead before the app registered it last, it may be alive (Apple, "Handling notification responses from APNs"):
            // this notification is refused, and no more is said of the token.
            if told != nil, since < delivery.entries[slot].registeredAt {
                return finish(slot, .refused(reason: .gateway(reason), detail: detail), at: now)
            }
            bury(slot, .tokenDead(reason: .gateway(reason), detail: detail), since: since, at: now)
        case .blocked(let reason):
            tellIfHeld(slot, reason)
            let wish = Deferral(reason: reason, scope: .host)
            fail(slot, wish, isBlocked: true, begunAt: begunAt, at: now, using: &random)
        case .deferred(let deferral) where deferral.isUnharmed && returnUnharmed(slot):
            saysNothing(slot, begunAt: begunAt)
        case .deferred(let deferral) where deferral.scope == .device:
            saysNothing(slot, begunAt: begunAt)
            let delay = policy.delay(
                afterAttempts: delivery.entries[slot].attempts + 1, atLeast: deferral.retryAfter,
                using: &random)
            if let way = deferral.way { return putOff(slot, forWay: way, delay, at: now) }
            note(wish: policy.obeyed(deferral.retryAfter), of: slot, at: now)
            postpone(slot, for: delay, isThrottle: deferral.isThrottle, at: now)
        case .deferred(let deferral):
            fail(slot, deferral, isBlocked: false, begunAt: begunAt, at: now, using: &random)
        }
    }

    /// Notes that an attempt's end says nothing of the gateway.
    private mutating func saysNothing(_ slot: Int, begunAt: MonotonicTime) {
        delivery.withLane(delivery.entries[slot].lane) { $0.endedAlone(begunAt: begunAt) }
    }

    /// Tells a notification's senders that the operator has to mend something first. Only for a notification that was not
    /// tried yet.
    private mutating func tellIfHeld(_ slot: Int, _ reason: String) {
        guard delivery.entries[slot].attempts == 0 else { return }
        guard !hold(reason, of: slot) else { return }
        for reply in senders.listening(for: delivery.entries[slot].sequence) {
            tell(reply, .held(reason: reason))
        }
    }

    private mutating func tellIfBlocked(_ lane: Int, before: String?) {
        let reason = delivery.lanes[lane].block?.reason
        guard reason != before else { return }
        guard let reason else { return effects.append(.unblocked(lane: lane)) }
        effects.append(.blocked(lane: lane, reason: reason))
    }

    /// Gives a notification back that the gateway has not handled, as it says.
    ///
    /// - Returns: Whether that is believed.
    private mutating func returnUnharmed(_ slot: Int) -> Bool {
        guard delivery.entries[slot].returns < Pipeline.longestRunOfReturns else { return false }
        delivery.countReturn(of: slot)
        delivery.giveBack(slot)
        spareBody(of: slot)
        return true
    }

    /// Lets a notification wait by itself, counted as an attempt.
    private mutating func postpone(
        _ slot: Int, for delay: Duration, isThrottle: Bool = false, at now: Instant
    ) {
        delivery.countAttempt(of: slot)
        let due = now.monotonic + delay
        delivery.postpone(slot, until: due, isThrottled: isThrottle)
        writeDown(slot, notBefore: wallClock.steadyTime(ofMonotonic: due))
    }

    mutating func writeDown(_ slot: Int, notBefore: UnixTime, sparesBody: Bool = true) {
        let entry = delivery.entries[slot]
        guard !hold(notBefore: notBefore, of: slot) else { return }
        commits.append(
            .postpone(sequence: entry.sequence, attempts: entry.attempts, notBefore: notBefore))
        if sparesBody { spareBody(of: slot) }
    }

    /// Handles an attempt that failed as all of its lane would if the gateway were overloaded or the
    /// credentials wrong. The notification waits in any case. The lane waits, too, when enough devices have
    /// failed so with no answer between them.
    private mutating func fail(
        _ slot: Int, _ deferral: Deferral, isBlocked: Bool, begunAt: MonotonicTime, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) {
        let (lane, token) = (delivery.entries[slot].lane, delivery.entries[slot].token)
        let time = now.monotonic
        let asked = policy.obeyed(deferral.retryAfter)
        note(wish: asked, of: slot, at: now)
        let sender = delivery.entries[slot].body?.sender
        let wasAlone = delivery.wasAlone(slot)
        let (finding, pauses) = delivery.withLane(lane) {
            $0.failed(
                token, from: sender, wasAlone: wasAlone, witnesses: deferral.witnesses, begunAt: begunAt,
                at: time)
        }
        guard finding != .alone else {
            let least = isBlocked ? Lane.shortestBlock : deferral.retryAfter
            let delay = policy.delay(
                afterAttempts: delivery.entries[slot].attempts + 1, atLeast: least, using: &random)
            return postpone(slot, for: delay, at: now)
        }
        if isBlocked, pauses || finding == .again {
            delivery.withLane(lane) { $0.block(reason: deferral.reason, at: time) }
        }
        if pauses {
            let app = delivery.lanes[lane].id.app
            for other in delivery.lanes.indices
            where other == lane || deferral.scope == .app && delivery.lanes[other].id.app == app {
                pause(other, deferral, at: now, using: &random)
            }
        } else if isBlocked {
            writeDown(lane: lane, at: now)
        }
        delivery.countAttempt(of: slot)
        var delay = policy.delay(
            afterAttempts: delivery.entries[slot].attempts, atLeast: asked, using: &random)
        // A few are enough to see when it works again: of many, each is tried the more rarely.
        let crowd = delivery.lanes[lane].suspended.count / Lane.fewSuspended
        delay = max(delay, min(Lane.longestPause * crowd, policy.longest))
        delivery.suspend(slot, until: time + delay, asked: time + asked)
        if isBlocked { return spareBody(of: slot) }
        writeDown(
            slot, notBefore: asked > .zero ? wallClock.steadyTime(ofMonotonic: time + asked) : 0)
    }

    private mutating func pause(
        _ lane: Int, _ deferral: Deferral, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        delivery.withLane(lane) { [policy] in
            $0.pause(
                atLeast: deferral.retryAfter, isSure: deferral.witnesses <= 1, at: now.monotonic,
                policy: policy, using: &random)
        }
        writeDown(lane: lane, at: now)
    }
}
