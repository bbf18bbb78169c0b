import Clocks

/// The answers to senders, and the list of those who still listen.
extension Pipeline {
    /// Answers `stored` to the sender of a submission, and what else is known.
    mutating func accept(_ ticket: Ticket, _ sequence: Int64, isRepetition: Bool, at now: Instant) {
        guard ticket.awaitsOutcome else {
            return answer(ticket, .stored, isRepetition: isRepetition, at: now)
        }
        // What is not in memory, and didn't end while this commit ran, so that the outbox didn't know yet, is in the backlog.
        guard delivery.slots[sequence] == nil, let ending = commits.ending(of: sequence) else {
            count(ticket, .stored, isRepetition: isRepetition, at: now)
            tell(ticket.reply, .stored)
            listen(ticket.reply, for: sequence)
            // It has been tried itself.
            if let slot = delivery.slots[sequence], delivery.entries[slot].attempts > 0,
                let reason = delivery.lanes[delivery.entries[slot].lane].block?.reason
            {
                tell(ticket.reply, .held(reason: reason))
            }
            return
        }
        guard commits.holdsEnd(of: sequence) else {
            return answer(ticket, .ended(ending), isRepetition: isRepetition, at: now)
        }
        count(ticket, .stored, isRepetition: isRepetition, at: now)
        tell(ticket.reply, .stored)
        if !senders.listens(for: sequence) { commits.tellAfter(sequence, ending) }
        listen(ticket.reply, for: sequence)
    }

    /// Answers with the first receipt, which is also the last.
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
                after: now.monotonic - ticket.submittedAt))
    }

    mutating func listen(_ reply: ReplyID, for sequence: Int64) {
        let isFirst = cluster.hasOthers && delivery.slots[sequence] == nil && !senders.listens(for: sequence)
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
}
