import Crypto
import Glibc
import PostgreSQL

/// A store in PostgreSQL, and the right to change it.
///
/// One node at a time has the database, by a lease in its table `node`: it ends by the database's own clock, each commit
/// renews it, and each connection gets a number of its own, the fence. A commit writes that it is one, under that fence, in
/// its own transaction. So what an earlier connection still had on its way can't be committed any more, and the next
/// connection sees whether a commit was made whose answer was lost.
final class Database {
    private let connection: PostgreSQLConnection
    private let place: DatabasePlace
    private let access: StoreAccess
    let seal: AES256SIV
    /// Of this connection; `nil`: none was ever had.
    private var fence: Int64?
    /// Another node has had the database since: what is known here of it is no longer true.
    private var isOusted = false
    /// Of the last commit that was begun, and of the last that the database has, as its node counts them.
    private(set) var lastCommit: Int64 = 0
    private(set) var lastCommitted: Int64 = 0
    private var mark: PostgreSQLStatement?

    /// Seconds that a lease lasts, and after which it is to be renewed.
    static let lease = 8
    /// Seconds that a start waits for the end of a lease of a node that may have been killed.
    private static let longestWait = 20

    init(_ place: DatabasePlace, for access: StoreAccess) throws(SQLiteError) {
        self.place = place
        self.access = access
        seal = AES256SIV(derivedFrom: place.key, for: "rows of a shared store")
        do throws(PostgreSQLError) {
            connection = try PostgreSQLConnection(place.address)
        } catch {
            throw SQLiteError(error, .open)
        }
        connection.onConnected = { [unowned self] connection throws(PostgreSQLError) in
            try connection.execute(DatabaseSchema.session)
            if fence != nil { try own() }
        }
        try translated(.open) { () throws(PostgreSQLError) in try connection.connect() }
        let isOwner = access == .owning || access == .copying
        if isOwner { try DatabaseSchema.prepare(self) }
        try DatabaseSchema.check(self, for: access)
        try checkKey(makes: isOwner)
        guard isOwner else { return }
        try translated(.open) { () throws(PostgreSQLError) in try take() }
        do throws(SQLiteError) {
            // While it waited for the lease, a copy may have been begun.
            try DatabaseSchema.check(self, for: access)
            if access == .copying { try DatabaseSchema.beginCopy(self) }
        } catch {
            close()
            throw error
        }
    }

    /// All that takes long is done: from now on a connection that is silent is given up long before the lease ends.
    func hurry() { connection.patience = 3000 }

    /// The lease ends with the process that had it.
    func close() {
        guard let fence, connection.isConnected, !connection.isInTransaction else { return }
        let release = PostgreSQLStatement(
            "UPDATE node SET until = clock_timestamp() WHERE fence = ?", on: connection)
        release.bind(1, fence)
        try? release.run()
    }

    private func translated<Value>(
        _ operation: SQLiteError.Operation = .step, _ body: () throws(PostgreSQLError) -> Value
    ) throws(SQLiteError) -> Value {
        do throws(PostgreSQLError) {
            return try body()
        } catch {
            throw SQLiteError(error, operation)
        }
    }

    // MARK: Statements

    func statement(_ sql: String) -> PostgreSQLStatement { PostgreSQLStatement(sql, on: connection) }

    func execute(_ sql: String) throws(SQLiteError) {
        try translated { () throws(PostgreSQLError) in try connection.execute(sql) }
    }

    func firstInteger(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = statement(sql)
        return try translated { () throws(PostgreSQLError) in
            try statement.step() ? statement.integer(0) : nil
        }
    }

    func settle() throws(SQLiteError) {
        try translated { () throws(PostgreSQLError) in try connection.settle() }
    }

    var isInTransaction: Bool { connection.isInTransaction }

    /// Makes a connection if there is none.
    func connect() throws(SQLiteError) {
        try translated(.open) { () throws(PostgreSQLError) in
            guard !isOusted else { throw DatabaseSchema.ousted }
            try connection.connect()
        }
    }

    func begin() throws(SQLiteError) {
        try connect()
        try translated { () throws(PostgreSQLError) in try connection.begin() }
    }

    func commit() throws(SQLiteError) {
        do throws(PostgreSQLError) {
            switch access {
            case .reading: break
            case .changing: try statement("UPDATE node SET changes = changes + 1").run()
            case .owning, .copying: try prove()
            }
            try connection.commit()
            lastCommitted = lastCommit
        } catch {
            guard error.state == DatabaseSchema.divisionByZero else { throw SQLiteError(error, .step) }
            isOusted = true
            throw SQLiteError(DatabaseSchema.ousted, .step)
        }
    }

    func rollback() { connection.rollback() }

    // MARK: The lease

    /// This connection's is the database; fails the transaction where it is not.
    private func prove() throws(PostgreSQLError) {
        guard let fence else { return }
        let mark =
            self.mark
            ?? PostgreSQLStatement(
                """
                WITH mine AS (UPDATE node SET commits = ?1, until = \(DatabaseSchema.leaseEnd)
                    WHERE fence = ?2 RETURNING 1)
                SELECT 1 / count(*) FROM mine
                """, on: connection)
        self.mark = mark
        lastCommit += 1
        mark.bind(1, lastCommit)
        mark.bind(2, fence)
        try mark.run()
    }

    /// Takes the database for this node: at once where nobody has it or where it was this node's, else when the lease of
    /// another one has ended, and never while that is renewed.
    private func take() throws(PostgreSQLError) {
        let find = PostgreSQLStatement(
            """
            SELECT name, fence, CAST(extract(epoch FROM until) * 1000 AS BIGINT) FROM node
            """, on: connection)
        var first: (fence: Int64, until: Int64)?
        for _ in 0..<(Database.longestWait * 4) {
            if try own() { return }
            guard try find.step() else { throw DatabaseSchema.broken }
            let (name, lease) = (find.text(0), (fence: find.integer(1), until: find.integer(2)))
            find.reset()
            guard first.map({ $0 == lease }) ?? true else { throw DatabaseSchema.taken(by: name) }
            first = lease
            usleep(250_000)
        }
        throw DatabaseSchema.broken
    }

    /// - Returns: `false`: another node has it.
    @discardableResult
    private func own() throws(PostgreSQLError) -> Bool {
        let isFirst = fence == nil
        let take = PostgreSQLStatement(
            """
            UPDATE node SET fence = fence + 1, owner = ?1, name = ?2, until = \(DatabaseSchema.leaseEnd)
            WHERE owner = ?1\(isFirst ? " OR owner IS NULL OR until < clock_timestamp()" : "")
            RETURNING fence, commits
            """, on: connection)
        place.owner.withUnsafeBytes { take.bind(1, bytes: $0) }
        take.bind(2, place.name)
        guard try take.step() else {
            if isFirst { return false }
            isOusted = true
            throw DatabaseSchema.ousted
        }
        fence = take.integer(0)
        lastCommitted = take.integer(1)
        if isFirst { lastCommit = lastCommitted }
        take.reset()
        return true
    }

    private func checkKey(makes: Bool) throws(SQLiteError) {
        let check = HMAC.sha256(Array("key of a shared store".utf8), key: place.key.bytes)
        let find = statement("SELECT key_check FROM node")
        let known = try translated { () throws(PostgreSQLError) in
            try find.step() ? find.withBytes(0) { Array($0) } : nil
        }
        find.reset()
        guard let known else {
            guard makes else { throw SQLiteError(DatabaseSchema.empty, .open) }
            let insert = statement(
                """
                INSERT INTO node (id, key_check, name, fence, until, commits, changes)
                VALUES (1, ?, '', 0, clock_timestamp(), 0, 0)
                """)
            check.withUnsafeBytes { insert.bind(1, bytes: $0) }
            return try translated { () throws(PostgreSQLError) in try insert.run() }
        }
        guard known == check else { throw SQLiteError(DatabaseSchema.otherKey, .open) }
    }
}
