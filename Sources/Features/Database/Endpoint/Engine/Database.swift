import Crypto
import Encodings
import Glibc
import Persistence
import PostgreSQL
import Reactor
import Relay

/// A store in PostgreSQL, and the right to change it.
///
/// Each node has a lease, a row of its own in the table `node`: it ends by the database's own clock, each commit renews it,
/// and each connection gets a number of its own, the fence. A commit writes that it is one, under that fence, in its own
/// transaction. So what an earlier connection still had on its way can't be committed any more, and the next connection
/// sees whether a commit was made whose answer was lost. Whoever takes what another node had takes that node's row away
/// first, once its lease has ended.
final class Database {
    let connection: PostgreSQLConnection
    let place: DatabasePlace
    private let access: StoreAccess
    let rowSeal: AES256SIV
    /// The fence of this connection; `nil`: none was ever had.
    private var fence: Int64?
    /// Whether another node has had the database since: then what is known here of it is no longer true.
    private var isOusted = false
    /// The number of the last commit that was begun, as its node counts them.
    private(set) var lastCommit: Int64 = 0
    /// The number of the last commit that the database has.
    private(set) var lastCommitted: Int64 = 0
    private var mark: PostgreSQLStatement?
    /// The statement of ``tellOwners(of:)``.
    var telling: PostgreSQLStatement?
    var notified = NotifiedOwners()
    /// The figures of this node that others get with its next commit.
    var figures = NodeFigures()
    /// The reason why what was stored here may be gone: the database went back, and nobody has heard of it yet.
    var setBack: String?
    /// Whether the database went back, and what waits there now is not counted yet.
    var isUncounted = false
    /// Shards that this node has taken after their owners had given them up.
    var givenUp = Shards.none

    /// Seconds that a node's lease lasts, and after which a transaction that does nothing is given up.
    static let lease = 8
    /// Seconds that a start waits for the end of a lease of a node that may have been killed.
    private static let longestWait = 20
    /// Whether leases that seem to have ended have ended, for a node that has just started.
    var doubt = LeaseDoubt()

    init(_ place: DatabasePlace, for access: StoreAccess) throws(StoreError) {
        self.place = place
        self.access = access
        rowSeal = AES256SIV(derivedFrom: place.key, for: "rows of a shared store")
        do throws(PostgreSQLError) {
            connection = try PostgreSQLConnection(place.address)
        } catch {
            throw StoreError(error, .open)
        }
        connection.onConnected = { [unowned self] connection throws(PostgreSQLError) in
            try connection.execute(DatabaseSchema.session)
            if fence != nil { try own() }
            if access == .sharing { try connection.execute(listening) }
        }
        try translated(.open) { () throws(PostgreSQLError) in try connection.connect() }
        if hasLease { try DatabaseSchema.prepare(self) }
        try DatabaseSchema.check(self, for: access)
        try checkKey(makes: hasLease)
        guard hasLease else { return }
        try refusePooledTransactions()
        try join()
        do throws(StoreError) {
            // While it waited for the lease, a copy may have been begun.
            try DatabaseSchema.check(self, for: access)
        } catch {
            close()
            throw error
        }
    }

    /// Shortens the patience, after all that takes long: from now on a connection that is silent is given up
    /// long before the lease ends.
    func shortenPatience() { connection.patience = 3000 }

    /// Gives up the lease: it ends with the process that had it, and all shards of its node are free.
    func close() {
        guard let fence, connection.isConnected, !connection.isInTransaction else { return }
        // A command that was here in place of its node gives up nothing of that.
        let release = PostgreSQLStatement(
            access == .sharing
                ? """
                WITH gone AS (DELETE FROM node WHERE fence = ?1 RETURNING owner)
                UPDATE shard SET owner = NULL WHERE owner = (SELECT owner FROM gone)
                """ : "DELETE FROM node WHERE fence = ?1", on: connection)
        release.bind(1, fence)
        try? release.run()
    }

    private var hasLease: Bool {
        switch access {
        case .reading, .inspecting, .changing: false
        case .sharing, .owning, .copying: true
        }
    }

    func translated<Value>(
        _ operation: StoreError.Operation = .step, _ body: () throws(PostgreSQLError) -> Value
    ) throws(StoreError) -> Value {
        do throws(PostgreSQLError) {
            return try body()
        } catch {
            throw StoreError(error, operation)
        }
    }

    // MARK: Statements

    func statement(_ sql: String) -> PostgreSQLStatement { PostgreSQLStatement(sql, on: connection) }

    func execute(_ sql: String) throws(StoreError) {
        try translated { () throws(PostgreSQLError) in try connection.execute(sql) }
    }

    func firstInteger(_ sql: String) throws(StoreError) -> Int64? {
        let statement = statement(sql)
        return try translated { () throws(PostgreSQLError) in
            try statement.step() ? statement.integer(0) : nil
        }
    }

    func settle() throws(StoreError) {
        try translated { () throws(PostgreSQLError) in try connection.settle() }
    }

    var isInTransaction: Bool { connection.isInTransaction }

    /// Makes a connection if there is none.
    func connect() throws(StoreError) {
        try translated(.open) { () throws(PostgreSQLError) in
            guard !isOusted else { throw DatabaseSchema.ousted }
            try connection.connect()
        }
    }

    func begin() throws(StoreError) {
        try connect()
        try translated { () throws(PostgreSQLError) in try connection.begin() }
    }

    func commit() throws(StoreError) {
        do throws(PostgreSQLError) {
            switch access {
            case .reading, .inspecting: break
            case .changing: try statement("UPDATE cluster SET changes = changes + 1").run()
            case .sharing, .owning, .copying: try prove()
            }
            try connection.commit()
            lastCommitted = lastCommit
        } catch {
            guard error.state == DatabaseSchema.divisionByZero else { throw StoreError(error, .step) }
            isOusted = true
            throw StoreError(DatabaseSchema.ousted, .step)
        }
    }

    func rollback() { connection.rollback() }

    // MARK: The lease

    /// Fails the transaction unless the lease is this connection's, and the database has all that this node
    /// has committed.
    private func prove() throws(PostgreSQLError) {
        guard let fence else { return }
        let mark =
            self.mark
            ?? PostgreSQLStatement(
                """
                WITH mine AS (UPDATE node SET commits = ?1, until = \(leaseEnd),
                    waiting = ?4, bytes = ?5, oldest = ?6, clock_ahead = ?7 - \(DatabaseSchema.clock)
                    WHERE owner = ?3 AND fence = ?2 AND commits >= ?8 RETURNING 1)
                SELECT 1 / count(*) FROM mine
                """, on: connection)
        self.mark = mark
        lastCommit += 1
        mark.bind(1, lastCommit)
        mark.bind(2, fence)
        bindOwner(3, to: mark)
        mark.bind(4, Int64(figures.waiting))
        mark.bind(5, Int64(figures.bytes))
        if let oldest = figures.oldestAcceptedAt {
            mark.bind(6, oldest.milliseconds)
        } else {
            mark.bindNull(6)
        }
        mark.bind(7, EventLoop.machineMilliseconds)
        mark.bind(8, lastCommitted)
        try mark.run()
    }

    /// The end of a lease that is renewed now.
    var leaseEnd: String { "(clock_timestamp() + interval '\(place.lease) seconds')" }

    func bindOwner(_ index: Int32, to statement: PostgreSQLStatement) {
        place.owner.withUnsafeBytes { statement.bind(index, bytes: $0) }
    }

    /// Gets a lease: at once where it was this node's, else as soon as nobody is in the way.
    ///
    /// A node gets the first shards that are free or given up by others: before it accepts anything the others know of it. A
    /// command, which wants the database alone, waits for the end of leases, and is refused where one is renewed.
    private func join() throws(StoreError) {
        var first: [String]?
        try judgeLeases()
        for _ in 0..<(Database.longestWait * 4) {
            let inTheWay = try translated(.open) { () throws(PostgreSQLError) in try enter() }
            if inTheWay.isEmpty {
                guard access == .sharing else { return }
                if try takeFree(Shards.most(nodes: try living()), burying: doubt.isOver) { return }
            } else {
                guard first == nil || first == inTheWay else {
                    throw StoreError(DatabaseSchema.taken(by: inTheWay), .open)
                }
                first = inTheWay
            }
            usleep(250_000)
        }
        throw StoreError(DatabaseSchema.nothingFree, .open)
    }

    /// Takes the lease, unless somebody is in the way.
    ///
    /// - Returns: Who is in the way, and since when: nothing was done.
    private func enter() throws(PostgreSQLError) -> [String] {
        try connection.begin()
        do throws(PostgreSQLError) {
            let epoch = try nextEpoch(burying: doubt.isOver)
            let others = PostgreSQLStatement(
                """
                SELECT name || ' ' || until FROM node WHERE owner <> ?1 AND (is_alone OR ?2 <> 0) ORDER BY name
                """, on: connection)
            bindOwner(1, to: others)
            others.bind(2, access == .sharing ? 0 : 1)
            var inTheWay: [String] = []
            while try others.step() { inTheWay.append(others.text(0)) }
            if inTheWay.isEmpty {
                try own(epoch)
                try connection.commit()
                try keepNumbersApart(isBack: false)
            } else {
                connection.rollback()
            }
            return inTheWay
        } catch {
            connection.rollback()
            throw error
        }
    }

    /// Begins an epoch, and deletes nodes whose lease has ended, if it is to be `burying` them. Nodes that join, or take
    /// shards, do so one after the other.
    func nextEpoch(burying: Bool = true) throws(PostgreSQLError) -> Int64 {
        let next = PostgreSQLStatement("UPDATE cluster SET epoch = epoch + 1 RETURNING epoch", on: connection)
        guard try next.step() else { throw DatabaseSchema.broken }
        let epoch = next.integer(0)
        guard burying else { return epoch }
        let bury = PostgreSQLStatement(
            "DELETE FROM node WHERE until < clock_timestamp() AND owner <> ?", on: connection)
        bindOwner(1, to: bury)
        try bury.run()
        return epoch
    }

    private func own(_ epoch: Int64) throws(PostgreSQLError) {
        let insert = PostgreSQLStatement(
            """
            INSERT INTO node (owner, name, version, fence, until, commits, is_alone, clock_ahead, number)
                SELECT CAST(?1 AS BYTEA), CAST(?2 AS TEXT), CAST(?5 AS TEXT), CAST(?3 AS BIGINT),
                    \(leaseEnd), 0, ?4 <> 0, ?6 - \(DatabaseSchema.clock), min(free)
                FROM generate_series(1, 1 + (SELECT count(*) FROM node)) AS free
                WHERE free NOT IN (SELECT number FROM node)
            ON CONFLICT (owner) DO UPDATE SET name = excluded.name, version = excluded.version, fence = excluded.fence,
                until = excluded.until, is_alone = excluded.is_alone, clock_ahead = excluded.clock_ahead RETURNING commits
            """, on: connection)
        bindOwner(1, to: insert)
        insert.bind(2, place.name)
        insert.bind(3, epoch)
        insert.bind(4, access == .sharing ? 0 : 1)
        insert.bind(5, place.version)
        insert.bind(6, EventLoop.machineMilliseconds)
        guard try insert.step() else { throw DatabaseSchema.broken }
        lastCommitted = insert.integer(0)
        lastCommit = lastCommitted
        fence = epoch
    }

    /// Takes the lease for a new connection: what an earlier one has on its way is void.
    private func own() throws(PostgreSQLError) {
        let take = PostgreSQLStatement(
            """
            WITH next AS (UPDATE cluster SET epoch = epoch + 1 RETURNING epoch)
            UPDATE node SET fence = (SELECT epoch FROM next), until = \(leaseEnd) WHERE owner = ?1
            RETURNING fence, commits
            """, on: connection)
        bindOwner(1, to: take)
        guard try take.step() else {
            isOusted = true
            throw DatabaseSchema.ousted
        }
        fence = take.integer(0)
        let commits = take.integer(1)
        take.reset()
        let isBack = commits < lastCommitted
        if isBack {
            isUncounted = true
            setBack = """
                the database went back: it has commit \(commits) of this node, and had answered for \(lastCommitted). A \
                standby server took over that had not got all, or an older backup stands there. What this node has in \
                memory of the rest is still sent, and lost if the node ends before
                """
        }
        lastCommitted = commits
        try keepNumbersApart(isBack: isBack)
    }

    /// Gives the server more time than usual for something large.
    func patiently<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        let patience = connection.patience
        connection.patience = max(patience, 7000)
        defer { connection.patience = patience }
        return try body()
    }

    private func checkKey(makes: Bool) throws(StoreError) {
        let check = HMAC.sha256(Array("key of a shared store".utf8), key: place.key.bytes)
        let find = statement("SELECT key_check FROM cluster")
        let known = try translated { () throws(PostgreSQLError) in
            try find.step() ? find.withBytes(0) { Array($0) } : nil
        }
        find.reset()
        guard let known else {
            guard makes else { throw StoreError(DatabaseSchema.empty, .open) }
            // Whoever is first says which key it is.
            let insert = statement(
                "INSERT INTO cluster (id, key_check, epoch, changes) VALUES (1, ?, 0, 0) ON CONFLICT DO NOTHING"
            )
            check.withUnsafeBytes { insert.bind(1, bytes: $0) }
            try translated { () throws(PostgreSQLError) in try insert.run() }
            return try checkKey(makes: false)
        }
        guard known == check else { throw StoreError(DatabaseSchema.otherKey, .open) }
    }
}
