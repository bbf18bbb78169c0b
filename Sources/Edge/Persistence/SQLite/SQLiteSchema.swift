import CSQLite
import Encodings

/// The tables of ``Schema`` in a file, and the promises asked of SQLite.
enum SQLiteSchema {
    private static func size(_ row: String) -> String { Schema.size(row, in: SQLiteDialect()) }

    private static let lanes = """
        CREATE TABLE lane (
            app TEXT NOT NULL,
            host TEXT NOT NULL,
            waiting INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (app, host)
        ) STRICT, WITHOUT ROWID;
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

    // MARK: Versions

    /// Makes a new database ready, or checks an old one.
    static func prepare(_ connection: SQLiteConnection) throws(StoreError) {
        try promise(connection)
        guard try version(of: connection) != 0 else {
            return try connection.execute(
                "BEGIN IMMEDIATE; \(Schema.statements(in: SQLiteDialect())) \(lanes) PRAGMA user_version = \(Schema.version); COMMIT"
            )
        }
        try refuseOther(connection)
        try check(connection)
    }

    private static func version(of connection: SQLiteConnection) throws(StoreError) -> Int64 {
        try connection.firstInteger("PRAGMA user_version") ?? 0
    }

    static func refuseOther(_ connection: SQLiteConnection) throws(StoreError) {
        let version = try version(of: connection)
        guard version == Schema.version else { throw Schema.otherVersion(version) }
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

    /// Sets a connection up that writes a file.
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
