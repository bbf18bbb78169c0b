import Clocks
import Relay

/// An outbox as ``Relay/Outbox`` promises it, in memory: a commit happens whole or not at all, and what has happened
/// outlives the process.
package struct ModelOutbox {
    package struct Row: Equatable {
        package fileprivate(set) var sequence: Int64
        package internal(set) var notification: Notification
        package let token: Digest
        package var attempts = 0
        package var notBefore: UnixTime = 0
        package var isShelved = false
        /// Another node has put it there, and the one that has its shard has not seen it.
        package var isLate = false
        var rank = 0
    }

    package struct Identity {
        package let sequence: Int64
        package let content: Digest
        package internal(set) var acceptedAt: UnixTime
        package var ending: Ending?
    }

    /// What was said last of the identities that there were then.
    private struct Verdict {
        var last: Int64 = 0
        var acceptedBefore = UnixTime.min
        var latest = UnixTime.max

        func isOver(_ identity: Identity) -> Bool {
            identity.ending != nil && identity.sequence <= last
                && (identity.acceptedAt < acceptedBefore || identity.acceptedAt > latest)
        }
    }

    package internal(set) var rows: [Int64: Row] = [:]
    package internal(set) var identities: [Digest: Identity] = [:]
    package internal(set) var deadTokens: [Digest: DeadToken] = [:]
    private(set) var wishes: [Digest: DeviceWish] = [:]
    private(set) var lanes: [LaneID: LaneRecord] = [:]
    package internal(set) var clock: ClockRecord?
    /// Identities that were let go because they were old, since this was emptied last.
    package var lapsed: [Digest] = []
    var identityOf: [Int64: Digest] = [:]
    var shelvedOf: [Digest: Set<Int64>] = [:]
    private var nextSequence: Int64 = 1
    /// A process knows it until it ends.
    private var verdict = Verdict()
    /// For a canary: as long as the oldest is young enough, nothing is forgotten.
    package var stopsAtTheFirst = false
    /// What the running commit has got at its beginning.
    private var numbers: ArraySlice<Int64> = []
    /// How each notification ended, for ever: the simulation's own books, which nothing is forgotten from.
    package private(set) var endings: [Int64: Ending] = [:]
    private var forgotten: [Digest] = []
    /// Handed out of the backlog by this process, which has these shards.
    package var claimed: Set<Int64> = []
    package var held = Shards.all
    /// In the hands of gateways that keep them, and all that ever were.
    private(set) var kept: Set<Int64> = []
    private var everKept: Set<Int64> = []

    package init() {}

    package var lastSequence: Int64 { nextSequence - 1 }

    /// - Parameter numbers: What ``reserve(for:)`` gave it; those that it doesn't need are given to nobody.
    package mutating func commit(
        _ changes: [OutboxChange], numbers: [Int64] = [], _ violation: (String) -> Void
    ) -> [StoreResult] {
        self.numbers = numbers[...]
        defer { self.numbers = [] }
        var results: [StoreResult] = []
        // What is forgotten goes before all else, also before what was said earlier.
        var forgottenTokens: Set<Digest> = []
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
            case .retry(let lane, let time): retry(lane, at: time)
            case .buryToken(let token, let told): deadTokens[token] = told
            case .reviveToken(let token):
                let told = deadTokens.removeValue(forKey: token)
                if told == nil, !forgottenTokens.contains(token) {
                    violation("one is revived that was not dead")
                }
            case .forget(let acceptedBefore, let buriedBefore, let latest):
                if acceptedBefore > .min || latest < .max {
                    verdict = Verdict(
                        last: identityOf.keys.max() ?? 0, acceptedBefore: acceptedBefore, latest: latest)
                }
                forgetThoseOver()
                let kept = deadTokens.filter {
                    $0.value.buriedAt >= buriedBefore && $0.value.buriedAt <= latest
                }
                forgottenTokens.formUnion(deadTokens.keys.filter { kept[$0] == nil })
                deadTokens = kept
            case .clock(let record): clock = record
            case .proof, .giveUp: break
            }
        }
        return results
    }

    /// As a database does, which gives a commit its numbers at the beginning.
    package mutating func reserve(for changes: [OutboxChange]) -> [Int64] {
        let stored = changes.compactMap(\.storedIdentity)
        let count = stored.count - Set(stored).count { identities[$0] != nil }
        defer { nextSequence += Int64(count) }
        return Array(nextSequence..<nextSequence + Int64(count))
    }

    private mutating func takeNumber() -> Int64 {
        if let number = numbers.popFirst() { return number }
        defer { nextSequence += 1 }
        return nextSequence
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

    private mutating func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime) {
        guard known(digests) == nil else { return }
        let sequence = takeNumber()
        identities[digests.identity] = Identity(
            sequence: sequence, content: digests.content, acceptedAt: acceptedAt, ending: .delivered)
        identityOf[sequence] = digests.identity
    }

    private mutating func forgetThoseOver() {
        guard stopsAtTheFirst else {
            for (digest, identity) in identities where verdict.isOver(identity) { lapse(digest) }
            return
        }
        let ended = identities.filter { $0.value.ending != nil }
        for (digest, identity) in ended.sorted(by: { $0.value.sequence < $1.value.sequence }) {
            guard verdict.isOver(identity) else { return }
            lapse(digest)
        }
    }

    private mutating func lapse(_ identity: Digest) {
        guard let known = identities.removeValue(forKey: identity) else { return }
        forgotten.append(identity)
        lapsed.append(identity)
        identityOf[known.sequence] = nil
    }

    /// Another process knows only what is written.
    package mutating func forgetVerdict() { verdict = Verdict() }

    /// - Returns: `nil`: it is not known, or not any more.
    package func state(of identity: Digest) -> NotificationState? {
        guard let known = identities[identity], stopsAtTheFirst || !verdict.isOver(known) else { return nil }
        return known.ending.map { .ended($0) } ?? .waiting
    }

    private mutating func known(_ digests: SubmissionDigests) -> StoreResult? {
        if let known = identities[digests.identity], !stopsAtTheFirst, verdict.isOver(known) {
            lapse(digests.identity)
        }
        guard let known = identities[digests.identity] else { return nil }
        guard known.content == digests.content else { return .conflict }
        if kept.contains(known.sequence) { return .alreadyKept(sequence: known.sequence) }
        return known.ending.map { .alreadyEnded($0) } ?? .alreadyWaiting(sequence: known.sequence)
    }

    private mutating func store(_ request: StoreRequest) -> StoreResult {
        let digests = request.digests
        if let known = known(digests) { return known }
        let others = (shelvedOf[digests.token] ?? []).compactMap { rows[$0] }
        let rank = (others.map(\.rank) + [request.notification.content.isUrgent ? 0 : 1]).max() ?? 0
        var row = Row(sequence: 0, notification: request.notification, token: digests.token)
        switch request.destination {
        case .window: break
        case .backlog(let room):
            guard others.count < room else { return .tooMany }
            (row.isShelved, row.rank) = (true, rank)
            row.notBefore = others.map(\.notBefore).max() ?? 0
        case .elsewhere(let room):
            guard others.count < room else { return .tooMany }
            (row.isShelved, row.isLate, row.rank) = (true, true, rank)
        }
        let sequence = takeNumber()
        row.sequence = sequence
        if row.isShelved { shelvedOf[digests.token, default: []].insert(sequence) }
        identities[digests.identity] = Identity(
            sequence: sequence, content: digests.content, acceptedAt: request.notification.acceptedAt)
        identityOf[sequence] = digests.identity
        rows[sequence] = row
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

    private mutating func retry(_ lane: LaneID, at time: UnixTime) {
        for row in rows.values
        where row.isShelved && row.notification.lane == lane && held.contains(row.token) {
            rows[row.sequence]?.notBefore = min(row.notBefore, time)
        }
    }

    mutating func spare(_ token: Digest, until notBefore: UnixTime) {
        for sequence in shelvedOf[token] ?? [] {
            guard var row = rows[sequence] else { continue }
            row.notBefore = notBefore
            row.rank = 1
            rows[sequence] = row
        }
    }

    package mutating func claim(_ claim: Claim) -> Claimed {
        let there = shelvedOf.values.joined().compactMap { rows[$0] }.filter {
            !claimed.contains($0.sequence) && !$0.isLate && held.contains($0.token)
        }
        var found: [Row]
        var nextDue: UnixTime?
        switch claim.kind {
        case .expired:
            found = there.filter { $0.notification.expiresAt <= claim.time }
                .sorted {
                    ($0.notification.expiresAt, $0.sequence) < ($1.notification.expiresAt, $1.sequence)
                }
        case .due(let lane):
            let ofLane = there.filter { $0.notification.lane == lane }
            let longest = claim.time + .milliseconds(Claim.longestWait)
            let spared = ofLane.filter {
                $0.notBefore > 0 && $0.notBefore <= claim.time || $0.notBefore > longest
            }
            found =
                spared.sorted { ($0.notBefore, $0.sequence) < ($1.notBefore, $1.sequence) }
                + ofLane.filter { $0.notBefore == 0 }
                .sorted { ($0.rank, $0.sequence) < ($1.rank, $1.sequence) }
            nextDue =
                rows.values.filter {
                    $0.isShelved && $0.notification.lane == lane && $0.notBefore > claim.time && !$0.isLate
                        && held.contains($0.token)
                }.map(\.notBefore).min()
        }
        found = Array(found.filter { $0.sequence <= claim.last }.prefix(claim.limit))
        claimed.formUnion(found.map(\.sequence))
        return Claimed(found.map { Claimed.Row($0.waiting, $0.notification) }, nextDue: nextDue)
    }

    // MARK: Reading

    package func notifications(_ sequences: [Int64]) -> [Int64: Notification] {
        sequences.reduce(into: [:]) { $0[$1] = rows[$1]?.notification }
    }
}

extension Notification {
    fileprivate func moved(to lane: LaneID) -> Notification {
        Notification(
            id: id, lane: lane, deviceToken: deviceToken, content: content, expiresAt: expiresAt,
            acceptedAt: acceptedAt, sender: sender)
    }
}
