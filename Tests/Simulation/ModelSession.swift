import Vectors

@testable import Relay

/// What one process knows of the shared store, as `DatabaseSharing`, `StoreStatements` and `Database` keep it.
struct ModelSession {
    /// As the core hears of it.
    enum Failure: Error { case away, taken }

    let node: Int
    let process: Int
    private(set) var fence: Int64
    private(set) var isConnected = true
    private var isOusted = false

    /// Of these shards this process knows what is in the backlog.
    private(set) var owned: Shards
    private var leaving = Shards.none
    /// What it has not been told yet.
    private var news = Share()
    /// Handed out of the backlog.
    private(set) var claimed: Set<Int64> = []
    /// A commit whose answer was lost.
    private var lost: ModelCommit?
    /// What had arrived by a commit whose answer was lost.
    private var uncertain: (numbers: [Int64], backlog: [LaneBacklog])?
    /// What has come into the backlog of its shards, and has not been told yet.
    private var unseen: [Int64] = []

    /// Rows that are taken over in one commit.
    private static let arrivals = 20

    init(_ process: Int, of node: Int, fence: Int64, in database: inout ModelDatabase) {
        (self.node, self.process, self.fence) = (node, process, fence)
        owned = database.shards(of: node)
        _ = database.outbox.takeArrivals(owned, most: .max)
        database.outbox.restart(owned)
        see(owned, in: database.outbox)
    }

    private mutating func see(_ shards: Shards, in outbox: ModelOutbox) {
        unseen += outbox.rows.values.filter { !$0.isLate && shards.contains($0.token) }.map(\.sequence)
    }

    private var held: Shards { owned.subtracting(leaving) }

    // MARK: The connection

    /// Whatever is on its way will not be heard of.
    mutating func disconnect() { isConnected = false }

    /// Makes a connection if there is none.
    mutating func connect(
        to database: inout ModelDatabase, isReachable: Bool, clock: Int64
    ) throws(Failure) {
        guard !isOusted else { throw .taken }
        guard !isConnected else { return }
        guard isReachable else { throw .away }
        guard let fence = database.reconnect(node, clock: clock) else {
            isOusted = true
            throw .taken
        }
        self.fence = fence
        isConnected = true
        if let uncertain {
            news.arrived += uncertain.backlog
            unseen += uncertain.numbers
        }
        uncertain = nil
        guard let lost else { return }
        self.lost = nil
        guard lost.results != nil else { return }
        giveUp(lost, in: database.outbox)
        database.outbox.putBack(lost.stored)
    }

    /// Lends the store what this process has been handed out.
    private mutating func with<Value>(
        _ database: inout ModelDatabase, _ body: (inout ModelOutbox) -> Value
    ) -> Value {
        swap(&database.outbox.claimed, &claimed)
        database.outbox.held = held
        defer {
            swap(&database.outbox.claimed, &claimed)
            database.outbox.held = .all
        }
        return body(&database.outbox)
    }

    mutating func claim(_ claim: Claim, in database: inout ModelDatabase) -> Claimed {
        guard news.arrived.isEmpty else { return Claimed(isEarly: true) }
        return with(&database) { $0.claim(claim) }
    }

    // MARK: Commits

    /// The database makes a commit, whoever still waits for it.
    mutating func make(
        _ commit: ModelCommit, in database: inout ModelDatabase, clock: Int64, _ violation: (String) -> Void
    ) {
        guard !commit.isVoid, !commit.isDropped, commit.results == nil else { return }
        if commit.unknown.contains(where: { database.outbox.identities[$0] != nil }) {
            commit.hasCollided = true
            return
        }
        guard database.prove(node, fence: commit.fence, clock: clock) else {
            commit.isVoid = true
            return
        }
        let results = with(&database) { $0.commit(commit.changes, numbers: commit.numbers, violation) }
        var rest = results[...]
        for change in commit.changes where change.hasResult {
            guard case .stored(let sequence)? = rest.popFirst(), case .store(let request) = change else {
                continue
            }
            if request.destination.isHere { commit.stored.append(sequence) }
        }
        for case .giveUp(let shards) in commit.changes {
            let free = database.free(shards, of: node)
            let before = commit.given ?? (.none, [])
            commit.given = (
                before.shards.union(shards), before.backlog + database.outbox.backlog(of: free)
            )
        }
        commit.results = results
    }

    /// It could not be made: another node has the lease.
    mutating func oust() { isOusted = true }

    /// It is known that it was made.
    mutating func committed(_ commit: ModelCommit, in outbox: ModelOutbox) { giveUp(commit, in: outbox) }

    private mutating func giveUp(_ commit: ModelCommit, in outbox: ModelOutbox) {
        guard let (shards, backlog) = commit.given else { return }
        owned = owned.subtracting(shards)
        news.lost += backlog
        claimed = claimed.filter { number in
            outbox.rows[number].map { !shards.contains($0.token) } ?? false
        }
    }

    /// Its answer was lost: the next connection sees whether it was made.
    ///
    /// - Returns: Whether it is known by now that it was.
    mutating func lose(
        _ commit: ModelCommit, in database: inout ModelDatabase, isReachable: Bool, clock: Int64
    ) -> Bool {
        disconnect()
        lost = commit
        guard isReachable, let fence = database.reconnect(node, clock: clock) else { return false }
        self.fence = fence
        isConnected = true
        lost = nil
        return commit.results != nil
    }

    // MARK: Who has what

    /// - Parameter isCut: Asked before each transaction: whether the connection is lost there, with the answer only.
    mutating func divide(
        _ request: ShareRequest, in database: inout ModelDatabase, clock: Int64,
        isCut: () -> (before: Bool, after: Bool)
    ) throws(Failure) -> Share {
        leaving = request.leaving
        var mine = database.shards(of: node)
        let hasLate = database.outbox.hasLate(held)
        let most = Shards.most(nodes: database.living)
        if database.free > 0, mine.count < most {
            try transact(&database, clock: clock, isCut) {
                _ = $1.takeFree(most, for: $0.node, fence: $0.fence, clock: clock)
            }
            mine = database.shards(of: node)
        }
        owned = owned.intersection(mine)
        let fresh = mine.subtracting(owned)
        news.hasMore = hasLate ? try takeArrivals(in: &database, clock: clock, isCut) : false
        if !fresh.isEmpty, try adopt(fresh, in: &database, clock: clock, isCut) { news.hasMore = true }
        var share = news
        news = Share()
        share.ends = database.canary == .tellsNoEndsOfOthers ? [:] : database.outbox.ends(of: request.awaited)
        share.owned = owned
        share.nodes = database.living
        return share
    }

    private mutating func transact(
        _ database: inout ModelDatabase, clock: Int64, _ isCut: () -> (before: Bool, after: Bool),
        _ body: (inout ModelSession, inout ModelDatabase) -> Void
    ) throws(Failure) {
        let (before, after) = isCut()
        guard !before else {
            disconnect()
            throw .away
        }
        guard database.prove(node, fence: fence, clock: clock) else {
            isOusted = true
            throw .taken
        }
        body(&self, &database)
        guard !after else {
            disconnect()
            throw .away
        }
    }

    /// - Returns: Whether there is so much in them that it can't be had at once.
    private mutating func adopt(
        _ shards: Shards, in database: inout ModelDatabase, clock: Int64,
        _ isCut: () -> (before: Bool, after: Bool)
    ) throws(Failure) -> Bool {
        var found: [LaneBacklog]?
        try transact(&database, clock: clock, isCut) {
            let late = $1.outbox.takeArrivals(shards, most: ModelSession.arrivals)
            if late.numbers.count < ModelSession.arrivals { found = $1.outbox.adopt(shards) }
        }
        guard let found else { return true }
        let outbox = database.outbox
        owned = owned.union(shards)
        news.gained = news.gained.union(shards)
        news.arrived += found
        see(shards, in: outbox)
        news.lastSequence = max(news.lastSequence, outbox.highest)
        news.deadTokens.merge(outbox.deadTokens.filter { shards.contains($0.key) }) { $1 }
        news.wishes += outbox.wishes(of: shards)
        return false
    }

    /// - Returns: Whether there is more of it.
    private mutating func takeArrivals(
        in database: inout ModelDatabase, clock: Int64, _ isCut: () -> (before: Bool, after: Bool)
    ) throws(Failure) -> Bool {
        guard database.canary != .looksForNoArrivals else { return false }
        var found: (numbers: [Int64], backlog: [LaneBacklog]) = ([], [])
        let held = held
        do throws(Failure) {
            try transact(&database, clock: clock, isCut) {
                found = $1.outbox.takeArrivals(held, most: ModelSession.arrivals)
            }
        } catch {
            if error == .away { uncertain = found }
            throw error
        }
        unseen += found.numbers
        news.lastSequence = max(news.lastSequence, found.numbers.max() ?? 0)
        news.arrived +=
            database.canary == .mistakesWhatArrived ? found.backlog.map(\.ofAnotherDevice) : found.backlog
        return found.numbers.count == ModelSession.arrivals
    }

    /// What has come into the backlog or into memory since this was asked last.
    mutating func takeUnseen() -> [Int64] {
        defer { unseen = [] }
        return unseen
    }
}

extension LaneBacklog {
    fileprivate var ofAnotherDevice: LaneBacklog {
        LaneBacklog(
            lane: lane, waiting: waiting, bytes: bytes, oldestAcceptedAt: oldestAcceptedAt,
            device: Digest(high: 0, low: 0))
    }
}

extension OutboxChange {
    /// Whether a commit has a result for it.
    fileprivate var hasResult: Bool {
        switch self {
        case .store, .lookUp: true
        default: false
        }
    }
}
