import CSQLite

/// The tables of the outbox, and the promises asked of SQLite.
///
/// `notification` holds what waits, nothing else: a row goes with its end (`secure_delete` writes zeros over it).
/// `identity` and `dead_token` hold keyed digests only, and how a notification ended: one that neither waits nor has an
/// ending was delivered. `door` tells how far the tables of each door have come (``DoorSchema``).
enum Schema {
    static let version: Int64 = 3
    /// The first that has the table `door`.
    static let firstWithDoors: Int64 = 2
    /// The operator's commands read these: all columns that they ask for are there.
    static let readable: ClosedRange<Int64> = 1...version

    private static let tables = """
        CREATE TABLE notification (
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
        \(DoorSchema.versions)
        """

    /// What makes version 2 of version 1: columns for pushes that doors prepare, and room for tables of doors.
    private static let secondVersion = """
        ALTER TABLE notification ADD COLUMN collapse_id TEXT;
        ALTER TABLE notification ADD COLUMN android TEXT;
        \(DoorSchema.versions)
        """

    /// What makes version 3 of version 2: the host of a lane that is neither of the two that the flags tell apart.
    private static let thirdVersion = """
        ALTER TABLE notification ADD COLUMN host TEXT;
        """

    /// SQL for a lane's host, as far as the file's version has it.
    static func hostColumn(version: Int64 = version) -> String { version > 2 ? "host" : "NULL" }

    /// Makes a new database ready, or checks an old one and brings it to this version.
    static func prepare(_ connection: borrowing Connection) throws(SQLiteError) {
        try promise(connection)
        switch try connection.firstInteger("PRAGMA user_version") ?? 0 {
        case 0: try change(connection, tables)
        case 1:
            try check(connection)
            try change(connection, secondVersion + thirdVersion)
        case 2:
            try check(connection)
            try change(connection, thirdVersion)
        case version: try check(connection)
        case let other: throw otherVersion(other)
        }
    }

    private static func change(_ connection: borrowing Connection, _ statements: String) throws(SQLiteError) {
        try connection.execute("BEGIN IMMEDIATE; \(statements) PRAGMA user_version = \(version); COMMIT")
    }

    private static func check(_ connection: borrowing Connection) throws(SQLiteError) {
        guard let verdict = try connection.firstText("PRAGMA quick_check(1)"), verdict != "ok" else { return }
        throw SQLiteError(code: SQLITE_CORRUPT, operation: .open, message: verdict)
    }

    /// For whoever writes.
    static func promise(_ connection: borrowing Connection) throws(SQLiteError) {
        try connection.execute("PRAGMA secure_delete = ON")
        // For a new file; an old one keeps its own. A page holds ten notifications, and each written is two calls.
        try connection.execute("PRAGMA page_size = 8192")
        guard try connection.firstText("PRAGMA journal_mode = WAL") == "wal" else {
            throw SQLiteError(
                code: SQLITE_ERROR, operation: .open, message: "no write-ahead log on this file system")
        }
        try connection.execute("PRAGMA synchronous = FULL")
        // 2 = FULL: a commit that returned survives a power cut. Anything less breaks every receipt.
        guard try connection.firstInteger("PRAGMA synchronous") == 2 else {
            throw SQLiteError(code: SQLITE_ERROR, operation: .open, message: "synchronous=FULL was not taken")
        }
        try connection.execute("PRAGMA journal_size_limit = 16777216")
    }

    static func otherVersion(_ version: Int64) -> SQLiteError {
        SQLiteError(
            code: SQLITE_ERROR, operation: .open,
            message: version == 0
                ? "not an outbox of onionbell"
                : "written by another version of onionbell (format \(version), this one reads \(Schema.version))"
        )
    }
}
