import PostgreSQL

/// Locks of others, as VACUUM FULL or ALTER TABLE takes them on a table for minutes.
extension Sharing {
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

    /// Returns who holds a table of the store so that nobody else can write, or read it.
    fileprivate func lockHolder() throws(StoreError) -> String? {
        let find = statement(
            """
            SELECT 'process ' || held.pid || coalesce(' (' || nullif(application_name, '') || ')', '') || ' holds the table '
                || relname
            FROM pg_locks held JOIN pg_class ON pg_class.oid = held.relation
                LEFT JOIN pg_stat_activity activity ON activity.pid = held.pid
            WHERE held.granted AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND held.pid <> pg_backend_pid() AND relkind = 'r'
                AND relnamespace = to_regnamespace('onionbell')
                AND mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
            ORDER BY relname LIMIT 1
            """)
        return try translated { () throws(PostgreSQLError) in try find.step() ? find.text(0) : nil }
    }
}
