import Clocks
import Persistence
import Reactor
import Relay

/// The part of a database that other nodes use at the same time.
final class DatabaseSharing: Sharing {
    /// The identities of what the node stores.
    let identities: SharedIdentities
    let rows: SharedRows
    let database: Database
    let standing: StandingLook
    private let moveIn: Statement
    private let counts: Statement
    private let arrive: Statement
    private let release: Statement
    private let tokens: Statement
    private let wishes: Statement
    let ends: Statement
    private let begun: Statement
    private let revived: Statement
    private let census: Census
    /// The shards whose backlog this node knows.
    private(set) var owned = Shards.none
    private var leaving = Shards.none
    /// The shards that the node has taken over by its start.
    private var takenOverAtStart: TakeOver?
    /// The news that the core has not got yet.
    private var news = Share()
    /// The numbers of the notifications that the running commit stores for this node itself.
    var stored: [Int64] = []
    /// A commit whose answer was lost together with the connection: what it may have stored, and its own number.
    var lost: (stored: [Int64], commit: Int64)?
    /// The shards that the running commit gives up.
    private var given: (shards: Shards, backlog: [LaneBacklog])?
    /// The news that is true if a commit of that number was made, whose answer was lost.
    private var uncertain: (news: Share, given: Shards, commit: Int64)?

    /// Rows that are taken over in one commit.
    private static let arrivals: Int64 = 2000

    init(_ database: Database, _ connection: borrowing Connection) throws(StoreError) {
        self.database = database
        rows = SharedRows(database)
        identities = try SharedIdentities(database, connection, rows)
        standing = try StandingLook(database, connection)
        // All of a device wait as long, as in `Backlog.takeStragglers`.
        moveIn = try Statement(DatabaseSharing.moveIn, on: connection)
        let size = Schema.size(in: database.dialect)
        counts = try Statement(
            """
            SELECT app, \(Schema.hostKey()), count(*), CAST(sum(\(size)) AS BIGINT), min(accepted_at), max(sequence)
            FROM backlog WHERE NOT late AND \(PostgreSQLDialect.isOf(1)) GROUP BY 1, 2
            """, on: connection)
        // Those that arrive with it too: two nodes may have stored one each, and neither has seen the other.
        let earlier = """
            FROM backlog other WHERE other.token_digest = backlog.token_digest
                AND (NOT other.late OR other.sequence < backlog.sequence)
            """
        arrive = try Statement(
            """
            UPDATE backlog SET late = false,
                not_before = coalesce((SELECT max(other.not_before) \(earlier)), 0),
                rank = greatest(rank, coalesce((SELECT max(other.rank) \(earlier)), 0))
            WHERE sequence IN (SELECT sequence FROM backlog
                WHERE late AND sequence > ?3 AND \(PostgreSQLDialect.isOf(1)) ORDER BY sequence LIMIT ?2)
            RETURNING app, \(Schema.hostKey()), \(size), accepted_at, sequence, rank, token_digest
            """, on: connection)
        release = try Statement(
            "UPDATE shard SET owner = NULL WHERE owner = ?1 AND get_bit(CAST(?2 AS BYTEA), number) = 1 RETURNING number",
            on: connection)
        tokens = try Statement(
            "SELECT digest, since, buried_at FROM dead_token WHERE \(PostgreSQLDialect.isOf(1, "digest"))",
            on: connection)
        wishes = try Statement(
            "SELECT digest, app, host, since, until FROM wish WHERE \(PostgreSQLDialect.isOf(1, "digest"))",
            on: connection)
        ends = try Statement(
            """
            SELECT awaited.number, identity.sequence IS NULL, ending, reason, detail
            FROM unnest(CAST(? AS BIGINT[])) AS awaited(number)
                LEFT JOIN identity ON identity.sequence = awaited.number
            WHERE NOT \(Schema.waits("awaited.number"))
            """, on: connection)
        // What a node has in memory: of its backlog no more than fits there.
        begun = try Statement(
            """
            SELECT (SELECT count(*) FROM notification WHERE \(PostgreSQLDialect.isOf(1))) + (SELECT count(*) FROM
                (SELECT 1 FROM backlog WHERE NOT late AND \(PostgreSQLDialect.isOf(1)) LIMIT \(Window().total)) AS handed)
            """, on: connection)
        revived = try Statement(
            "DELETE FROM revived WHERE \(PostgreSQLDialect.isOf(1, "digest")) RETURNING digest",
            on: connection)
        census = try Census(connection)
        owned = try standing.take(held).mine
        takenOverAtStart = try takeOver(owned)
        database.settled(owned)
        // Nobody has seen it yet, and what comes in now is to be behind it.
        while try connection.transaction({ () throws(StoreError) in try arriveAll(in: owned) }) {}
    }

    func complete(_ content: inout OutboxContent) throws(StoreError) {
        content.shards = owned
        content.takenOver = takenOverAtStart
        // Before anything is accepted by a clock that may be years off.
        content.nodes = try database.living() > 1 ? census.take(for: database.place.owner) : nil
        content.deadTokens = try deadTokens(of: owned)
        content.wishes = try wishes(of: owned)
    }

    func waiting() throws(StoreError) -> [LaneBacklog] { try count(owned) }

    var held: Shards { owned.subtracting(leaving) }

    var hasArrivals: Bool { !news.arrived.isEmpty }

    // MARK: Commits

    func giveUp(_ shards: Shards) throws(StoreError) {
        try release.bind(1, bytes: database.place.owner)
        try release.bind(2, bytes: shards.bits)
        defer { release.reset() }
        var numbers: [Int] = []
        while try release.step() { numbers.append(Int(release.integer(0))) }
        // What an earlier commit has given up, whose answer was lost, is not counted again.
        let free = Shards(numbers)
        // One commit may give up some twice: what could not be written before goes with what has come since.
        let before = given ?? (.none, [])
        given = (before.shards.union(shards), before.backlog + (free.isEmpty ? [] : try count(free)))
    }

    func committed() -> Shards {
        identities.forget()
        guard let given else { return .none }
        owned = owned.subtracting(given.shards)
        news.lost += given.backlog
        self.given = nil
        return given.shards
    }

    func rolledBack() {
        identities.forget()
        // It may have been made all the same.
        if let given, lost != nil {
            var news = Share()
            news.lost = given.backlog
            uncertain = (news, given.shards, database.lastCommit)
        }
        given = nil
    }

    /// Notes that there is a connection after one that was lost.
    ///
    /// - Returns: The shards that a commit had given up whose answer was lost.
    func connected() -> Shards {
        guard let (news, given, commit) = uncertain else { return .none }
        uncertain = nil
        guard database.lastCommitted >= commit else { return .none }
        owned = owned.subtracting(given)
        self.news.lost += news.lost
        self.news.arrived += news.arrived
        self.news.lastSequence = max(self.news.lastSequence, news.lastSequence)
        return given
    }

    // MARK: Who has what

    func divide(
        _ request: ShareRequest, _ backlog: Backlog, on connection: borrowing Connection
    ) throws(StoreError) -> Share {
        leaving = request.leaving
        database.figures = request.figures
        var now = try standing.take(held)
        if now.hasFarLease { try database.shortenLeases() }
        let most = Shards.most(nodes: now.nodes)
        if now.free > 0, now.mine.count < most {
            try database.takeFree(most, burying: now.mayTake && database.doubt.isOver)
            now = try standing.take(held)
        }
        // What a commit has given up whose answer was lost is another one's.
        owned = owned.intersection(now.mine)
        let fresh = now.mine.subtracting(owned)
        news.hasMore = now.hasLate ? try takeArrivals(backlog, on: connection) : false
        if !fresh.isEmpty {
            let isAll = try database.patiently { () throws(StoreError) in
                try adopt(fresh, backlog, on: connection)
            }
            if !isAll { news.hasMore = true }
        }
        database.notified.nodes = now.nodes
        let ends = try find(request.awaited)
        let known = now.nodes > 1 ? try census.take(for: database.place.owner) : nil
        // Last of all: nothing fails from here on.
        return news.take(owned: owned, nodes: now.nodes, ends: ends, known: known)
    }

    /// Puts all that waits in new shards into the backlog, and counts it. Notifications that other nodes have stored for these
    /// shards come with it, before anything that comes in from now on.
    ///
    /// - Returns: `false`: there is so much of that that there is more, and the shards are not this node's yet.
    private func adopt(
        _ shards: Shards, _ backlog: Backlog, on connection: borrowing Connection
    ) throws(StoreError) -> Bool {
        let found = try connection.transaction { () throws(StoreError) -> (TakeOver?, [LaneBacklog])? in
            let takenOver = try takeOver(shards)
            guard try !arriveAll(in: shards) else { return nil }
            try moveIn.bind(1, bytes: shards.bits)
            try moveIn.run()
            return (takenOver, try count(shards))
        }
        standing.pollFloor = PollFloor()
        guard let (takenOver, found) = found else { return false }
        let (tokens, wishes) = (try deadTokens(of: shards), try self.wishes(of: shards))
        owned = owned.union(shards)
        database.settled(shards)
        if let takenOver {
            let before = news.takenOver ?? TakeOver(shards: 0, mayRepeat: 0)
            news.takenOver = TakeOver(
                shards: before.shards + takenOver.shards, mayRepeat: before.mayRepeat + takenOver.mayRepeat)
        }
        backlog.goBack()
        news.gained = news.gained.union(shards)
        news.arrived += found
        news.deadTokens.merge(tokens) { $1 }
        news.wishes += wishes
        return true
    }

    /// Marks as arrived what others have stored for these shards, at most ``arrivals`` rows.
    ///
    /// - Returns: Whether there is more.
    private func arriveAll(in shards: Shards) throws(StoreError) -> Bool {
        try arrive.bind(1, bytes: shards.bits)
        try arrive.bind(2, DatabaseSharing.arrivals)
        try arrive.bind(3, 0)
        defer { arrive.reset() }
        var count: Int64 = 0
        while try arrive.step() { count += 1 }
        return count == DatabaseSharing.arrivals
    }

    /// Returns the takeover of new shards that were not given up, before anything of them is changed.
    private func takeOver(_ shards: Shards) throws(StoreError) -> TakeOver? {
        let left = shards.subtracting(database.givenUp)
        guard !left.isEmpty else { return nil }
        try begun.bind(1, bytes: left.bits)
        defer { begun.reset() }
        return TakeOver(shards: left.count, mayRepeat: try begun.step() ? Int(begun.integer(0)) : 0)
    }

    /// Counts what there is in the backlog, by lane.
    private func count(_ shards: Shards) throws(StoreError) -> [LaneBacklog] {
        try counts.bind(1, bytes: shards.bits)
        defer { counts.reset() }
        var found: [LaneBacklog] = []
        while try counts.step() {
            found.append(
                LaneBacklog(
                    lane: LaneID(app: counts.text(0), host: LaneHost(key: counts.text(1))),
                    waiting: Int(counts.integer(2)), bytes: Int(counts.integer(3)),
                    oldestAcceptedAt: counts.time(4)))
            news.lastSequence = max(news.lastSequence, counts.integer(5))
        }
        return found
    }

    private func deadTokens(of shards: Shards) throws(StoreError) -> [Digest: DeadToken] {
        try tokens.bind(1, bytes: shards.bits)
        defer { tokens.reset() }
        var found: [Digest: DeadToken] = [:]
        while try tokens.step() {
            found[Digest(tokens.pair(0))] = DeadToken(since: tokens.time(1), buriedAt: tokens.time(2))
        }
        return found
    }

    private func wishes(of shards: Shards) throws(StoreError) -> [DeviceWish] {
        try wishes.bind(1, bytes: shards.bits)
        return try GatewayWishes.rows(of: wishes)
    }

    /// Lets what other nodes have put there wait behind what its device has there.
    ///
    /// - Returns: Whether there is more of it.
    private func takeArrivals(
        _ backlog: Backlog, on connection: borrowing Connection
    ) throws(StoreError) -> Bool {
        var found: [LaneBacklog] = []
        var places: [(lane: LaneID, rank: Int, sequence: Int64)] = []
        var alive: Set<Digest> = []
        do throws(StoreError) {
            try connection.transaction { () throws(StoreError) in
                try revived.bind(1, bytes: held.bits)
                defer { revived.reset() }
                while try revived.step() { alive.insert(Digest(revived.pair(0))) }
                try arrive.bind(1, bytes: held.bits)
                try arrive.bind(2, DatabaseSharing.arrivals)
                try arrive.bind(3, standing.pollFloor.floor)
                defer { arrive.reset() }
                while try arrive.step() {
                    let lane = LaneID(app: arrive.text(0), host: LaneHost(key: arrive.text(1)))
                    found.append(
                        LaneBacklog(
                            lane: lane, waiting: 1, bytes: Int(arrive.integer(2)),
                            oldestAcceptedAt: arrive.time(3), device: Digest(arrive.pair(6))))
                    places.append((lane, Int(arrive.integer(5)), arrive.integer(4)))
                }
                // The others know at once that it waits here now.
                database.figures.waiting += found.count
                database.figures.bytes += found.reduce(0) { $0 + $1.bytes }
            }
        } catch {
            backlog.goBack()
            // What lives is known too early in the worst case: its gateway says so if it is dead.
            news.revived.formUnion(alive)
            if error.kind == .connectionLost {
                var news = Share()
                news.arrived = found
                news.lastSequence = places.reduce(0) { max($0, $1.sequence) }
                uncertain = (news, .none, database.lastCommit)
            }
            throw error
        }
        for place in places { backlog.goBack(place.lane, place.rank, before: place.sequence) }
        news.lastSequence = places.reduce(news.lastSequence) { max($0, $1.sequence) }
        news.revived.formUnion(alive)
        news.arrived += found
        return found.count == Int(DatabaseSharing.arrivals)
    }
}
