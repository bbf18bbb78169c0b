import Crypto
import Persistence
import PostgreSQL

/// The tables of a store in PostgreSQL: those of ``Schema``, in a schema of their own, and others for nodes that share it:
/// `cluster` has one row, `node` one for each node with a lease, `shard` says whose devices each of them has. A row of
/// `backlog` is `late` from when any node has put it there until the node that has its shard has seen it. Numbers come from
/// the sequence `number`, when a commit begins: what was stored before something else came in has the lower number,
/// whichever nodes took them.
///
/// Sealed are device tokens, addresses, messages, what replaces what, and registrations. In clear are keyed digests, the
/// names of apps, hosts, phones, mailboxes and their readers, times, sizes, and reason codes with the gateway's words.
enum DatabaseSchema {
    /// Counted apart from that of the file.
    static let version: Int64 = 4
    /// The version of a schema that ``StoreCopy`` has not filled yet.
    private static let unfinished: Int64 = 0
    static let sealOverhead = AES256SIV.overhead

    /// The settings of each connection. They are made by SET, since pgbouncer takes no others when it is connected to.
    ///
    /// Tables that grow from nothing to thousands of rows within a second are as long as nothing to the planner: it would
    /// read them whole for each identity, by a plan that it keeps. What has no index is read whole anyway, but costs so
    /// much then in the planner's eyes that it would be compiled. A scan by a bitmap marks nothing as gone in an index,
    /// so that each look would walk over all that went since the last vacuum. A list of digests is planned anew each time
    /// otherwise, which takes three times as long as to look for them.
    static let session = """
        SET search_path TO onionbell;
        SET enable_seqscan TO off;
        SET enable_bitmapscan TO off;
        SET plan_cache_mode TO force_generic_plan;
        SET jit TO off;
        SET lock_timeout TO '2s';
        SET idle_in_transaction_session_timeout TO '\(Database.lease)s';
        SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')
        """

    /// A condition for a row of `node` whose lease has not ended. One that lies further ahead than it lasts was renewed before
    /// the database's clock went back.
    static let lives =
        "until BETWEEN clock_timestamp() AND clock_timestamp() + interval '\(Database.lease) seconds'"

    /// An expression for milliseconds since a row of `node` was renewed; below 0 when the database's clock has gone back since.
    static let leaseAge =
        "CAST(extract(epoch FROM clock_timestamp() - until) * 1000 AS BIGINT) + \(Database.lease * 1000)"

    /// Milliseconds since 1970 by its own clock.
    static let clock = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

    // MARK: What is wrong with it

    /// The SQLSTATE of a division by zero: a commit divides by whether the lease is this connection's.
    static let divisionByZero = "22012"

    static let ousted = PostgreSQLError(
        message:
            "another node has had this database meanwhile, or this one was away for longer than its lease, or the database went back to before this one came"
    )
    static let broken = PostgreSQLError(message: "the table node of the database is not as onionbell made it")
    static let empty = PostgreSQLError(
        message: "the database holds no store yet: the node makes it, or onionbell storage init")
    private static let halfCopied = PostgreSQLError(
        message: "a copy into this database was cut short: run onionbell storage copy again")
    static let otherKey = PostgreSQLError(
        message:
            "the database was made by a node with another digest key: give this one the file digest-key of that node, or a database of its own"
    )

    static let nothingFree = PostgreSQLError(
        message: "the other nodes of this database have given up nothing to this one: see their logs")

    static func taken(by names: [String]) -> PostgreSQLError {
        let names = names.map { String($0.prefix { $0 != " " }) }.joined(separator: ", ")
        return PostgreSQLError(message: "a node uses this database, on \(names): stop it first")
    }

    private static func otherVersion(_ version: Int64) -> StoreError {
        StoreError(
            PostgreSQLError(
                message: Schema.otherFormat(
                    "the store in this database", version, known: DatabaseSchema.version)
                    + (version > DatabaseSchema.version
                        ? "Install the newer one again, or use another database"
                        : "Copy it to a file with that one, and back with this one")
            ), .open)
    }

    // MARK: Versions

    /// Begins a copy: from now on the tables are to be filled. There is nothing in them, or what an earlier
    /// copy has left.
    static func beginCopy(_ database: Database, of tables: [StoreTable]) throws(StoreError) {
        guard try found(database) != unfinished else { return }
        for table in tables {
            let isThere = "SELECT 1 WHERE to_regclass('onionbell.\(table.name)') IS NOT NULL"
            guard try database.firstInteger(isThere) != nil else { continue }
            guard try database.firstInteger("SELECT 1 FROM \(table.name) LIMIT 1") == nil else {
                throw StoreCopy.taken("the database holds a store")
            }
        }
        try setVersion(unfinished, in: database)
    }

    static func endCopy(_ database: Database) throws(StoreError) {
        _ = try database.firstInteger(
            """
            SELECT setval('number', greatest(1, max(sequence)), max(sequence) IS NOT NULL) FROM (SELECT max(sequence) AS sequence FROM notification
                UNION ALL SELECT max(sequence) FROM backlog UNION ALL SELECT max(sequence) FROM identity) AS highest
            """)
        try setVersion(version, in: database)
    }

    private static func setVersion(_ version: Int64, in database: Database) throws(StoreError) {
        try database.begin()
        do throws(StoreError) {
            try database.execute("UPDATE format SET version = \(version)")
            try database.commit()
        } catch {
            database.rollback()
            throw error
        }
    }

    /// Holds up those who make tables just now, until the end of the transaction. Any number that others are not likely to
    /// take.
    static let oneAtATime = "SELECT pg_advisory_xact_lock(8411063720447)"

    /// Makes the tables if they are not there, by one node at a time.
    static func prepare(_ database: Database) throws(StoreError) {
        guard try found(database) == nil else { return }
        // Whoever may make none is asked for none: IF NOT EXISTS looks for the right first.
        let isThere =
            try database.firstInteger("SELECT 1 WHERE to_regnamespace('onionbell') IS NOT NULL") != nil
        try database.execute(
            "BEGIN; \(oneAtATime); \(isThere ? "" : "CREATE SCHEMA IF NOT EXISTS onionbell")")
        do throws(StoreError) {
            if try found(database) == nil { try database.execute(functions + tables) }
            try database.execute("COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
    }

    static func check(_ database: Database, for access: StoreAccess) throws(StoreError) {
        guard let version = try found(database) else { throw StoreError(empty, .open) }
        guard version != unfinished else {
            guard access == .copying else { throw StoreError(halfCopied, .open) }
            return
        }
        guard version == DatabaseSchema.version else { throw otherVersion(version) }
        try refuseUnlogged(database)
    }

    /// Refuses tables and sequences that are UNLOGGED: PostgreSQL empties them after a crash.
    private static func refuseUnlogged(_ database: Database) throws(StoreError) {
        let unlogged = database.statement(
            """
            SELECT 'onionbell.' || relname FROM pg_class WHERE relpersistence = 'u' AND relkind IN ('r', 'S')
                AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'onionbell') ORDER BY relname LIMIT 1
            """)
        let name = try database.translated(.open) { () throws(PostgreSQLError) in
            try unlogged.step() ? unlogged.text(0) : nil
        }
        guard let name else { return }
        throw StoreError(
            PostgreSQLError(
                message:
                    "\(name) is UNLOGGED: PostgreSQL empties it after a crash. ALTER TABLE \(name) SET LOGGED"
            ),
            .open)
    }

    private static func found(_ database: Database) throws(StoreError) -> Int64? {
        try database.firstInteger("SELECT 1 WHERE to_regclass('onionbell.format') IS NOT NULL") == nil
            ? nil : database.firstInteger("SELECT version FROM format")
    }

    // MARK: Tables

    /// Functions that SQLite has and PostgreSQL lacks.
    private static let functions = """
        CREATE FUNCTION iif(boolean, text, text) RETURNS text LANGUAGE sql IMMUTABLE
            AS $$ SELECT CASE WHEN $1 THEN $2 ELSE $3 END $$;
        CREATE FUNCTION iif(bigint, text, text) RETURNS text LANGUAGE sql IMMUTABLE
            AS $$ SELECT CASE WHEN $1 <> 0 THEN $2 ELSE $3 END $$;
        CREATE FUNCTION hex(bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT upper(encode($1, 'hex')) $$;
        CREATE FUNCTION datetime(bigint, text) RETURNS text LANGUAGE sql STABLE
            AS $$ SELECT to_char(to_timestamp($1) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') $$;
        """

    /// Tables whose rows come and go: what is gone is cleared away often.
    private static let vacuum =
        "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0"

    private static var tables: String {
        """
        CREATE TABLE format (version BIGINT NOT NULL);
        INSERT INTO format VALUES (\(version));
        CREATE TABLE cluster (
            id BIGINT PRIMARY KEY CHECK (id = 1),
            key_check BYTEA NOT NULL,
            epoch BIGINT NOT NULL,
            changes BIGINT NOT NULL,
            timeline BIGINT NOT NULL DEFAULT 0 -- when the server was started (µs since 1970), 0: not known
        );
        CREATE TABLE node (
            owner BYTEA PRIMARY KEY,
            number BIGINT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            version TEXT NOT NULL,
            fence BIGINT NOT NULL,
            until TIMESTAMPTZ NOT NULL,
            commits BIGINT NOT NULL,
            is_alone BOOLEAN NOT NULL,
            waiting BIGINT NOT NULL DEFAULT 0,
            bytes BIGINT NOT NULL DEFAULT 0,
            oldest BIGINT,
            clock_ahead BIGINT NOT NULL DEFAULT 0
        ) WITH (fillfactor = 10);
        CREATE TABLE shard (number INTEGER PRIMARY KEY, owner BYTEA);
        INSERT INTO shard SELECT number FROM generate_series(0, 255) AS number;
        CREATE SEQUENCE number;
        \(Schema.statements(in: PostgreSQLDialect()))
        \(Schema.waitingTables.map { "ALTER TABLE \($0) SET (\(vacuum));" }.joined())
        CREATE INDEX backlog_late ON backlog (sequence) WHERE late;
        CREATE UNIQUE INDEX identity_digest ON identity (digest);
        CREATE TABLE room (filling TEXT NOT NULL);
        CREATE TABLE revived (digest BYTEA PRIMARY KEY);
        """
    }
}
