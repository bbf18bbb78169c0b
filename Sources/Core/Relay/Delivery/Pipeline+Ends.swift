import Clocks
import Encodings

/// How notifications leave the books.
extension Pipeline {
    mutating func bury(_ slot: Int, _ ending: Ending, since: UnixTime, at now: Instant) {
        noteClock(at: now)
        noteAcceptance(at: now)
        let token = delivery.entries[slot].token
        if let told = deadTokens.bury(token, since: since, at: wallClock.dating(now)) {
            commits.append(.buryToken(token, told))
        }
        // From the back, so that none of them becomes ready in between.
        for behind in delivery.waiting(of: token).reversed() { finish(behind, ending, at: now) }
        finish(slot, ending, at: now)
    }

    /// Ends what has expired. To be called now and then: what expires unsent is only noticed here.
    mutating func expire(at now: Instant) {
        for slot in delivery.entries.indices
        where delivery.entries[slot].deadline <= now.monotonic {
            switch delivery.entries[slot].state {
            case .queued, .ready, .postponed: finish(slot, .expired, at: now)
            case .storing, .loading, .inFlight, .ended, .free: break
            }
        }
    }

    func end(of slot: Int, _ ending: Ending) -> End { End(leaving: leaving(slot), ending: ending) }

    func leaving(_ slot: Int) -> Leaving {
        let entry = delivery.entries[slot]
        return Leaving(
            sequence: entry.sequence, token: entry.token, lane: entry.lane,
            door: entry.door == Delivery.Entry.noDoor ? nil : Int(entry.door),
            submittedAt: entry.submittedAt)
    }

    mutating func finish(_ slot: Int, _ ending: Ending, at now: Instant) {
        guard !finishAtOnce(slot, ending, at: now) else { return }
        var end = end(of: slot, ending)
        // Looked at for those only that were refused, which are few.
        if case .refused = ending {
            end.isProbe = delivery.entries[slot].body.map { isOfNobody($0.deviceToken) } ?? false
        }
        commits.append(.finish(sequence: end.sequence, ending))
        effects.append(.ended(end))
        if senders.listens(for: end.sequence) { commits.tellAfter(end.sequence, ending) }
        scheduleCommit(at: now.monotonic)
        leave(slot)
    }

    mutating func leave(_ slot: Int) {
        dropBody(of: slot)
        let entry = delivery.entries[slot]
        admission.release(token: entry.token, size: entry.size, isShelved: entry.whereabouts == .backlog)
        delivery.withLane(entry.lane) { $0.taken.release(entry.size) }
        delivery.remove(slot)
    }
}

extension Pipeline {
    /// Gives back the room of what has left the books, once nearly all has. To be called from time to time.
    mutating func giveBackRoom() {
        delivery.giveBackRoom()
        effects.giveBackRoom()
    }
}
