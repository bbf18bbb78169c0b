import Clocks
import Encodings

/// The changes on their way into the outbox, one commit after another: senders hear of the results of one before the next
/// is taken.
struct PendingChanges: Sendable {
    private var changes: [OutboxChange] = []
    /// The endings since the changes were taken last. A repetition that was stored before the end of its
    /// first gets its answer from here: the outbox didn't know yet.
    private var endings = SequenceTable<Ending>()
    /// The endings between that and the time before.
    private var earlierEndings = SequenceTable<Ending>()

    /// Notifications that were delivered before they were stored. They can wait for other changes, and go before them all:
    /// a repetition that is stored with them is known then.
    private var remembered: [(digests: SubmissionDigests, acceptedAt: UnixTime)] = []

    /// How lanes stand: only the last word is written.
    private var lanes: [LaneID: LaneRecord?] = [:]

    /// The latest change that forgets identities. It is made before all other changes of the commit: notifications of the
    /// same commit may have been accepted by a clock that was set since. One or none: to look into an optional of so large a
    /// value takes ten times as long.
    private var forgetting: [OutboxChange] = []

    /// The last word about the clock, if there is one. Whatever has its time from that clock is never written without it.
    private var clock: [OutboxChange] = []

    /// Whether there is more than ends.
    private(set) var hasMoreThanEnds = false

    /// Whether nothing needs a commit at once.
    var isEmpty: Bool { changes.isEmpty && lanes.isEmpty && forgetting.isEmpty && clock.isEmpty }

    /// Notes the state of a lane; `nil`: that of a new lane.
    mutating func note(_ lane: LaneID, _ record: LaneRecord?) {
        lanes[lane] = .some(record)
        hasMoreThanEnds = true
    }

    mutating func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime) {
        remembered.append((digests, acceptedAt))
    }

    /// Deliveries that wait for other changes.
    var unwritten: Int { remembered.count }

    /// Ends the wait of deliveries for other changes.
    mutating func ripen() {
        guard !remembered.isEmpty else { return }
        changes.insert(contentsOf: remembered.lazy.map { .remember($0, acceptedAt: $1) }, at: 0)
        remembered.empty()
    }

    func remembers(_ identity: Digest) -> Bool {
        if remembered.contains(where: { $0.digests.identity == identity }) { return true }
        return changes.contains {
            if case .remember(let digests, _) = $0 { digests.identity == identity } else { false }
        }
    }

    mutating func prepend(_ changes: [OutboxChange]) {
        self.changes.insert(contentsOf: changes, at: 0)
        hasMoreThanEnds = true
    }

    mutating func append(_ change: OutboxChange) {
        if case .finish = change {} else { hasMoreThanEnds = true }
        switch change {
        case .forget: forgetting = [change]
        case .clock: clock = [change]
        case .finish(let sequence, let ending):
            changes.append(change)
            endings[sequence] = ending
        case .store, .lookUp, .remember, .postpone, .shelve, .spare, .forgetWishes, .lane, .move, .retry,
            .buryToken, .reviveToken, .giveUp, .proof:
            changes.append(change)
        }
    }

    func ending(of sequence: Int64) -> Ending? { endings[sequence] ?? earlierEndings[sequence] }

    /// Whether that end is not in a commit yet.
    func holdsEnd(of sequence: Int64) -> Bool { endings[sequence] != nil }

    mutating func take() -> [OutboxChange] {
        ripen()
        swap(&earlierEndings, &endings)
        // As much room as the last time: batches are alike.
        endings.empty()
        var taken = changes
        changes = []
        changes.reserveCapacity(min(taken.count, 1024))
        if !lanes.isEmpty {
            for (lane, record) in lanes { taken.append(.lane(lane, record)) }
            lanes = [:]
        }
        if !clock.isEmpty { taken.insert(contentsOf: clock, at: 0) }
        if !forgetting.isEmpty { taken.insert(contentsOf: forgetting, at: 0) }
        (forgetting, clock, hasMoreThanEnds) = ([], [], false)
        return taken
    }

    /// Drops the submissions that wait to be stored or looked up.
    mutating func dropSubmissions() {
        changes.removeAll {
            switch $0 {
            case .store, .lookUp: true
            case .remember, .finish, .postpone, .shelve, .spare, .forgetWishes, .lane, .move, .retry,
                .buryToken, .reviveToken, .forget, .clock, .giveUp, .proof:
                false
            }
        }
    }

    /// Puts back the changes of a commit that failed: all but submissions and proofs go into the next
    /// commit, before what has come since. Changes that a later one makes needless are let go, so
    /// that a long outage of the disk fills no memory.
    mutating func putBack(_ failed: [OutboxChange]) {
        hasMoreThanEnds = true
        endings.add(missing: earlierEndings)
        earlierEndings.empty()
        for case .lane(let lane, let record) in failed where !lanes.keys.contains(lane) { note(lane, record) }
        for change in failed.prefix(2) {
            if case .forget = change, forgetting.isEmpty { forgetting = [change] }
            if case .clock = change, clock.isEmpty { clock = [change] }
        }
        let failed = failed.filter { change in
            switch change {
            case .store, .lookUp, .proof, .lane, .clock, .forget: false
            case .remember, .finish, .postpone, .shelve, .move, .retry, .spare, .forgetWishes, .buryToken,
                .reviveToken, .giveUp:
                true
            }
        }
        var overtaken: Set<Int64> = []
        let kept = (failed + changes).reversed().filter { change in
            switch change {
            case .store, .lookUp, .remember, .shelve, .move, .retry, .spare, .forgetWishes, .lane, .clock,
                .buryToken, .reviveToken, .giveUp, .proof, .forget:
                return true
            case .postpone(let sequence, _, _): return overtaken.insert(sequence).inserted
            case .finish(let sequence, _):
                overtaken.insert(sequence)
                return true
            }
        }
        changes = kept.reversed()
    }
}
