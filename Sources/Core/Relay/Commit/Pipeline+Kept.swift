/// Notifications that gateways keep in this node's store. Their ends are written down there, and go to the senders who
/// still listen.
extension Pipeline {
    /// Notes that a gateway keeps a notification, which has left the outbox.
    mutating func keep(_ slot: Int) {
        let sequence = delivery.entries[slot].sequence
        precondition(
            delivery.entries[slot].writing == .first, "kept without having been stored: \(sequence)")
        effects.append(.kept(leaving(slot)))
        listenToKept(sequence)
        for reply in senders.listening(for: sequence) { tell(reply, .kept) }
        leave(slot)
    }

    /// Settles the repetition of a notification that is kept.
    mutating func settleKept(_ ticket: Ticket, _ sequence: Int64, at now: Instant) {
        guard settleWaiting(ticket, sequence, at: now) else { return }
        listenToKept(sequence)
        if senders.listening(for: sequence).contains(ticket.reply) { tell(ticket.reply, .kept) }
    }

    /// Settles the repetition of a notification that waited when the outbox was
    /// asked: it may have been kept and have ended since.
    ///
    /// - Returns: Whether it still waits.
    @discardableResult
    mutating func settleWaiting(_ ticket: Ticket, _ sequence: Int64, at now: Instant) -> Bool {
        if let ending = kept.ending(of: sequence) {
            answer(ticket, .ended(ending), isRepetition: true, at: now)
            return false
        }
        accept(ticket, sequence, isRepetition: true, at: now)
        return true
    }

    /// Takes the end of a notification that was kept. The end is written down already.
    package mutating func keptEnded(_ sequence: Int64, _ ending: Ending) {
        kept.end(sequence, ending, isCommitting: commits.isRunning)
        tell(sequence, ending)
    }

    /// Lets go of a sender, which hears nothing more.
    mutating func drop(_ dropped: ReplyID) {
        if aliasSenders.isEmpty {
            effects.append(.drop(dropped))
        } else {
            tellSender(of: dropped, aliasSenders.drop(dropped))
        }
    }

    private mutating func listenToKept(_ sequence: Int64) {
        guard senders.listens(for: sequence), let dropped = kept.listen(to: sequence) else { return }
        var replies: [ReplyID] = []
        senders.end(dropped) { replies.append($0) }
        for reply in replies { drop(reply) }
    }
}

/// Whose end is awaited of what gateways keep, which may be long.
struct Kept: Sendable {
    /// The most notifications at the same time; beyond them senders hear nothing more of the oldest.
    static let most = 4096

    /// The oldest first. Those that have ended go when they are most of them.
    private var listened: [Int64] = []
    private var awaited: Set<Int64> = []
    /// The endings of those that ended while a commit ran, which may have found them kept.
    private var endings = SequenceTable<Ending>()

    /// Waits for the end of a notification that is kept.
    ///
    /// - Returns: The notification of which its senders hear nothing more.
    mutating func listen(to sequence: Int64) -> Int64? {
        guard awaited.insert(sequence).inserted else { return nil }
        listened.append(sequence)
        if listened.count >= 2 * Kept.most { listened.removeAll { [awaited] in !awaited.contains($0) } }
        guard awaited.count > Kept.most, let first = listened.firstIndex(where: awaited.contains) else {
            return nil
        }
        let dropped = listened[first]
        listened.removeFirst(first + 1)
        awaited.remove(dropped)
        return dropped
    }

    mutating func end(_ sequence: Int64, _ ending: Ending, isCommitting: Bool) {
        awaited.remove(sequence)
        if awaited.isEmpty { listened = [] }
        if isCommitting { endings[sequence] = ending }
    }

    func ending(of sequence: Int64) -> Ending? { endings.isEmpty ? nil : endings[sequence] }

    mutating func committed() {
        if !endings.isEmpty { endings.empty() }
    }
}

/// The end of a notification that a gateway kept.
package struct KeptEnd: Equatable, Sendable {
    package let sequence: Int64
    package let ending: Ending

    package init(sequence: Int64, ending: Ending) {
        self.sequence = sequence
        self.ending = ending
    }
}
