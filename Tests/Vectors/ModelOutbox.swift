import Relay

/// An outbox as ``Relay/Outbox`` promises it, in memory: a commit happens whole or not at all, and what has happened
/// outlives the process.
package struct ModelOutbox {
    package struct Row: Equatable {
        package let sequence: Int64
        package fileprivate(set) var notification: Notification
        package let token: Digest
        package var attempts = 0
        package var notBefore: Int64 = 0
        package var isShelved = false
        var rank = 0
    }

    package struct Identity {
        package let sequence: Int64
        package let content: Digest
        let acceptedAt: Int64
        package var ending: Ending?
    }

    package private(set) var rows: [Int64: Row] = [:]
    package private(set) var identities: [Digest: Identity] = [:]
    package private(set) var deadTokens: [Digest: DeadToken] = [:]
    private var wishes: [Digest: DeviceWish] = [:]
    private var lanes: [LaneID: LaneRecord] = [:]
    package private(set) var clock: ClockRecord?
    /// Identities that were let go because they were old, since this was emptied last.
    package var lapsed: [Digest] = []
    private var identityOf: [Int64: Digest] = [:]
    private var shelvedOf: [Digest: Set<Int64>] = [:]
    private var nextSequence: Int64 = 1
    /// How each notification ended, for ever: the simulation's own books, which nothing is forgotten from.
    package private(set) var endings: [Int64: Ending] = [:]
    private var forgotten: [Digest] = []
    /// Handed out of the backlog by this process.
    private var claimed: Set<Int64> = []
    /// In the hands of gateways that keep them, and all that ever were.
    private(set) var kept: Set<Int64> = []
    private var everKept: Set<Int64> = []

    package init() {}

    package var lastSequence: Int64 { nextSequence - 1 }

    /// - Parameter reserves: As a database does, which gives a commit its numbers at the beginning: those that it doesn't
    ///   need are given to nobody.
    package mutating func commit(
        _ changes: [OutboxChange], reserves: Bool = false, _ violation: (String) -> Void
    ) -> [StoreResult] {
        let end = reserves ? nextSequence + numbers(for: changes) : 0
        defer { nextSequence = max(nextSequence, end) }
        var results: [StoreResult] = []
        for change in changes {
            switch change {
            case .store(let request): results.append(store(request))
            case .lookUp(let digests): results.append(known(digests) ?? .unknown)
            case .remember(let digests, let acceptedAt): remember(digests, acceptedAt: acceptedAt)
            case .finish(let sequence, let ending): finish(sequence, ending, violation)
            case .postpone(let sequence, let attempts, let notBefore):
                guard let row = rows[sequence] else {
                    // It may have been put off before it was sent and kept.
                    guard !everKept.contains(sequence) else { continue }
                    violation("\(sequence) is put off without a row")
                    continue
                }
                if row.attempts >= attempts {
                    violation("attempts of \(sequence) went from \(row.attempts) to \(attempts)")
                }
                if row.isShelved, !claimed.contains(sequence) { violation("\(sequence) is put off on disk") }
                rows[sequence]?.attempts = attempts
                if !row.isShelved { rows[sequence]?.notBefore = notBefore }
                if notBefore > 0 {
                    for other in shelvedOf[row.token] ?? [] { rows[other]?.notBefore = notBefore }
                }
            case .shelve(let token, let sequences, let notBefore):
                for sequence in sequences { shelve(sequence, of: token, violation) }
                spare(token, until: notBefore)
            case .spare(let wish): wishes[wish.token] = wish
            case .forgetWishes(let tokens): for token in tokens { wishes[token] = nil }
            case .lane(let lane, let record): lanes[lane] = record
            case .move(let lane, let app): move(lane, toApp: app, violation)
            case .buryToken(let token, let told): deadTokens[token] = told
            case .reviveToken(let token):
                let told = deadTokens.removeValue(forKey: token)
                if told == nil { violation("one is revived that was not dead") }
            case .forget(let acceptedBefore, let buriedBefore):
                for (digest, identity) in identities
                where identity.ending != nil && identity.acceptedAt < acceptedBefore {
                    identities[digest] = nil
                    forgotten.append(digest)
                    lapsed.append(digest)
                    identityOf[identity.sequence] = nil
                }
                deadTokens = deadTokens.filter { $0.value.buriedAt >= buriedBefore }
            case .clock(let record): clock = record
            case .proof, .giveUp: break
            }
        }
        return results
    }

    private func numbers(for changes: [OutboxChange]) -> Int64 {
        let stored = changes.compactMap { change -> Digest? in
            switch change {
            case .store(let request): request.digests.identity
            case .remember(let digests, _): digests.identity
            default: nil
            }
        }
        return Int64(stored.count - Set(stored).count { identities[$0] != nil })
    }

    /// Identities that were let go since this was called last.
    package mutating func takeForgotten() -> [Digest] {
        defer { forgotten = [] }
        return forgotten
    }

    private mutating func finish(_ sequence: Int64, _ ending: Ending, _ violation: (String) -> Void) {
        if let row = rows.removeValue(forKey: sequence) {
            if row.isShelved, !claimed.contains(sequence) { violation("\(sequence) ends on disk") }
            shelvedOf[row.token]?.remove(sequence)
        } else {
            violation("\(sequence) ends without a row")
        }
        remember(sequence, ending)
    }

    /// Its gateway has taken it over: how it ends is still to come.
    package mutating func keep(_ sequence: Int64, _ violation: (String) -> Void) {
        guard let row = rows.removeValue(forKey: sequence) else {
            return violation("\(sequence) is kept without a row")
        }
        shelvedOf[row.token]?.remove(sequence)
        claimed.remove(sequence)
        kept.insert(sequence)
        everKept.insert(sequence)
    }

    /// - Returns: Its identity, as far as it is remembered.
    @discardableResult
    package mutating func keptEnded(_ sequence: Int64, _ ending: Ending) -> Digest? {
        kept.remove(sequence)
        let identity = identityOf[sequence]
        remember(sequence, ending)
        return identity
    }

    private mutating func remember(_ sequence: Int64, _ ending: Ending) {
        claimed.remove(sequence)
        endings[sequence] = ending
        guard let identity = identityOf[sequence] else { return }
        if ending.isRemembered {
            identities[identity]?.ending = ending
        } else {
            identities[identity] = nil
            identityOf[sequence] = nil
            forgotten.append(identity)
        }
    }

    private mutating func remember(_ digests: SubmissionDigests, acceptedAt: Int64) {
        guard identities[digests.identity] == nil else { return }
        identities[digests.identity] = Identity(
            sequence: nextSequence, content: digests.content, acceptedAt: acceptedAt, ending: .delivered)
        identityOf[nextSequence] = digests.identity
        nextSequence += 1
    }

    private func known(_ digests: SubmissionDigests) -> StoreResult? {
        guard let known = identities[digests.identity] else { return nil }
        guard known.content == digests.content else { return .conflict }
        if kept.contains(known.sequence) { return .alreadyKept(sequence: known.sequence) }
        return known.ending.map { .alreadyEnded($0) } ?? .alreadyWaiting(sequence: known.sequence)
    }

    private mutating func store(_ request: StoreRequest) -> StoreResult {
        let digests = request.digests
        if let known = known(digests) { return known }
        let sequence = nextSequence
        var row = Row(sequence: sequence, notification: request.notification, token: digests.token)
        if case .backlog(let room) = request.place {
            let others = (shelvedOf[digests.token] ?? []).compactMap { rows[$0] }
            guard others.count < room else { return .tooMany }
            row.isShelved = true
            row.rank = (others.map(\.rank) + [request.notification.content.isUrgent ? 0 : 1]).max() ?? 0
            row.notBefore = others.map(\.notBefore).max() ?? 0
            shelvedOf[digests.token, default: []].insert(sequence)
        }
        identities[digests.identity] = Identity(
            sequence: sequence, content: digests.content, acceptedAt: request.notification.acceptedAt)
        identityOf[sequence] = digests.identity
        rows[sequence] = row
        nextSequence += 1
        return .stored(sequence: sequence)
    }

    // MARK: The backlog

    private mutating func shelve(_ sequence: Int64, of token: Digest, _ violation: (String) -> Void) {
        guard let row = rows[sequence], row.token == token else {
            return violation("\(sequence) is shelved without a row")
        }
        if row.isShelved, claimed.remove(sequence) == nil { violation("\(sequence) is shelved twice") }
        rows[sequence]?.isShelved = true
        shelvedOf[token, default: []].insert(sequence)
    }

    private mutating func move(_ lane: LaneID, toApp app: String, _ violation: (String) -> Void) {
        for row in rows.values where row.isShelved && row.notification.lane == lane {
            if claimed.contains(row.sequence) { violation("\(row.sequence) is moved, and handed out") }
            rows[row.sequence]?.notification = row.notification.moved(to: LaneID(app: app, host: lane.host))
        }
    }

    private mutating func spare(_ token: Digest, until notBefore: Int64) {
        for sequence in shelvedOf[token] ?? [] {
            guard var row = rows[sequence] else { continue }
            row.notBefore = notBefore
            row.rank = 1
            rows[sequence] = row
        }
    }

    package mutating func claim(_ claim: Claim) -> Claimed {
        let there = shelvedOf.values.joined().compactMap { rows[$0] }.filter {
            !claimed.contains($0.sequence)
        }
        var found: [Row]
        var nextDue: Int64?
        switch claim.kind {
        case .expired:
            found = there.filter { $0.notification.expiresAt <= claim.time }
                .sorted {
                    ($0.notification.expiresAt, $0.sequence) < ($1.notification.expiresAt, $1.sequence)
                }
        case .due(let lane):
            let ofLane = there.filter { $0.notification.lane == lane }
            let longest = claim.time + Claim.longestWait
            let spared = ofLane.filter {
                $0.notBefore > 0 && $0.notBefore <= claim.time || $0.notBefore > longest
            }
            found =
                spared.sorted { ($0.notBefore, $0.sequence) < ($1.notBefore, $1.sequence) }
                + ofLane.filter { $0.notBefore == 0 }
                .sorted { ($0.rank, $0.sequence) < ($1.rank, $1.sequence) }
            nextDue =
                rows.values.filter {
                    $0.isShelved && $0.notification.lane == lane && $0.notBefore > claim.time
                }.map(\.notBefore).min()
        }
        found = Array(found.filter { $0.sequence <= claim.last }.prefix(claim.limit))
        claimed.formUnion(found.map(\.sequence))
        return Claimed(found.map { Claimed.Row($0.waiting, $0.notification) }, nextDue: nextDue)
    }

    // MARK: Reading

    package func notifications(_ sequences: [Int64]) -> [Int64: Notification] {
        var found: [Int64: Notification] = [:]
        for sequence in sequences { found[sequence] = rows[sequence]?.notification }
        return found
    }

    /// A new process: nothing is handed out, and a device that has some in the backlog has all there.
    package mutating func restart() {
        claimed = []
        for row in rows.values.sorted(by: { $0.sequence < $1.sequence })
        where !row.isShelved && shelvedOf[row.token]?.isEmpty == false {
            rows[row.sequence]?.isShelved = true
            shelvedOf[row.token]?.insert(row.sequence)
            let all = shelvedOf[row.token] ?? []
            spare(row.token, until: all.compactMap { rows[$0]?.notBefore }.max() ?? 0)
        }
    }

    package var content: OutboxContent {
        let all = rows.values.sorted { $0.sequence < $1.sequence }
        let lanes = Dictionary(grouping: all.filter(\.isShelved), by: \.notification.lane)
        var content = OutboxContent(
            waiting: all.filter { !$0.isShelved }.map(\.waiting),
            backlog: lanes.map { lane, rows in
                LaneBacklog(
                    lane: lane, waiting: rows.count, bytes: rows.map(\.notification.size).reduce(0, +),
                    oldestAcceptedAt: rows.map(\.notification.acceptedAt).min() ?? 0)
            }.sorted { ($0.lane.app, $0.lane.host.name) < ($1.lane.app, $1.lane.host.name) },
            deadTokens: deadTokens, lastSequence: lastSequence)
        content.wishes = wishes.values.sorted {
            ($0.token.high, $0.token.low) < ($1.token.high, $1.token.low)
        }
        content.lanes = self.lanes
        for (identity, known) in identities { content.known.insert(identity, acceptedAt: known.acceptedAt) }
        content.clock = clock
        return content
    }
}

extension ModelOutbox.Row {
    package var waiting: WaitingRow {
        WaitingRow(
            sequence: sequence, lane: notification.lane, token: token,
            isUrgent: notification.content.isUrgent, size: notification.size, attempts: attempts,
            acceptedAt: notification.acceptedAt, notBefore: notBefore, expiresAt: notification.expiresAt)
    }
}

extension Notification {
    fileprivate func moved(to lane: LaneID) -> Notification {
        Notification(
            id: id, lane: lane, deviceToken: deviceToken, content: content, expiresAt: expiresAt,
            acceptedAt: acceptedAt, sender: sender)
    }
}
