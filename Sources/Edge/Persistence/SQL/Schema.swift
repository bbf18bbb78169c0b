import CSQLite
import Encodings

/// The tables of the outbox, and the promises asked of SQLite.
///
/// `notification` and `backlog` hold what waits, nothing else: a row goes with its end (`secure_delete` writes zeros over
/// it). What is in `notification` is in memory as well. What is in `backlog` is there until it is claimed, and only
/// `backlog` has indices. `lane` counts its rows. `identity` and `dead_token` hold keyed digests only, and how a
/// notification ended: one that neither waits nor has an ending was delivered. `wish` and `lane_state` hold what gateways
/// asked for, `clock` one row of what is known of the wall clock. `door` tells how far the tables of each
/// door have come (``DoorSchema``).
enum Schema {
    static let version: Int64 = 4
    /// The first that has the table `door`.
    static let firstWithDoors: Int64 = 2
    /// The first that has the tables `wish` and `lane_state`.
    static let firstWithWishes: Int64 = 4
    /// The operator's commands read these: all columns that they ask for are there.
    static let readable: ClosedRange<Int64> = 1...version

    // MARK: What waits

    /// Columns of both tables.
    static let columns = """
        sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at, attempts, not_before,
            collapse_id, android, host
        """

    private static func waiting(_ name: String) -> String {
        """
        CREATE TABLE \(name) (
            sequence INTEGER PRIMARY KEY,
            id BLOB NOT NULL,
            app TEXT NOT NULL,
            flags INTEGER NOT NULL,
            token TEXT NOT NULL,
            message TEXT NOT NULL,
            token_digest BLOB NOT NULL,
            accepted_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            not_before INTEGER NOT NULL DEFAULT 0,
            collapse_id TEXT,
            android TEXT,
            host TEXT
        ) STRICT;
        """
    }

    /// Returns the tables in which a file of that version has what waits.
    static func waitingTables(version: Int64 = version) -> [String] {
        version > 2 ? ["notification", "backlog"] : ["notification"]
    }

    /// SQL for the rows of all of them.
    static func waitingRows(version: Int64 = version) -> String {
        guard version > 2 else { return "notification" }
        let tables = waitingTables().map { "SELECT \(columns) FROM \($0)" }
        return "(\(tables.joined(separator: " UNION ALL "))) AS waiting"
    }

    /// SQL for whether a notification with that number waits.
    static func waits(_ sequence: String) -> String {
        let tables = waitingTables().map { "EXISTS (SELECT 1 FROM \($0) WHERE sequence = \(sequence))" }
        return "(\(tables.joined(separator: " OR ")))"
    }

    /// SQL for a lane's host, as far as the file's version has it.
    static func hostColumn(version: Int64 = version) -> String { version > 2 ? "host" : "NULL" }

    /// SQL for the host of a row's lane as ``LaneHost/key``.
    static func hostKey(_ row: String = "") -> String {
        "coalesce(\(row)host, iif(\(row)flags & 1, 'sandbox', ''))"
    }

    /// SQL for the bytes of a row as the node counts them.
    static func size(
        _ row: String = "", version: Int64 = version, in dialect: Dialect = .sqlite
    ) -> String {
        let size = { dialect.size(of: row + $0) }
        guard version > 1 else { return "\(size("token")) + \(size("message"))" }
        return "\(size("token")) + \(size("message")) + coalesce(\(size("android")), 0)"
            + " + coalesce(\(size("collapse_id")), 0)"
    }

    /// A device's rows in the backlog all have the same `not_before`, and no later one of them a lower `rank`.
    private static let backlogRank = "ALTER TABLE backlog ADD COLUMN rank INTEGER NOT NULL DEFAULT 1;"

    private static let lanes = """
        CREATE TABLE lane (
            app TEXT NOT NULL,
            host TEXT NOT NULL,
            waiting INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (app, host)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO lane SELECT app, \(hostKey()), count(*), sum(\(size())) FROM backlog GROUP BY 1, 2;
        CREATE TRIGGER backlog_gains AFTER INSERT ON backlog BEGIN
            INSERT INTO lane VALUES (new.app, \(hostKey("new.")), 1, \(size("new.")))
                ON CONFLICT DO UPDATE SET waiting = waiting + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER backlog_loses AFTER DELETE ON backlog BEGIN
            UPDATE lane SET waiting = waiting - 1, bytes = bytes - (\(size("old.")))
                WHERE app = old.app AND host = \(hostKey("old."));
            DELETE FROM lane WHERE app = old.app AND host = \(hostKey("old.")) AND waiting = 0;
        END;
        """

    /// By lane, those that are due at any time and those that were put off; by device; by end.
    static let backlogIndices = """
        CREATE INDEX backlog_ready ON backlog (app, \(hostKey()), rank, sequence) WHERE not_before = 0;
        CREATE INDEX backlog_spared ON backlog (app, \(hostKey()), not_before, sequence) WHERE not_before > 0;
        CREATE INDEX backlog_device ON backlog (token_digest, rank, not_before);
        CREATE INDEX backlog_end ON backlog (expires_at);
        """

    /// The tables of gateways' wishes for single devices, of lanes that are not as new ones, and of the clock.
    private static let wishes = """
        CREATE TABLE wish (
            digest BLOB PRIMARY KEY,
            app TEXT NOT NULL,
            host TEXT NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE lane_state (
            app TEXT NOT NULL,
            host TEXT NOT NULL,
            written_at INTEGER NOT NULL,
            paused_at INTEGER NOT NULL,
            paused_until INTEGER NOT NULL,
            asked_until INTEGER NOT NULL,
            failures INTEGER NOT NULL,
            blocked_reason TEXT,
            blocked_since INTEGER,
            PRIMARY KEY (app, host)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE clock (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            trusted INTEGER NOT NULL,
            set_at INTEGER
        ) STRICT;
        """

    private static let tables = """
        \(waiting("notification"))
        \(waiting("backlog"))
        \(backlogRank)
        \(lanes)
        \(backlogIndices)
        CREATE TABLE identity (
            sequence INTEGER PRIMARY KEY,
            digest BLOB NOT NULL,
            content BLOB NOT NULL,
            accepted_at INTEGER NOT NULL,
            ending INTEGER,
            reason TEXT,
            detail TEXT
        ) STRICT;
        CREATE TABLE dead_token (
            digest BLOB PRIMARY KEY,
            since INTEGER NOT NULL,
            buried_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        \(wishes)
        \(DoorSchema.versions)
        """

    // MARK: Versions

    /// The step from version 1 to version 2: columns for pushes that doors prepare, and room for tables of doors.
    private static let secondVersion = """
        ALTER TABLE notification ADD COLUMN collapse_id TEXT;
        ALTER TABLE notification ADD COLUMN android TEXT;
        \(DoorSchema.versions)
        """

    /// The step from version 2 to version 3: all that waits becomes the backlog, and a lane may have any host. No row is
    /// copied; those behind one that was put off wait as long.
    private static let thirdVersion = """
        ALTER TABLE notification RENAME TO backlog;
        ALTER TABLE backlog ADD COLUMN host TEXT;
        \(backlogRank)
        \(waiting("notification"))
        \(lanes)
        \(backlogIndices)
        UPDATE backlog SET not_before = (
                SELECT max(other.not_before) FROM backlog other WHERE other.token_digest = backlog.token_digest)
            WHERE token_digest IN (SELECT token_digest FROM backlog WHERE not_before > 0);
        """

    /// Makes a new database ready, or checks an old one and brings it to this version.
    static func prepare(_ connection: borrowing Connection) throws(StoreError) {
        // A database is ready once it is open.
        guard connection.database == nil else { return }
        try promise(connection)
        switch try connection.firstInteger("PRAGMA user_version") ?? 0 {
        case 0: try change(connection, tables)
        case 1:
            try check(connection)
            try change(connection, secondVersion + thirdVersion + wishes)
        case 2:
            try check(connection)
            try change(connection, thirdVersion + wishes)
        case 3:
            try check(connection)
            try change(connection, wishes)
        case version: try check(connection)
        case let other: throw otherVersion(other)
        }
    }

    private static func change(_ connection: borrowing Connection, _ statements: String) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE; \(statements) PRAGMA user_version = \(version); COMMIT")
    }

    /// Bytes of the largest file that is looked at as a whole at the start.
    private static let mostChecked: Int64 = 64 << 20

    private static func check(_ connection: borrowing Connection) throws(StoreError) {
        let pages = try connection.firstInteger("PRAGMA page_count") ?? 0
        let pageSize = try connection.firstInteger("PRAGMA page_size") ?? 0
        guard pages * pageSize > mostChecked else { return try check(connection, "1") }
        // A start must not read a million rows: `onionbell outbox check` does.
        let names = try Statement(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('backlog', 'identity')",
            on: connection)
        while try names.step() { try check(connection, "'\(names.text(0))'") }
    }

    private static func check(
        _ connection: borrowing Connection, _ part: String
    ) throws(StoreError) {
        guard let verdict = try connection.firstText("PRAGMA quick_check(\(part))"), verdict != "ok" else {
            return
        }
        throw StoreError(code: SQLITE_CORRUPT, operation: .open, message: verdict)
    }

    /// How far the tables of what is open have come.
    static func found(_ connection: borrowing Connection) throws(StoreError) -> Int64 {
        guard connection.database == nil else { return version }
        let version = try connection.firstInteger("PRAGMA user_version") ?? 0
        guard readable.contains(version) else { throw otherVersion(version) }
        return version
    }

    /// For whoever writes a file.
    static func promise(_ connection: borrowing Connection) throws(StoreError) {
        guard connection.database == nil else { return }
        try connection.execute("PRAGMA secure_delete = ON")
        // For a new file; an old one keeps its own. A page holds ten notifications, and each written is two calls.
        try connection.execute("PRAGMA page_size = 8192")
        guard try connection.firstText("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(
                code: SQLITE_ERROR, operation: .open, message: "no write-ahead log on this file system")
        }
        try connection.execute("PRAGMA synchronous = FULL")
        // 2 = FULL: a commit that returned survives a power cut. Anything less breaks every receipt.
        guard try connection.firstInteger("PRAGMA synchronous") == 2 else {
            throw StoreError(code: SQLITE_ERROR, operation: .open, message: "synchronous=FULL was not taken")
        }
        try connection.execute("PRAGMA journal_size_limit = 16777216")
    }

    static func otherVersion(_ version: Int64) -> StoreError {
        StoreError(
            code: SQLITE_ERROR, operation: .open,
            message: version == 0
                ? "not an outbox of onionbell"
                : version > Schema.version
                    ? "a newer onionbell has written it (format \(version); this one reads up to \(Schema.version)). "
                        + "Install the newer one again; or put back a copy from before the upgrade; or move the file "
                        + "away together with its -wal and -shm, and what waits in it is not delivered"
                    : "not a format of onionbell (\(version))"
        )
    }
}
