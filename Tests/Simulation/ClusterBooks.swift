import Clocks

@testable import Relay

/// What an outsider knows of several nodes: who has begun what, who has accepted what, what ended.
struct ClusterBooks {
    /// Begun by each process, and no end of it is in the store.
    private var begun: [Int: Set<Int64>] = [:]
    /// Processes that have ended, or whose lease was taken away.
    private(set) var gone: Set<Int> = []
    /// Ended as each process knows.
    private var ended: [Int: Set<Int64>] = [:]
    /// Their gateway has accepted them, and a node has heard that which is still there or has written it down.
    private var settled: Set<Int64> = []
    /// The same of all that were there.
    private var clear: Set<Int64> = []
    /// How often each may be taken once more: so often a process was gone that had begun it.
    private var excuses: [Int64: Int] = [:]
    private var taken: Set<Int64> = []
    /// Of each: for whom it is, under which identity, and until when it waits (ms since 1970).
    private(set) var rows: [Int64: (digests: SubmissionDigests, expiresAt: UnixTime)] = [:]
    /// Stored and known, by identity.
    private var numbers: [Digest: Int64] = [:]
    private(set) var endings: [Int64: Ending] = [:]
    /// Which node has accepted it.
    private(set) var acceptedBy: [Int64: Int] = [:]
    /// When it was stored, and when each process has seen it, in nanoseconds.
    private var seen: [Int: [Int64: Int64]] = [:]
    private(set) var endedAt: [Int64: Int64] = [:]
    /// The id under which each is sent.
    private var ids: [Int64: NotificationID] = [:]
    /// Processes that do once more what a commit has done whose answer was lost.
    var repeating: Set<Int> = []

    private(set) var accepted = 0
    /// Begun by those that are gone, and what of it was taken again.
    private(set) var orphans = 0
    private(set) var again = 0
    /// Begun by nodes whose clock had stood still with them.
    private(set) var strays = 0

    // MARK: What is stored

    /// - Returns: What is wrong with it.
    mutating func store(_ sequence: Int64, _ request: StoreRequest) -> String? {
        rows[sequence] = (request.digests, request.notification.expiresAt)
        let before = numbers.updateValue(sequence, forKey: request.digests.identity)
        // What may come again may do so in the commit that ends it.
        guard let before, endings[before]?.isRemembered ?? true else { return nil }
        return "\(sequence) is stored, and is known as \(before)"
    }

    mutating func forget(_ identity: Digest) { numbers[identity] = nil }

    mutating func accept(_ sequence: Int64, by node: ClusterNode) {
        accepted += 1
        acceptedBy[sequence] = node.number
        guard let submittedAt = rows[sequence].flatMap({ node.submittedAt[$0.digests.identity] }) else {
            return
        }
        see(sequence, in: node.process, at: submittedAt)
    }

    mutating func see(_ sequence: Int64, in process: Int, at time: Int64) {
        if seen[process]?[sequence] == nil { seen[process, default: [:]][sequence] = time }
    }

    func seenAt(_ sequence: Int64, in process: Int) -> Int64? { seen[process]?[sequence] }

    // MARK: What is sent

    /// - Parameter isStray: Its node does not know that it may not send it.
    /// - Returns: What is wrong with it.
    mutating func begin(
        _ sequence: Int64, _ id: NotificationID, in process: Int, isStray: Bool
    ) -> String? {
        if let before = ids.updateValue(id, forKey: sequence), before != id {
            return "another id on a repeat"
        }
        if isStray || gone.contains(process) {
            strays += 1
            excuse(sequence)
        } else {
            begun[process, default: []].insert(sequence)
        }
        guard settled.contains(sequence), !isStray else { return nil }
        return "\(sequence) is sent again, and its end was clear"
    }

    /// What a process had begun may go out again: it is gone.
    mutating func orphan(_ process: Int) {
        guard gone.insert(process).inserted else { return }
        for sequence in begun.removeValue(forKey: process) ?? [] { excuse(sequence) }
    }

    private mutating func excuse(_ sequence: Int64) {
        orphans += 1
        excuses[sequence, default: 0] += 1
        if endings[sequence] == nil { settled.remove(sequence) }
    }

    /// - Returns: What is wrong with it.
    mutating func take(_ sequence: Int64, in process: Int) -> String? {
        guard !taken.insert(sequence).inserted, clear.contains(sequence) else { return nil }
        again += 1
        excuses[sequence, default: 0] -= 1
        if settled.contains(sequence), !gone.contains(process) { return "\(sequence) is taken twice" }
        return excuses[sequence, default: 0] < 0 ? "\(sequence) is taken once more than was begun" : nil
    }

    func isTaken(_ sequence: Int64) -> Bool { taken.contains(sequence) }

    mutating func answered(_ attempt: World.Attempt, in process: Int) {
        guard attempt.verdict.outcome.isJudgement else {
            begun[process]?.remove(attempt.handle.sequence)
            // Unclear: what was taken all the same is taken again.
            if attempt.verdict.isTaken { excuses[attempt.handle.sequence, default: 0] += 1 }
            return
        }
        guard attempt.verdict.outcome == .accepted else { return }
        clear.insert(attempt.handle.sequence)
        // Not what its node might not have sent: another one has it by then.
        guard begun[process]?.contains(attempt.handle.sequence) == true else { return }
        settled.insert(attempt.handle.sequence)
    }

    // MARK: What has ended

    mutating func end(_ sequence: Int64, in process: Int) { ended[process, default: []].insert(sequence) }
    func hasEnded(_ sequence: Int64, in process: Int) -> Bool { ended[process]?.contains(sequence) ?? false }

    /// The store has its end.
    mutating func ended(_ sequence: Int64, _ ending: Ending, by process: Int, at time: Int64) {
        begun[process]?.remove(sequence)
        if endedAt[sequence] == nil { endedAt[sequence] = time }
        endings[sequence] = ending
    }
}
