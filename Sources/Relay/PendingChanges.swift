/// The changes on their way into the outbox, one commit after another: the results of one are told before the next is
/// taken.
struct PendingChanges: Sendable {
    private var changes: [OutboxChange] = []
    /// What ended since the changes were taken last, and between that and the time before. A repetition that was
    /// stored before the end of its first is told here how that ended: the outbox didn't know yet.
    private var endings = SequenceTable<Ending>()
    private var earlierEndings = SequenceTable<Ending>()

    var isEmpty: Bool { changes.isEmpty }

    mutating func append(_ change: OutboxChange) {
        changes.append(change)
        if case .finish(let sequence, let ending) = change { endings[sequence] = ending }
    }

    func ending(of sequence: Int64) -> Ending? { endings[sequence] ?? earlierEndings[sequence] }

    /// Whether that end is not in a commit yet.
    func holdsEnd(of sequence: Int64) -> Bool { endings[sequence] != nil }

    mutating func take() -> [OutboxChange] {
        swap(&earlierEndings, &endings)
        // As much room as the last time, unless that was much: batches are alike.
        endings.removeAll(keepingCapacity: endings.capacity <= 4096)
        let taken = changes
        changes = []
        changes.reserveCapacity(min(taken.count, 1024))
        return taken
    }

    /// The commit of these failed: all but submissions and proofs go into the next one, before what has come since. What a
    /// later change makes needless is let go, so that a long outage of the disk fills no memory.
    mutating func putBack(_ failed: [OutboxChange]) {
        endings.add(missing: earlierEndings)
        earlierEndings.removeAll(keepingCapacity: earlierEndings.capacity <= 4096)
        let failed = failed.filter { change in
            switch change {
            case .store, .proof: false
            case .finish, .postpone, .shelve, .buryToken, .reviveToken, .forget: true
            }
        }
        var overtaken: Set<Int64> = []
        var forgets = false
        let kept = (failed + changes).reversed().filter { change in
            switch change {
            case .store, .shelve, .buryToken, .reviveToken, .proof: return true
            case .postpone(let sequence, _, _): return overtaken.insert(sequence).inserted
            case .finish(let sequence, _):
                overtaken.insert(sequence)
                return true
            case .forget:
                defer { forgets = true }
                return !forgets
            }
        }
        changes = kept.reversed()
    }
}
