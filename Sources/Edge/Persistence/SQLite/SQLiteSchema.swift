import CSQLite
import Encodings

/// The tables of ``Schema`` in a file, and the promises asked of SQLite.
enum SQLiteSchema {
    private static func size(_ row: String) -> String { Schema.size(row, in: SQLiteDialect()) }

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
        INSERT INTO lane SELECT app, \(Schema.hostKey()), count(*), sum(\(size(""))) FROM backlog GROUP BY 1, 2;
        CREATE TRIGGER backlog_gains AFTER INSERT ON backlog BEGIN
            INSERT INTO lane VALUES (new.app, \(Schema.hostKey("new.")), 1, \(size("new.")))
                ON CONFLICT DO UPDATE SET waiting = waiting + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER backlog_loses AFTER DELETE ON backlog BEGIN
            UPDATE lane SET waiting = waiting - 1, bytes = bytes - (\(size("old.")))
                WHERE app = old.app AND host = \(Schema.hostKey("old."));
            DELETE FROM lane WHERE app = old.app AND host = \(Schema.hostKey("old.")) AND waiting = 0;
        END;
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

    /// How far the tables of each door have come. A file without it has no tables of doors.
    private static let doors = "CREATE TABLE door (name TEXT PRIMARY KEY, steps INTEGER NOT NULL) STRICT;"

    private static let tables = """
        \(waiting("notification"))
        \(waiting("backlog"))
        \(backlogRank)
        \(lanes)
        \(Schema.backlogIndices)
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
        \(doors)
        """

    // MARK: Versions

    /// The step from version 1 to version 2: columns for pushes that doors prepare, and room for tables of doors.
    private static let secondVersion = """
        ALTER TABLE notification ADD COLUMN collapse_id TEXT;
        ALTER TABLE notification ADD COLUMN android TEXT;
        \(doors)
        """

    /// The step from version 2 to version 3: all that waits becomes the backlog, and a lane may have any host. No row is
    /// copied; those behind one that was put off wait as long.
    private static let thirdVersion = """
        ALTER TABLE notification RENAME TO backlog;
        ALTER TABLE backlog ADD COLUMN host TEXT;
        \(backlogRank)
        \(waiting("notification"))
        \(lanes)
        \(Schema.backlogIndices)
        UPDATE backlog SET not_before = (
                SELECT max(other.not_before) FROM backlog other WHERE other.token_digest = backlog.token_digest)
            WHERE token_digest IN (SELECT token_digest FROM backlog WHERE not_before > 0);
        """

    /// Makes a new database ready, or checks an old one and brings it to this version.
    static func prepare(_ connection: SQLiteConnection) throws(StoreError) {
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
        case Schema.version: try check(connection)
        case let other: throw Schema.otherVersion(other)
        }
    }

    private static func change(_ connection: SQLiteConnection, _ statements: String) throws(StoreError) {
        try connection.execute(
            "BEGIN IMMEDIATE; \(statements) PRAGMA user_version = \(Schema.version); COMMIT")
    }

    /// Bytes of the largest file that is looked at as a whole at the start.
    private static let mostChecked: Int64 = 64 << 20

    private static func check(_ connection: SQLiteConnection) throws(StoreError) {
        let pages = try connection.firstInteger("PRAGMA page_count") ?? 0
        let pageSize = try connection.firstInteger("PRAGMA page_size") ?? 0
        guard pages * pageSize > mostChecked else { return try check(connection, "1") }
        // A start must not read a million rows: `onionbell outbox check` does.
        let names = try SQLiteStatement(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('backlog', 'identity')",
            on: connection)
        while try names.step() { try check(connection, "'\(names.text(0))'") }
    }

    private static func check(
        _ connection: SQLiteConnection, _ part: String
    ) throws(StoreError) {
        guard let verdict = try connection.firstText("PRAGMA quick_check(\(part))"), verdict != "ok" else {
            return
        }
        throw StoreError(code: SQLITE_CORRUPT, operation: .open, message: verdict)
    }

    /// How far the tables of what is open have come.
    static func found(_ connection: SQLiteConnection) throws(StoreError) -> Int64 {
        let version = try connection.firstInteger("PRAGMA user_version") ?? 0
        guard Schema.readable.contains(version) else { throw Schema.otherVersion(version) }
        return version
    }

    /// For whoever writes a file.
    static func promise(_ connection: SQLiteConnection) throws(StoreError) {
        try connection.execute("PRAGMA secure_delete = ON")
        // For a new file; an old one keeps its own. A page holds ten notifications, and each written is two calls.
        try connection.execute("PRAGMA page_size = 8192")
        guard try connection.firstText("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(refused: "no write-ahead log on this file system")
        }
        try connection.execute("PRAGMA synchronous = FULL")
        // 2 = FULL: a commit that returned survives a power cut. Anything less breaks every receipt.
        guard try connection.firstInteger("PRAGMA synchronous") == 2 else {
            throw StoreError(refused: "synchronous=FULL was not taken")
        }
        try connection.execute("PRAGMA journal_size_limit = 16777216")
    }
}
