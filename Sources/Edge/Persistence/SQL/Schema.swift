import Encodings

/// The tables of the outbox, as all engines have them. An engine adds what only it has.
///
/// `notification` and `backlog` hold what waits, nothing else: a row goes with its end. What is in `notification` is in
/// memory as well. What is in `backlog` is there until it is claimed, and only `backlog` has indices. A device's rows
/// there all have the same `not_before`, and no later one of them a lower `rank`. `lane` counts its rows. `identity` and
/// `dead_token` hold keyed digests only, and how a notification ended: one that neither waits nor has an ending was
/// delivered. `wish` and `lane_state` hold what gateways asked for, `clock` one row of what is known of the wall clock.
/// `door` has the format of the tables of each door (``DoorSchema``).
package enum Schema {
    package static let version: Int64 = 4

    // MARK: What waits

    /// Columns of both tables.
    static let columns = """
        sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at, attempts, not_before,
            collapse_id, android, host
        """

    /// The tables of the notifications that wait.
    package static let waitingTables = ["notification", "backlog"]

    /// SQL for the rows of both ``waitingTables``.
    static var waitingRows: String {
        let tables = waitingTables.map { "SELECT \(columns) FROM \($0)" }
        return "(\(tables.joined(separator: " UNION ALL "))) AS waiting"
    }

    /// Returns SQL for whether a notification with that number waits.
    package static func waits(_ sequence: String) -> String {
        let tables = waitingTables.map { "EXISTS (SELECT 1 FROM \($0) WHERE sequence = \(sequence))" }
        return "(\(tables.joined(separator: " OR ")))"
    }

    /// Returns SQL for the host of a row's lane as ``LaneHost/key``.
    package static func hostKey(_ row: String = "") -> String {
        "coalesce(\(row)host, iif(\(row)flags & 1, 'sandbox', ''))"
    }

    /// Returns SQL for the bytes of a row as the node counts them.
    package static func size(_ row: String = "", in dialect: any Dialect) -> String {
        let size = { dialect.size(of: row + $0) }
        return "\(size("token")) + \(size("message")) + coalesce(\(size("android")), 0)"
            + " + coalesce(\(size("collapse_id")), 0)"
    }

    // MARK: Tables

    private typealias Column = StoreTable.Column

    private static let waiting = [
        Column("sequence", .number, .key), Column("id", .bytes), Column("app", .text), Column("flags"),
        Column("token", .sealedText(Sealed.token)), Column("message", .sealedText(Sealed.message)),
        Column("token_digest", .bytes), Column("accepted_at"), Column("expires_at"),
        Column("attempts", .number, .initially(0)), Column("not_before", .number, .initially(0)),
        Column("collapse_id", .sealedText(Sealed.collapse), .optional),
        Column("android", .sealedText(Sealed.fields), .optional), Column("host", .text, .optional),
    ]

    /// All tables of the outbox, but what only one engine has.
    package static let tables = [
        StoreTable("notification", waiting),
        StoreTable(
            "backlog",
            waiting + [
                Column("rank", .number, .initially(1)),
                Column("late", .database("BOOLEAN NOT NULL DEFAULT false"), .optional),
            ],
            // By lane, those that are due at any time and those that were put off; by device; by end.
            indices: [
                "backlog_ready": "(app, \(hostKey()), rank, sequence) WHERE not_before = 0",
                "backlog_spared": "(app, \(hostKey()), not_before, sequence) WHERE not_before > 0",
                "backlog_device": "(token_digest, rank, not_before)",
                "backlog_end": "(expires_at)",
            ]),
        StoreTable(
            "identity",
            [
                Column("sequence", .number, .key), Column("digest", .bytes), Column("content", .bytes),
                Column("accepted_at"), Column("ending", .number, .optional),
                Column("reason", .text, .optional),
                Column("detail", .text, .optional),
            ]),
        StoreTable("dead_token", [Column("digest", .bytes, .key), Column("since"), Column("buried_at")]),
        StoreTable(
            "wish",
            [
                Column("digest", .bytes, .key), Column("app", .text), Column("host", .text), Column("since"),
                Column("until"),
            ]),
        StoreTable(
            "lane_state",
            [
                Column("app", .text), Column("host", .text), Column("written_at"), Column("paused_at"),
                Column("paused_until"), Column("asked_until"), Column("failures"),
                Column("blocked_reason", .text, .optional), Column("blocked_since", .number, .optional),
            ], key: ["app", "host"]),
        StoreTable(
            "clock",
            [
                Column("id", .number, .exactly("PRIMARY KEY CHECK (id = 1)")), Column("trusted"),
                Column("set_at", .number, .optional),
            ]),
        StoreTable(
            "door", [Column("name", .text, .exactly("PRIMARY KEY")), Column("steps")], isCopied: false),
    ]

    /// Returns the statements that make all of them.
    package static func statements(in dialect: any Dialect) -> String {
        tables.map { $0.statements(in: dialect) }.joined()
    }

    /// Returns the refusal of a file of another format: what it is, and what to do.
    package static func otherVersion(_ version: Int64) -> StoreError {
        guard version != 0 else { return StoreError(refused: "not an outbox of onionbell") }
        return StoreError(
            refused: otherFormat("it", version, known: Schema.version)
                + StoreAdvice.otherFormat(isNewer: version > Schema.version))
    }

    /// Returns a sentence that says who made what is in another format.
    package static func otherFormat(_ what: String, _ found: Int64, known: Int64) -> String {
        "\(found > known ? "a newer onionbell" : "an onionbell from before the first release") has made \(what) "
            + "(format \(found); this one knows \(known)). "
    }
}
