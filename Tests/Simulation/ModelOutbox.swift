@testable import Relay

/// An outbox as ``Relay/Outbox`` promises it, in memory: a commit happens whole or not at all, and what has happened
/// outlives the process.
struct ModelOutbox {
    struct Row {
        let notification: Notification
        let token: Digest
        var attempts = 0
        var notBefore: Int64 = 0
    }

    struct Identity {
        let sequence: Int64
        let content: Digest
        let acceptedAt: Int64
        var ending: Ending?
    }

    private(set) var rows: [Int64: Row] = [:]
    private(set) var identities: [Digest: Identity] = [:]
    private(set) var deadTokens: [Digest: DeadToken] = [:]
    private var identityOf: [Int64: Digest] = [:]
    private var nextSequence: Int64 = 1
    /// How each notification ended, for ever: the simulation's own books, which nothing is forgotten from.
    private(set) var endings: [Int64: Ending] = [:]
    private var forgotten: [Digest] = []

    mutating func commit(_ changes: [OutboxChange], _ violation: (String) -> Void) -> [StoreResult] {
        var results: [StoreResult] = []
        for change in changes {
            switch change {
            case .store(let request): results.append(store(request))
            case .finish(let sequence, let ending):
                if rows.removeValue(forKey: sequence) == nil { violation("\(sequence) ends without a row") }
                endings[sequence] = ending
                if let identity = identityOf[sequence] { identities[identity]?.ending = ending }
            case .postpone(let sequence, let attempts, let notBefore):
                if rows[sequence] == nil { violation("\(sequence) is put off without a row") }
                if let before = rows[sequence]?.attempts, before >= attempts {
                    violation("attempts of \(sequence) went from \(before) to \(attempts)")
                }
                rows[sequence]?.attempts = attempts
                rows[sequence]?.notBefore = notBefore
            case .buryToken(let token, let told): deadTokens[token] = told
            case .reviveToken(let token):
                let told = deadTokens.removeValue(forKey: token)
                if told == nil { violation("one is revived that was not dead") }
            case .forget(let acceptedBefore, let buriedBefore):
                for (digest, identity) in identities
                where identity.ending != nil && identity.acceptedAt < acceptedBefore {
                    identities[digest] = nil
                    forgotten.append(digest)
                    identityOf[identity.sequence] = nil
                }
                deadTokens = deadTokens.filter { $0.value.buriedAt >= buriedBefore }
            case .proof: break
            }
        }
        return results
    }

    /// Identities that were let go since this was called last.
    mutating func takeForgotten() -> [Digest] {
        defer { forgotten = [] }
        return forgotten
    }

    private mutating func store(_ request: StoreRequest) -> StoreResult {
        let digests = request.digests
        if let known = identities[digests.identity] {
            guard known.content == digests.content else { return .conflict }
            return known.ending.map { .alreadyEnded($0) } ?? .alreadyWaiting(sequence: known.sequence)
        }
        let sequence = nextSequence
        identities[digests.identity] = Identity(
            sequence: sequence, content: digests.content,
            acceptedAt: request.notification.acceptedAt)
        identityOf[sequence] = digests.identity
        rows[sequence] = Row(notification: request.notification, token: digests.token)
        nextSequence += 1
        return .stored(sequence: sequence)
    }

    func notifications(_ sequences: [Int64]) -> [Int64: Notification] {
        var found: [Int64: Notification] = [:]
        for sequence in sequences { found[sequence] = rows[sequence]?.notification }
        return found
    }

    var content: OutboxContent {
        let waiting = rows.sorted { $0.key < $1.key }.map { sequence, row in
            WaitingRow(
                sequence: sequence, lane: row.notification.lane, token: row.token,
                isUrgent: row.notification.content.isUrgent, size: row.size, attempts: row.attempts,
                acceptedAt: row.notification.acceptedAt, notBefore: row.notBefore,
                expiresAt: row.notification.expiresAt)
        }
        return OutboxContent(waiting: waiting, deadTokens: deadTokens)
    }
}

extension ModelOutbox.Row {
    var size: Int { notification.size }
}
