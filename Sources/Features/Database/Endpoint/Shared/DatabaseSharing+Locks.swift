import Persistence
import PostgreSQL

/// Locks of others, as VACUUM FULL or ALTER TABLE takes them on a table for minutes.
extension DatabaseSharing {
    /// Renews the lease after something has waited for a lock in vain: as long as the lock is held, nothing else would.
    ///
    /// - Returns: The failure with who holds the lock, as far as that can be seen.
    func outwait(_ error: StoreError) -> StoreError {
        // If it can't be renewed, the next commit says why.
        try? database.renewLease()
        guard let holder = try? database.lockHolder() else { return error }
        return StoreError(lockedBy: holder)
    }
}

extension Database {
    fileprivate func renewLease() throws(StoreError) {
        try begin()
        do throws(StoreError) {
            try commit()
        } catch {
            rollback()
            throw error
        }
    }

    /// Describes the connection whose lock on a table keeps all others from writing or reading. A connection that waits for
    /// such a lock counts too, since all others wait behind it: a VACUUM FULL behind a dump stops them until the dump ends.
    fileprivate func lockHolder() throws(StoreError) -> String? {
        let find = statement(
            """
            SELECT (\(Database.words(for: "held.pid")))
                || CASE WHEN held.granted THEN ' holds the table ' ELSE ' waits for the table ' END || relname
                || CASE WHEN held.granted THEN '' ELSE coalesce(', which this one holds: '
                    || (\(Database.words(for: "(pg_blocking_pids(held.pid))[1]"))), '') END
            FROM pg_locks held JOIN pg_class ON pg_class.oid = held.relation
            WHERE held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND held.pid <> pg_backend_pid() AND relkind = 'r'
                AND relnamespace = to_regnamespace('onionbell')
                AND mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
            ORDER BY held.granted, relname LIMIT 1
            """)
        return try translated { () throws(PostgreSQLError) in try find.step() ? find.text(0) : nil }
    }

    /// Returns an expression for the process of a number, with the name of its program.
    private static func words(for process: String) -> String {
        """
        SELECT 'process ' || number || coalesce(' (' || nullif(application_name, '') || ')', '')
        FROM (SELECT \(process) AS number) AS one LEFT JOIN pg_stat_activity ON pid = number
        """
    }
}
