import Encodings

/// The tables of the outbox, as all engines have them. Each engine makes them in its own way.
///
/// `notification` and `backlog` hold what waits, nothing else: a row goes with its end. What is in `notification` is in
/// memory as well. What is in `backlog` is there until it is claimed, and only `backlog` has indices. A device's rows there all
/// have the same `not_before`, and no later one of them a lower `rank`. `lane` counts its rows. `identity` and `dead_token`
/// hold keyed digests only, and how a notification ended: one that neither waits nor has an ending was delivered. `wish` and
/// `lane_state` hold what gateways asked for, `clock` one row of what is known of the wall clock. `door` tells how far the
/// tables of each door have come (``DoorSchema``).
package enum Schema {
    package static let version: Int64 = 4

    // MARK: What waits

    /// Columns of both tables.
    static let columns = """
        sequence, id, app, flags, token, message, token_digest, accepted_at, expires_at, attempts, not_before,
            collapse_id, android, host
        """

    /// The tables that have what waits.
    static let waitingTables = ["notification", "backlog"]

    /// SQL for the rows of both.
    static var waitingRows: String {
        let tables = waitingTables.map { "SELECT \(columns) FROM \($0)" }
        return "(\(tables.joined(separator: " UNION ALL "))) AS waiting"
    }

    /// SQL for whether a notification with that number waits.
    static func waits(_ sequence: String) -> String {
        let tables = waitingTables.map { "EXISTS (SELECT 1 FROM \($0) WHERE sequence = \(sequence))" }
        return "(\(tables.joined(separator: " OR ")))"
    }

    /// SQL for the host of a row's lane as ``LaneHost/key``.
    package static func hostKey(_ row: String = "") -> String {
        "coalesce(\(row)host, iif(\(row)flags & 1, 'sandbox', ''))"
    }

    /// SQL for the bytes of a row as the node counts them.
    package static func size(_ row: String = "", in dialect: any Dialect) -> String {
        let size = { dialect.size(of: row + $0) }
        return "\(size("token")) + \(size("message")) + coalesce(\(size("android")), 0)"
            + " + coalesce(\(size("collapse_id")), 0)"
    }

    /// By lane, those that are due at any time and those that were put off; by device; by end.
    package static let backlogIndices = """
        CREATE INDEX backlog_ready ON backlog (app, \(hostKey()), rank, sequence) WHERE not_before = 0;
        CREATE INDEX backlog_spared ON backlog (app, \(hostKey()), not_before, sequence) WHERE not_before > 0;
        CREATE INDEX backlog_device ON backlog (token_digest, rank, not_before);
        CREATE INDEX backlog_end ON backlog (expires_at);
        """

    /// The refusal of a store of another format: what it is, and what to do.
    package static func otherVersion(_ version: Int64) -> StoreError {
        let away = "move the file away together with its -wal and -shm, and what waits in it is not delivered"
        return StoreError(
            refused: version == 0
                ? "not an outbox of onionbell"
                : version > Schema.version
                    ? "a newer onionbell has written it (format \(version); this one knows \(Schema.version)). "
                        + "Install the newer one again; or put back a copy from before the upgrade; or \(away)"
                    : "it was made before the first release (format \(version); this onionbell knows \(Schema.version)). "
                        + "Start the one that made it, until nothing waits; or \(away)"
        )
    }
}
