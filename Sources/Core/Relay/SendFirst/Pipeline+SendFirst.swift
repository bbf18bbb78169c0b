import Clocks
import Encodings

/// Notifications that go out first. If the sender waits for the outcome anyway, one is stored only if its gateway has not
/// answered within a window: most never touch the disk.
///
/// No sender gets `stored` before the commit. `delivered` goes out as soon as the gateway has said so, and its identity is
/// written a little later, with others; every other end takes the long way. A kill within the window loses what no sender
/// has an answer to; one after it, before the identities are written, lets a repetition out again, under the same id.
extension Pipeline {
    /// The window for peers: their own deadlines are short.
    package static let shortWindow: Duration = .milliseconds(100)
    /// The most identities that wait to be written. Each commit writes some pages anew that hold others.
    static let mostUnwritten = 8192
    /// The number of identities that wait to be written at which a commit begins.
    static let unwrittenPerCommit = 2048
    /// The time after which identities that wait are written.
    static let longestUnwritten: Duration = .seconds(1)

    func window(of patience: Patience) -> Duration {
        switch patience {
        case .none: .zero
        case .short: min(writeBehind, Pipeline.shortWindow)
        case .full: writeBehind
        }
    }

    // MARK: Out

    /// Whether a submission may go out before it is stored: nothing of its device waits or is under way, and
    /// its lane usually answers in time. The submission has been admitted.
    func goesOutFirst(
        _ submission: Submission, _ digests: SubmissionDigests, by service: any PushService, size: Int,
        in lane: Int, at now: Instant
    ) -> Bool {
        guard submission.patience != .none, writeBehind > .zero, service.answersSoon, !submission.isOfAlias,
            commits.fault == nil, !wallClock.isDoubted, holdsLease(at: now.monotonic),
            cluster.isWhole
        else { return false }
        return unstored.hasRoom(for: size, of: submission.sender)
            && commits.unwritten < Pipeline.mostUnwritten
            && delivery.answersSoon(lane, submission.patience)
            && admission.waiting(of: digests.token) == 1
            && (delivery.wishes.isEmpty || delivery.wishes.until(digests.token) <= now.monotonic)
            && !deadTokens.holds(digests.token) && !known.mayHold(digests.identity)
    }

    mutating func sendFirst(
        _ slot: Int, _ one: Unstored.One, size: Int, at now: Instant
    ) {
        let number = unstored.nextNumber()
        delivery.sendFirst(slot, as: number)
        let window = window(of: one.patience)
        unstored.add(one, size: size, slot: slot, dueAt: now.monotonic + window)
        delivery.enqueue(slot)
    }

    // MARK: Into the outbox

    /// Stores the notifications that went out before they were stored and whose time is over.
    mutating func storeDue(at now: Instant) {
        while let slot = unstored.takeDue(at: now.monotonic) {
            let entry = delivery.entries[slot]
            guard entry.writing == .behind, let one = unstored[entry.sequence] else { continue }
            delivery.withLane(entry.lane) { $0.promptness.missed(one.patience) }
            storeLate(slot, at: now)
        }
    }

    /// Stores all that went out before it was stored: the node
    /// stops, and what is under way may not end in time.
    mutating func storeAll(at now: Instant) {
        guard !unstored.isEmpty else { return }
        for slot in delivery.entries.indices { storeLate(slot, at: now) }
    }

    /// Stores the device's notification that went out before it was stored: more
    /// has come for the device, and is stored after it.
    mutating func storeFirst(of token: Digest, at now: Instant) {
        guard !unstored.isEmpty, let slot = delivery.first(of: token) else { return }
        storeLate(slot, at: now)
    }

    mutating func storeLate(_ slot: Int, at now: Instant) {
        let entry = delivery.entries[slot]
        guard entry.writing == .behind, entry.state != .free, let one = unstored[entry.sequence],
            let body = entry.body
        else { return }
        delivery.setWriting(.late, of: slot)
        commits.store(
            StoreRequest(notification: body, digests: one.digests),
            for: Ticket(
                purpose: .store(slot), door: one.door, submittedAt: entry.submittedAt,
                awaitsOutcome: true, reply: one.reply))
        scheduleCommit(at: now.monotonic)
    }

    /// Takes the outbox's answer for a notification that went out before it was stored.
    mutating func settleLate(_ slot: Int, _ result: StoreResult, for ticket: Ticket, at now: Instant) {
        guard case .stored(let sequence) = result else {
            return giveUpStoring(slot, result, for: ticket, at: now)
        }
        let one = takeUnstored(slot)
        lastSequence = max(lastSequence, sequence)
        countRemembered(slot, at: now)
        delivery.renumber(slot, sequence)
        if one.meanwhile.isDelivered {
            return endAtOnce(slot, .delivered, countedAs: .stored, for: ticket, at: now)
        }
        accept(ticket, sequence, isRepetition: false, at: now)
        let entry = delivery.entries[slot]
        switch one.meanwhile {
        case .nothing: break
        case .held(let reason, let notBefore):
            if let reason, delivery.lanes[entry.lane].block == nil {
                tell(ticket.reply, .held(reason: reason))
            }
            if let notBefore {
                commits.append(.postpone(sequence: sequence, attempts: entry.attempts, notBefore: notBefore))
            }
        case .ended(let ending): return finish(slot, ending, at: now)
        }
        if entry.state.isPostponed { spareBody(of: slot) }
    }

    /// Gives up storing a notification whose identity was known after all.
    private mutating func giveUpStoring(
        _ slot: Int, _ result: StoreResult, for ticket: Ticket, at now: Instant
    ) {
        switch result {
        case .alreadyWaiting(let sequence): accept(ticket, sequence, isRepetition: true, at: now)
        case .alreadyKept(let sequence): settleKept(ticket, sequence, at: now)
        case .alreadyEnded(let ending): answer(ticket, .ended(ending), isRepetition: true, at: now)
        case .conflict: answer(ticket, .refused(.duplicateUid), at: now)
        case .tooMany, .unknown, .stored: answer(ticket, Pipeline.comeAgain, at: now)
        }
        abandonLate(slot)
    }

    /// Settles the notifications whose commit has failed after they went out. Those that their gateways have
    /// not answered are in the next one; senders of delivered ones hear so, and senders of the others that
    /// nothing was stored.
    ///
    /// - Returns: Their slots.
    mutating func commitFailed(late all: [Ticket], at now: Instant) -> Set<Int> {
        var late: Set<Int> = []
        var again: [Ticket] = []
        var stores: [OutboxChange] = []
        for ticket in all {
            guard case .store(let slot) = ticket.purpose, delivery.entries[slot].writing == .late else {
                continue
            }
            late.insert(slot)
            let entry = delivery.entries[slot]
            guard let one = unstored[entry.sequence], let body = entry.body else { continue }
            guard !entry.state.isInFlight else {
                again.append(ticket)
                stores.append(.store(StoreRequest(notification: body, digests: one.digests)))
                continue
            }
            if one.meanwhile.isDelivered {
                countRemembered(slot, at: now)
                remember(one.digests, acceptedAt: body.acceptedAt, at: now)
                effects.append(.ended(end(of: slot, .delivered)))
                answer(ticket, .ended(.delivered), at: now)
            } else {
                answer(ticket, Pipeline.comeAgain, at: now)
            }
            abandonLate(slot)
        }
        // Before what has come for their devices since.
        commits.storeFirst(stores, for: again)
        return late
    }

    private mutating func abandonLate(_ slot: Int) {
        _ = takeUnstored(slot)
        let sender = delivery.entries[slot].body?.sender
        delivery.withLane(delivery.entries[slot].lane) { $0.giveBack(from: sender) }
        delivery.setWriting(.never, of: slot)
        if !delivery.entries[slot].state.isInFlight { leave(slot) }
    }

    private mutating func takeUnstored(_ slot: Int) -> Unstored.One {
        let entry = delivery.entries[slot]
        admission.settle(size: entry.size)
        return unstored.remove(entry.sequence, size: entry.size)
    }

    // MARK: Answers

    /// Stores a notification that waits because its gateway has not judged it.
    mutating func settleUnstored(_ slot: Int, at now: Instant) {
        let entry = delivery.entries[slot]
        switch entry.writing {
        case .behind where entry.state.isPostponed: storeLate(slot, at: now)
        case .never where entry.state != .free: leave(slot)
        case .first, .behind, .late, .never: break
        }
    }

    /// Notes that a notification is held or put off.
    ///
    /// - Returns: True if the notification is not stored yet; sender
    ///   and outbox are then updated after the commit.
    mutating func hold(_ reason: String? = nil, notBefore: UnixTime? = nil, of slot: Int) -> Bool {
        let entry = delivery.entries[slot]
        switch entry.writing {
        case .first: return false
        case .behind, .late:
            unstored.change(entry.sequence) { $0.meanwhile.hold(reason: reason, notBefore: notBefore) }
        case .never: break
        }
        return true
    }

    // MARK: Ends

    /// Ends a notification that may not be stored yet.
    ///
    /// - Returns: False if it was stored first, so that its end goes the usual way.
    mutating func finishAtOnce(_ slot: Int, _ ending: Ending, at now: Instant) -> Bool {
        let entry = delivery.entries[slot]
        switch entry.writing {
        case .first: return false
        case .behind where ending == .delivered: endUnstored(slot, at: now)
        case .behind, .late:
            // Told when it is written down: its row is there before.
            storeLate(slot, at: now)
            unstored.change(entry.sequence) { $0.meanwhile = .ended(ending) }
            delivery.setState(.ended, of: slot)
        case .never:
            effects.append(.ended(end(of: slot, ending)))
            leave(slot)
        }
        return true
    }

    /// Ends a notification that was not stored. Its sender hears of it at once.
    private mutating func endUnstored(_ slot: Int, at now: Instant) {
        let entry = delivery.entries[slot]
        let one = takeUnstored(slot)
        effects.append(.ended(end(of: slot, .delivered)))
        effects.append(
            .neverStored(door: one.door, after: now.monotonic - entry.submittedAt))
        countRemembered(slot, at: now)
        remember(one.digests, acceptedAt: entry.body?.acceptedAt ?? wallClock.date(at: now), at: now)
        tell(one.reply, .ended(.delivered), isLast: true)
        senders.leave(one.reply)
        leave(slot)
    }

    /// Notes an identity to be written with the next commit, or soon with others.
    private mutating func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime, at now: Instant) {
        commits.remember(digests, acceptedAt: acceptedAt)
        let time = now.monotonic
        if isStopping || commits.unwritten >= Pipeline.unwrittenPerCommit {
            writeRemembered(at: time)
        } else {
            commits.writeBy(time + Pipeline.longestUnwritten)
        }
    }

    mutating func writeRemembered(at time: MonotonicTime) {
        commits.ripen()
        if !commits.isEmpty { scheduleCommit(at: time) }
    }

    // MARK: Asked for

    /// Returns the state of a notification that the outbox doesn't have; `nil`: nothing is known.
    package func state(of id: NotificationID) -> NotificationState? {
        if commits.remembers(id.identity) { return .ended(.delivered) }
        return unstored.holds(id.identity) ? .waiting : nil
    }
}

extension Delivery {
    // Of a span, whose elements are lent: what an array gives to a call is a copy of the lane.

    /// Whether a sender brought much to a lane: see ``Lane/hasMuch(of:)``.
    func hasMuch(of sender: SenderID?, in lane: Int) -> Bool { lanes.span[lane].hasMuch(of: sender) }

    fileprivate func answersSoon(_ lane: Int, _ patience: Patience) -> Bool {
        lanes.span[lane].answersSoon(patience)
    }
}

extension Lane {
    /// Whether the lane is open, has room, and usually answers in time.
    fileprivate func answersSoon(_ patience: Patience) -> Bool {
        guard case .open(hasFault: false) = stage, condition == .open, block == nil, shelved == 0,
            !claim.isShelving, !isLoading, inFlight < window.size, ready.count < Lane.mostReady
        else { return false }
        return promptness.isUsual(patience)
    }

    /// The number of ready notifications in a lane from which on none more is sent soon.
    private static let mostReady = 256
}
