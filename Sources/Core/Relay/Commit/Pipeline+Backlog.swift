import Clocks

/// The backlog: notifications that wait on disk only. They are claimed lane by lane, a few hundred at a time, so that
/// memory doesn't grow with what waits.
///
/// A new notification goes there when its lane has as many in memory as may be, or when its device may have any there: so
/// none overtakes an earlier one of its device. What was claimed stays in the backlog until its end. When all that a lane
/// has in memory is put off, and there is more in its backlog, devices go back there as a whole.
extension Pipeline {
    // MARK: Into the backlog

    mutating func restore(_ backlog: LaneBacklog, at now: Instant) {
        admission.restore(backlog)
        let oldest =
            now.monotonic - max(.zero, wallClock.date(at: now) - backlog.oldestAcceptedAt)
        delivery.withLane(lane(backlog.lane)) {
            $0.shelf.add(backlog.waiting, of: backlog.device)
            $0.taken.count += backlog.waiting
            $0.taken.bytes += backlog.bytes
            $0.standing.hadWaiting()
            $0.claim.becomeDue(at: 0)
            $0.oldestShelvedAt = min($0.oldestShelvedAt ?? .max, oldest)
        }
    }

    func goesToBacklog(_ token: Digest, in lane: Int) -> Bool {
        // Field by field: a copy of a lane costs more than the answer.
        let count = delivery.lanes[lane].count
        guard count < window.perLane, count < window.least || delivery.count < window.total else {
            return true
        }
        guard delivery.lanes[lane].shelved > 0 else { return false }
        // What waits there for other devices has its turn only while little is in memory.
        return delivery.lanes[lane].idleCount > claimLimit / 2 || delivery.lanes[lane].shelf.mayHold(token)
    }

    /// How many notifications of a lane are claimed at a time.
    private var claimLimit: Int { delivery.count >= window.total ? window.least : window.claim }

    mutating func destination(of slot: Int, isShelved: Bool, at now: Instant) -> StoreRequest.Destination {
        if delivery.entries[slot].whereabouts == .elsewhere {
            return .elsewhere(room: limits.waitingPerToken)
        }
        return isShelved ? shelve(slot, submittedAt: now.monotonic) : .window
    }

    /// Puts an admitted notification into the backlog with its commit.
    mutating func shelve(_ slot: Int, submittedAt: MonotonicTime) -> StoreRequest.Destination {
        delivery.setShelved(slot)
        delivery.withLane(delivery.entries[slot].lane) {
            if $0.shelved == 0 { $0.oldestShelvedAt = submittedAt }
            $0.shelf.add()
        }
        return .backlog(room: admission.shelve(token: delivery.entries[slot].token))
    }

    /// Settles a notification that is in the backlog now.
    mutating func settleShelved(_ slot: Int, _ sequence: Int64, for ticket: Ticket, at now: Instant) {
        let lane = delivery.entries[slot].lane
        accept(ticket, sequence, isRepetition: false, at: now)
        delivery.withLane(lane) { $0.claim.becomeDue(at: 0) }
        delivery.stir(lane)
        retire(slot)
    }

    /// Sends a notification into the backlog behind the others of
    /// its device, which went there while it was stored.
    mutating func follow(_ slot: Int, due: UnixTime, at now: Instant) {
        let entry = delivery.entries[slot]
        delivery.withLane(entry.lane) { $0.shelf.add() }
        shelve(entry.token, [entry.sequence], in: entry.lane, due: due, at: now)
        retire(slot)
    }

    /// Takes a notification out of memory; it waits on.
    mutating func retire(_ slot: Int) {
        let entry = delivery.entries[slot]
        awaitElsewhere(entry.sequence)
        dropBody(of: slot)
        admission.retire(token: entry.token, isShelved: entry.whereabouts == .backlog)
        delivery.remove(slot)
    }

    private mutating func shelve(
        _ token: Digest, _ sequences: [Int64], in lane: Int, due: UnixTime, at now: Instant
    ) {
        commits.shelve(token, sequences, due: due)
        noteShelving(in: lane, due: due, at: now)
        scheduleCommit(at: now.monotonic)
    }

    mutating func noteShelving(in lane: Int, due: UnixTime, at now: Instant) {
        commits.hold(lane)
        let dueAt = wallClock.monotonicTime(ofSteady: due, at: now)
        delivery.withLane(lane) { $0.claim.shelve(dueAt: dueAt) }
    }

    mutating func endShelving(_ lanes: [Int]) {
        for lane in lanes {
            delivery.withLane(lane) { $0.claim.endShelving() }
            delivery.stir(lane)
            delivery.tidyLane(lane)
        }
    }

    /// Moves the devices that are put off for longest back into
    /// the backlog, for others to come in their place.
    private mutating func makeRoom(in lane: Int, for limit: Int, at now: Instant) {
        let time = now.monotonic
        for token in delivery.postponed(in: lane, after: time + Pipeline.leastAbsence)
            .prefix(Pipeline.shelvedAtOnce)
        {
            guard delivery.lanes[lane].idleCount > limit / 4 else { break }
            if mayGoBack(token) { sendToBacklog(token, in: lane, at: now) }
        }
        delivery.forgetPostponed(in: lane)
    }

    /// Whether a device's notifications may go back: not while one of their lanes reads from the backlog, since what is
    /// read would overtake them.
    func mayGoBack(_ token: Digest) -> Bool {
        !delivery.waiting(of: token).contains { delivery.lanes[delivery.entries[$0].lane].claim.isUnderWay }
    }

    /// Moves all notifications of a device to the backlog; the device may have none any more.
    mutating func sendToBacklog(_ token: Digest, in lane: Int, at now: Instant) {
        let slots = delivery.waiting(of: token)
        // What is not in the outbox can't be in its backlog.
        guard !slots.isEmpty, slots.allSatisfy({ delivery.entries[$0].writing == .first }) else { return }
        let due = wallClock.steadyTime(ofMonotonic: delivery.notBefore(of: token))
        shelve(token, slots.map { delivery.entries[$0].sequence }, in: lane, due: due, at: now)
        for slot in slots {
            // What the operator has moved may wait for it in another lane.
            let own = delivery.entries[slot].lane
            delivery.withLane(own) { $0.shelf.add() }
            if own != lane { noteShelving(in: own, due: due, at: now) }
        }
        // From the back, so that none of them becomes ready in between.
        for slot in slots.reversed() { retire(slot) }
    }

    // MARK: Out of it

    /// Asks for more of what a lane has on disk, when little of it is in memory.
    ///
    /// - Parameter isStarved: There is nothing in memory that could be sent now.
    mutating func refill(_ index: Int, isStarved: Bool, at now: Instant) {
        guard delivery.lanes[index].shelved > 0 else { return }
        let lane = delivery.lanes[index]
        guard lane.claim.mayBegin else { return }
        // While those in memory have all failed, who tries the gateway in the middle of a pause is on disk.
        guard !lane.isHeld(at: now.monotonic) else { return }
        let limit = claimLimit
        guard lane.idleCount <= limit / 2 else {
            if isStarved, lane.claim.isDue(at: now.monotonic) {
                makeRoom(in: index, for: limit, at: now)
            }
            return
        }
        guard lane.claim.isDue(at: now.monotonic) else { return }
        delivery.withLane(index) { $0.claim.begin() }
        effects.append(
            .claim(
                Claim(.due(lane.id), at: wallClock.steadyTime(at: now), last: lastSequence, limit: limit)))
    }

    /// Asks for what has expired on disk.
    mutating func sweep(at now: Instant) {
        guard !isSweeping, !commits.isMoving, !isStopping, commits.fault == nil,
            delivery.lanes.contains(where: { $0.shelved > 0 })
        else { return }
        isSweeping = true
        effects.append(
            .claim(
                Claim(
                    .expired, at: wallClock.lateTime(at: now), last: lastSequence, limit: Pipeline.sweptAtOnce
                )))
    }

    /// Takes what ``Effect/claim(_:)`` asked for.
    package mutating func claimed(_ claimed: Claimed, by claim: Claim, at now: Instant) {
        guard !claimed.isEarly else { return claimFailed(claim, at: now) }
        switch claim.kind {
        case .due(let id):
            guard let lane = delivery.lane(id) else { preconditionFailure("a lane is gone while it claims") }
            noteUncounted(claimed.rows, in: lane, at: now)
            for found in claimed.rows { enter(found, lane, at: now) }
            let isAll = claimed.rows.count < claim.limit
            let nextDue = claimed.nextDue.map { wallClock.monotonicTime(ofSteady: $0, at: now) } ?? .max
            delivery.withLane(lane) {
                $0.claim.end(dueAt: isAll ? min($0.claim.at, nextDue) : 0)
                // A command that came after this claim was made reaches further than it.
                if isAll, claim.time == Claim.anyTime {
                    $0.droppedUpTo = $0.droppedUpTo.flatMap { $0 > claim.last ? $0 : nil }
                }
            }
            claimGivenUp(lane)
            delivery.stir(lane)
            delivery.tidyLane(lane)
        case .expired:
            isSweeping = false
            for found in claimed.rows { endOnDisk(found.row, .expired, at: now) }
            if claimed.rows.count == claim.limit { sweep(at: now) }
        }
        if !commits.isEmpty { scheduleCommit(at: now.monotonic) }
    }

    /// Notes that a claim failed: the outbox could not be read, or it was too early; it is asked again.
    package mutating func claimFailed(_ claim: Claim, at now: Instant) {
        guard case .due(let id) = claim.kind else {
            isSweeping = false
            return
        }
        guard let lane = delivery.lane(id) else { return }
        let again = now.monotonic + Pipeline.retryCommit
        delivery.withLane(lane) { $0.claim.end(dueAt: again) }
        wake(lane, at: again)
    }

    /// Counts rows that nobody counts any more: a store that went back has some.
    /// Taken for those that are counted, they would leave the count behind what is
    /// there, and what comes last would never be asked for.
    private mutating func noteUncounted(_ rows: [Claimed.Row], in lane: Int, at now: Instant) {
        guard rows.count > delivery.lanes[lane].shelved else { return }
        let own = rows.filter { owns($0.row.token) }
        let uncounted = own.suffix(max(0, own.count - max(0, delivery.lanes[lane].shelved)))
        guard let oldest = uncounted.map(\.row.acceptedAt).min() else { return }
        restore(
            LaneBacklog(
                lane: delivery.lanes[lane].id, waiting: uncounted.count,
                bytes: uncounted.reduce(0) { $0 + $1.row.size }, oldestAcceptedAt: oldest), at: now)
    }

    private mutating func enter(_ found: Claimed.Row, _ lane: Int, at now: Instant) {
        let row = found.row
        // Given up since it was asked for.
        guard owns(row.token) else { return }
        let submittedAt =
            now.monotonic - max(.zero, wallClock.steadyTime(at: now) - row.acceptedAt)
        delivery.withLane(lane) {
            $0.shelf.remove(of: row.token)
            $0.oldestShelvedAt = $0.shelved > 0 ? submittedAt : nil
        }
        admission.claim(token: row.token, at: now.monotonic)
        let isOwn = row.sequence > sequenceAtStart
        let late = wallClock.lateInstant(isOwn: isOwn, at: now)
        let slot = delivery.insert(
            Delivery.Entry(
                token: row.token, lane: lane, size: row.size, submittedAt: submittedAt,
                deadline: late.deadline(row.expiresAt, within: Validator.longestMilliseconds),
                attempts: row.attempts, doubtedEnd: wallClock.isDoubted && !isOwn ? row.expiresAt : nil,
                isUrgent: row.isUrgent, whereabouts: .backlog, body: found.notification))
        delivery.number(slot, row.sequence)
        bodyBytes += row.size
        if let last = delivery.lanes[lane].droppedUpTo, row.sequence <= last {
            return finish(slot, .dropped, at: now)
        }
        // Its device may have died while it waited.
        if let since = deadTokens.sinceUnlessTried(row.token, at: now) {
            return finish(slot, .unregistered(since: wallClock.told(since, at: now)), at: now)
        }
        spareBody(of: slot)
        delivery.enqueue(slot)
    }

    private mutating func endOnDisk(_ row: WaitingRow, _ ending: Ending, at now: Instant) {
        guard let lane = delivery.lane(row.lane), delivery.slots[row.sequence] == nil, owns(row.token)
        else { return }
        delivery.withLane(lane) {
            $0.shelf.remove(of: row.token)
            $0.taken.release(row.size)
        }
        admission.releaseShelved(size: row.size)
        let submittedAt =
            now.monotonic - max(.zero, wallClock.steadyTime(at: now) - row.acceptedAt)
        commits.append(.finish(sequence: row.sequence, ending))
        effects.append(
            .ended(
                End(
                    leaving: Leaving(
                        sequence: row.sequence, token: row.token, lane: lane, door: nil,
                        submittedAt: submittedAt), ending: ending)))
        if senders.listens(for: row.sequence) { commits.tellAfter(row.sequence, ending) }
        delivery.tidyLane(lane)
    }

    /// The shortest time for which a device is put off that goes back into the backlog.
    private static let leastAbsence: Duration = .seconds(1)
    private static let shelvedAtOnce = 128
    private static let sweptAtOnce = 256
}

extension Delivery {
    /// Returns the devices of a lane that are put off until after that time, those for longest first.
    fileprivate func postponed(in lane: Int, after time: MonotonicTime) -> [Digest] {
        lanes[lane].postponed.all.filter {
            $0.due > time && entries[$0.slot].isPostponed($0.sequence, in: lane)
        }
        .sorted { $1 < $0 }.map { entries[$0.slot].token }
    }
}

extension Lane {
    /// The number of notifications in memory that are neither with the gateway nor on their way into the
    /// outbox.
    var idleCount: Int { count - inFlight - storing }
}
