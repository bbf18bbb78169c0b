import Clocks

/// Commits, from the first change to the last word about it.
extension Pipeline {
    mutating func scheduleCommit(at time: MonotonicTime) {
        if !isClosed, commits.schedule(at: time, isStopping: isStopping) { effects.append(.commitSoon) }
    }

    mutating func askForCommit() {
        guard !isClosed else { return commits.close() }
        if commits.ask() { effects.append(.commitSoon) }
    }

    /// Has a commit made that changes nothing, unless one is under way: it shows whether the store takes anything.
    package mutating func prove(at now: Instant) {
        guard !commits.isRunning, commits.fault == nil, !isStopping else { return }
        commits.append(.proof)
        scheduleCommit(at: now.monotonic)
    }

    /// Returns the changes that belong into a commit that begins now, whose end comes by ``committed(_:at:)`` or
    /// ``commitFailed(_:at:)``; `nil`: there is nothing to write.
    package mutating func beginCommit(at now: Instant) -> [OutboxChange]? {
        guard !isClosed else {
            commits.leaveUnbegun()
            return nil
        }
        return commits.begin(at: now.monotonic)
    }

    /// Whether a power cut must not lose the commit that runs: somebody hears of it, or it has more than ends.
    package var isCommitAwaited: Bool { commits.running?.isAwaited ?? true }

    /// Takes the results of a commit that has taken effect.
    ///
    /// - Parameter results: One for each submission in it, in their order.
    package mutating func committed(_ results: [StoreResult], at now: Instant) {
        let (commit, hasRecovered) = commits.committed()
        precondition(
            results.count == commit.tickets.count,
            "\(results.count) results for \(commit.tickets.count) submissions")
        let time = now.monotonic
        effects.append(.committed(after: time - commit.begun))
        provenLease(begunAt: commit.begun, at: time)
        if hasRecovered {
            effects.append(.outboxRecovered)
            for lane in delivery.lanes.indices { delivery.stir(lane) }
        }
        lookSoon(at: time)
        endShelving(commit.shelving)
        for index in results.indices { settle(commit.tickets[index], results[index], at: now) }
        for (sequence, ending) in commit.unreported { tell(sequence, ending) }
        kept.committed()
        commits.rest(after: commit, at: time)
        if !commits.isEmpty { scheduleCommit(at: time) }
        stopIfDone()
    }

    /// Ends a commit of which nothing took effect. Senders get `busy`; what is known of deliveries is kept for the next
    /// commit.
    package mutating func commitFailed(_ error: OutboxError, at now: Instant) {
        let (commit, isReported) = commits.failed(error)
        if isReported { effects.append(.outboxFailed(error)) }
        let failed = commit.tickets + loseSight()
        let late = commitFailed(late: failed, at: now)
        for ticket in failed {
            switch ticket.purpose {
            case .store(let slot) where late.contains(slot): break
            case .store(let slot):
                abandon(slot)
                answer(ticket, Pipeline.comeAgain, at: now)
            case .lookUp(let refusal): answer(ticket, refusal, at: now)
            }
        }
        kept.committed()
        commits.retry(at: now.monotonic + Pipeline.retryCommit)
        stopIfDone()
    }

    /// Settles a submission for which the outbox has answered.
    private mutating func settle(_ ticket: Ticket, _ result: StoreResult, at now: Instant) {
        switch ticket.purpose {
        case .store(let slot) where delivery.entries[slot].writing == .first:
            settleStored(slot, result, for: ticket, at: now)
        case .store(let slot): settleLate(slot, result, for: ticket, at: now)
        case .lookUp(let refusal): settleLookup(ticket, result, refusal: refusal, at: now)
        }
    }

    /// Settles a notification that was not sent before this commit.
    private mutating func settleStored(
        _ slot: Int, _ result: StoreResult, for ticket: Ticket, at now: Instant
    ) {
        precondition(
            delivery.entries[slot].state == .storing, "what was stored is \(delivery.entries[slot].state)")
        switch result {
        case .stored(let sequence):
            admission.settle(size: delivery.entries[slot].size)
            countRemembered(slot, at: now)
            delivery.number(slot, sequence)
            lastSequence = max(lastSequence, sequence)
            switch delivery.entries[slot].whereabouts {
            case .elsewhere: return settleElsewhere(slot, sequence, for: ticket, at: now)
            case .backlog: return settleShelved(slot, sequence, for: ticket, at: now)
            case .window: break
            }
            // The gateway may have said so while it was being stored.
            if let since = deadTokens.sinceUnlessTried(delivery.entries[slot].token, at: now) {
                let ending = Ending.unregistered(since: wallClock.told(since, at: now))
                return endAtOnce(slot, ending, countedAs: .ended(ending), for: ticket, at: now)
            }
            accept(ticket, sequence, isRepetition: false, at: now)
            if let due = commits.dueOfShelved(delivery.entries[slot].token) {
                return follow(slot, due: due, at: now)
            }
            spareBody(of: slot)
            delivery.enqueue(slot)
        case .alreadyWaiting(let sequence):
            abandon(slot)
            settleWaiting(ticket, sequence, at: now)
        case .alreadyKept(let sequence):
            abandon(slot)
            settleKept(ticket, sequence, at: now)
        case .alreadyEnded(let ending):
            abandon(slot)
            answer(ticket, .ended(ending), isRepetition: true, at: now)
        case .conflict:
            abandon(slot)
            answer(ticket, .refused(.duplicateUid), at: now)
        case .tooMany:
            abandon(slot)
            answer(ticket, .busy(.device(retryAfter: Admission.retryWhenFull)), at: now)
        case .unknown: preconditionFailure("what was to be stored was looked up")
        }
    }

    /// Ends a notification that is stored and whose end is known: its sender hears of it when it is written down.
    mutating func endAtOnce(
        _ slot: Int, _ ending: Ending, countedAs receipt: Receipt, for ticket: Ticket, at now: Instant
    ) {
        count(ticket, receipt, isRepetition: false, at: now)
        listen(ticket.reply, for: delivery.entries[slot].sequence)
        finish(slot, ending, at: now)
    }

    /// Counts a new identity in its sender's share: the outbox remembers it.
    mutating func countRemembered(_ slot: Int, at now: Instant) {
        admission.remembered(from: delivery.entries[slot].body?.sender, at: now.monotonic)
    }

    /// Drops a submission that is not to be sent, and counts it in no share of its sender.
    private mutating func abandon(_ slot: Int) {
        admission.settle(size: delivery.entries[slot].size)
        let sender = delivery.entries[slot].body?.sender
        let isShelved = delivery.entries[slot].whereabouts == .backlog
        delivery.withLane(delivery.entries[slot].lane) {
            $0.giveBack(from: sender)
            if isShelved { $0.shelf.remove() }
        }
        leave(slot)
    }
}
