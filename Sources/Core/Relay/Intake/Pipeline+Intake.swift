/// From a submission to its commit, and what its sender hears.
extension Pipeline {
    /// - Parameters:
    ///   - door: The edge's number of the door where it came in.
    ///   - awaitsOutcome: Whether the sender wants to hear the end as well.
    ///   - digests: Called when the recipient is checked and the message is not yet.
    package mutating func submit(
        _ submission: Submission, from door: Int = 0, awaitsOutcome: Bool = false, at now: Instant,
        digests makeDigests: (Recipient) -> SubmissionDigests
    ) -> Submitted {
        guard !isStopping else { return .answered(Pipeline.comeAgain) }
        do throws(Reason) {
            if let copies = try validator.copies(of: submission) {
                return submit(copies, from: door, awaitsOutcome: awaitsOutcome, at: now, digests: makeDigests)
            }
        } catch {
            return .answered(.refused(error))
        }
        return submitOne(
            submission, from: door, awaitsOutcome: awaitsOutcome, at: now, digests: makeDigests)
    }

    mutating func submitOne(
        _ submission: Submission, from door: Int, awaitsOutcome: Bool, at now: Instant,
        digests makeDigests: (Recipient) -> SubmissionDigests
    ) -> Submitted {
        let notification: Notification
        let digests: SubmissionDigests
        let service: any PushService
        do throws(Reason) {
            let (recipient, app) = try validator.recipient(of: submission)
            service = app.service
            digests = makeDigests(recipient)
            if let registeredAt = submission.registeredAt,
                deadTokens.revive(digests.token, registeredAt: registeredAt)
            {
                changes.append(.reviveToken(digests.token))
            }
            if let since = deadTokens.since(digests.token, at: now) {
                return refuse(
                    submission, digests, .ended(.unregistered(since: since)), from: door,
                    awaitsOutcome: awaitsOutcome, at: now)
            }
            notification = try validator.notification(
                submission, to: recipient, of: app, as: NotificationID(digests), at: now)
        } catch {
            return .answered(.refused(error))
        }
        storeFirst(of: digests.token, at: now)
        let size = notification.size
        let laneID = notification.lane
        guard isInSight(digests.token),
            let lane = laneForNew(laneID, from: submission.sender, at: now.monotonicNanoseconds)
        else {
            return refuse(
                submission, digests, Pipeline.comeAgain, from: door, awaitsOutcome: awaitsOutcome, at: now)
        }
        let isElsewhere = !owns(digests.token)
        let mayStore = !isElsewhere || hasRoomElsewhere(for: digests.token, size: size)
        guard mayStore,
            admission.hasRoom(
                for: delivery.lanes[lane].taken, isProven: delivery.lanes[lane].isProven,
                senderBroughtMuch: delivery.lanes[lane].hasMuch(of: submission.sender))
        else {
            if mayStore { delivery.withLane(lane) { $0.fullAt = now.monotonicNanoseconds } }
            delivery.tidyLane(lane)
            return refuse(
                submission, digests, .busy(.node(retryAfter: Admission.retryWhenFull)), from: door,
                awaitsOutcome: awaitsOutcome, at: now)
        }
        let busy = admission.admit(token: digests.token, size: size, from: submission.sender, at: now)
        let later =
            busy != nil && submission.mayWait
            ? admission.admitLater(token: digests.token, size: size, from: submission.sender, at: now) : nil
        if let busy, later == nil {
            delivery.tidyLane(lane)
            return refuse(submission, digests, .busy(busy), from: door, awaitsOutcome: awaitsOutcome, at: now)
        }
        delivery.withLane(lane) { $0.take(size, from: submission.sender) }
        noteClock(now)
        if isElsewhere { ownership?.elsewhere.add(digests.token, size: size) }
        let isShelved = !isElsewhere && goesToBacklog(lane)
        let slot = delivery.insert(
            Delivery.Entry(
                token: digests.token, lane: lane, size: size, submittedAt: now.monotonicNanoseconds,
                deadline: now.deadline(notification.expiresAt, within: Validator.longestMilliseconds),
                registeredAt: submission.registeredAt ?? 0, notBefore: later ?? 0,
                isUrgent: notification.content.isUrgent, isElsewhere: isElsewhere, body: notification))
        bodyBytes += size
        let reply = senders.newID()
        let isFirst =
            awaitsOutcome && !isShelved
            && goesOutFirst(submission, digests, by: service, size: size, in: lane, at: now)
        if writeBehind > .zero { known.insert(digests.identity, acceptedAt: notification.acceptedAt) }
        if isFirst {
            let one = Unstored.One(
                digests: digests, sender: submission.sender, patience: submission.patience, door: door,
                reply: reply)
            sendFirst(slot, one, size: size, at: now)
            return .storing(reply, notification.id)
        }
        let request = StoreRequest(
            notification: notification, digests: digests,
            place: place(of: slot, isShelved: isShelved, at: now),
            registeredAt: submission.registeredAt ?? 0)
        changes.append(.store(request))
        tickets.append(
            Ticket(
                slot: slot, door: door, submittedAt: now.monotonicNanoseconds, awaitsOutcome: awaitsOutcome,
                reply: reply))
        scheduleCommit(at: now.monotonicNanoseconds)
        return .storing(reply, notification.id)
    }

    static var comeAgain: Receipt { .busy(.node(retryAfter: retryWhenOutboxFails)) }

    // MARK: Commits

    /// A running commit schedules the next one when it ends, and one that failed is tried again at its time.
    mutating func scheduleCommit(at time: Int64) {
        guard commit == nil, !isCommitAsked, commitAt == .max else { return }
        if !isStopping, let rest = pace.rest(at: time) {
            commitAt = time + rest.nanoseconds
        } else {
            askForCommit()
        }
    }

    mutating func askForCommit() {
        commitAt = .max
        guard commit == nil, !isCommitAsked, !isClosed else { return }
        isCommitAsked = true
        effects.append(.commitSoon)
    }

    /// The changes that belong into a commit that begins now, which is told of by ``committed(_:at:)`` or
    /// ``commitFailed(_:at:)``; `nil`: there is nothing to write.
    package mutating func beginCommit(at now: Instant) -> [OutboxChange]? {
        isCommitAsked = false
        guard !isClosed, commit == nil, !changes.isEmpty || outboxFault != nil else { return nil }
        var taken = changes.take()
        writeAt = .max
        // A commit that has nothing to write would succeed on a full disk.
        if outboxFault != nil { taken.append(.proof) }
        commit = Commit(
            changes: taken, tickets: tickets, untold: untold, shelving: shelving, moves: moves,
            begun: now.monotonicNanoseconds)
        lookups = 0
        shelving = []
        shelvedBefore = shelved
        shelved = [:]
        tickets = []
        tickets.reserveCapacity(min(taken.count, 1024))
        untold = []
        return taken
    }

    /// The commit has taken effect.
    ///
    /// - Parameter results: One for each submission in it, in their order.
    package mutating func committed(_ results: [StoreResult], at now: Instant) {
        guard let commit else { preconditionFailure("no commit runs") }
        precondition(
            results.count == commit.tickets.count,
            "\(results.count) results for \(commit.tickets.count) submissions")
        self.commit = nil
        let time = now.monotonicNanoseconds
        effects.append(.committed(after: time - commit.begun))
        provenLease(begunAt: commit.begun, at: time)
        if outboxFault != nil {
            outboxFault = nil
            effects.append(.outboxRecovered)
            for lane in delivery.lanes.indices { delivery.stir(lane) }
        }
        lookSoon(at: time)
        endShelving(commit.shelving)
        moves -= commit.moves
        for index in results.indices { settle(commit.tickets[index], results[index], at: now) }
        for (sequence, ending) in commit.untold { tell(sequence, ending) }
        kept.committed()
        pace.ended(begunAt: commit.begun, at: time)
        if !changes.isEmpty { scheduleCommit(at: time) }
        stopIfDone()
    }

    /// Nothing of the commit took effect. Senders are told to come again; what is known of deliveries is kept for the
    /// next commit.
    package mutating func commitFailed(_ error: OutboxError, at now: Instant) {
        guard let commit else { preconditionFailure("no commit runs") }
        self.commit = nil
        if outboxFault == nil || error.isAlwaysTold { effects.append(.outboxFailed(error)) }
        outboxFault = error
        untold = commit.untold + untold
        shelving = commit.shelving + shelving
        shelved.merge(shelvedBefore) { now, _ in now }
        changes.putBack(commit.changes)
        let failed = commit.tickets + loseSight()
        let late = commitFailed(late: failed, at: now)
        for ticket in failed where !late.contains(ticket.slot) {
            if ticket.refusal == nil { abandon(ticket.slot) }
            answer(ticket, ticket.refusal ?? Pipeline.comeAgain, at: now)
        }
        kept.committed()
        commitAt = now.monotonicNanoseconds + Pipeline.retryCommit.nanoseconds
        stopIfDone()
    }

    /// The outbox has answered for one submission.
    private mutating func settle(_ ticket: Ticket, _ result: StoreResult, at now: Instant) {
        guard ticket.refusal == nil else { return settleLookup(ticket, result, at: now) }
        let slot = ticket.slot
        guard delivery.entries[slot].writing == .first else { return settleLate(ticket, result, at: now) }
        precondition(
            delivery.entries[slot].state == .storing, "what was stored is \(delivery.entries[slot].state)")
        switch result {
        case .stored(let sequence):
            admission.settle(size: delivery.entries[slot].size)
            delivery.number(slot, sequence)
            lastSequence = max(lastSequence, sequence)
            guard !delivery.entries[slot].isElsewhere else {
                return settleElsewhere(ticket, sequence, at: now)
            }
            guard !delivery.entries[slot].isShelved else { return settleShelved(ticket, sequence, at: now) }
            // The gateway may have said so while it was being stored.
            if let since = deadTokens.sinceUnlessTried(delivery.entries[slot].token, at: now) {
                let ending = Ending.unregistered(since: since)
                return endAtOnce(slot, ending, countedAs: .ended(ending), for: ticket, at: now)
            }
            accept(ticket, sequence, isRepetition: false, at: now)
            if let due = shelved[delivery.entries[slot].token] ?? shelvedBefore[delivery.entries[slot].token]
            {
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

    /// It is stored, and its end is known: that is told when it is written down.
    mutating func endAtOnce(
        _ slot: Int, _ ending: Ending, countedAs receipt: Receipt, for ticket: Ticket, at now: Instant
    ) {
        count(ticket, receipt, isRepetition: false, at: now)
        listen(ticket.reply, for: delivery.entries[slot].sequence)
        finish(slot, ending, at: now)
    }

    /// Its sender is told `stored`, and what else is known.
    mutating func accept(_ ticket: Ticket, _ sequence: Int64, isRepetition: Bool, at now: Instant) {
        guard ticket.awaitsOutcome else {
            return answer(ticket, .stored, isRepetition: isRepetition, at: now)
        }
        // What is not in memory, and didn't end while this commit ran, so that the outbox didn't know yet, is in the backlog.
        guard delivery.slots[sequence] == nil, let ending = changes.ending(of: sequence) else {
            count(ticket, .stored, isRepetition: isRepetition, at: now)
            tell(ticket.reply, .stored)
            listen(ticket.reply, for: sequence)
            // It has been tried itself.
            if let slot = delivery.slots[sequence], delivery.entries[slot].attempts > 0,
                let reason = delivery.lanes[delivery.entries[slot].lane].blockedReason
            {
                tell(ticket.reply, .held(reason: reason))
            }
            return
        }
        guard changes.holdsEnd(of: sequence) else {
            return answer(ticket, .ended(ending), isRepetition: isRepetition, at: now)
        }
        count(ticket, .stored, isRepetition: isRepetition, at: now)
        tell(ticket.reply, .stored)
        if !senders.listens(for: sequence) { untold.append((sequence, ending)) }
        listen(ticket.reply, for: sequence)
    }

    /// The first receipt, and the last.
    mutating func answer(
        _ ticket: Ticket, _ receipt: Receipt, isRepetition: Bool = false, at now: Instant
    ) {
        count(ticket, receipt, isRepetition: isRepetition, at: now)
        tell(ticket.reply, receipt, isLast: true)
        senders.leave(ticket.reply)
    }

    mutating func count(_ ticket: Ticket, _ receipt: Receipt, isRepetition: Bool, at now: Instant) {
        effects.append(
            .received(
                receipt, isRepetition: isRepetition, door: ticket.door,
                after: now.monotonicNanoseconds - ticket.submittedAt))
    }

    mutating func listen(_ reply: ReplyID, for sequence: Int64) {
        let isFirst = ownership != nil && delivery.slots[sequence] == nil && !senders.listens(for: sequence)
        let dropped = senders.listen(reply, for: sequence)
        if isFirst { awaitElsewhere(sequence) }
        guard let dropped else { return }
        drop(dropped)
        senders.leave(dropped)
    }

    mutating func tell(_ sequence: Int64, _ ending: Ending) {
        guard !aliasSenders.isEmpty else {
            return senders.end(sequence) { effects.append(.tell($0, .ended(ending), isLast: true)) }
        }
        var replies: [ReplyID] = []
        senders.end(sequence) { replies.append($0) }
        for reply in replies { tell(reply, .ended(ending), isLast: true) }
    }

    /// Tells the sender of a notification; one to an alias hears what it is for all its phones.
    mutating func tell(_ reply: ReplyID, _ receipt: Receipt, isLast: Bool = false) {
        guard !aliasSenders.isEmpty else {
            return effects.append(.tell(reply, receipt, isLast: isLast))
        }
        tellSender(of: reply, aliasSenders.note(receipt, from: reply, isLast: isLast))
    }

    /// A submission that is not to be sent.
    private mutating func abandon(_ slot: Int) {
        admission.settle(size: delivery.entries[slot].size)
        if delivery.entries[slot].isShelved {
            delivery.withLane(delivery.entries[slot].lane) { $0.shelved -= 1 }
        }
        leave(slot)
    }
}
