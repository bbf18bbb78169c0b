import Relay

/// A connection to a database, and what becomes of a commit when it is lost.
extension Store {
    /// Whether a commit was made although it failed, since only its answer was lost: the next connection sees that.
    func isCommitted(
        after error: SQLiteError, storing stored: [Int64]
    ) throws(SQLiteError) -> Bool {
        guard error.isConnectionLost, let database = connection.database else { return false }
        // While an earlier one is not known, this one was not begun.
        guard lost == nil else { return false }
        let commit = database.lastCommit
        guard commit != database.lastCommitted else { return false }
        lost = (stored, commit)
        // The next one may have to find out.
        do throws(SQLiteError) { try database.connect() } catch { return false }
        lost = nil
        return database.lastCommitted == commit
    }

    /// Makes a connection if there is none. What a commit of an earlier one has stored although it was said to have failed
    /// goes: whoever submitted it was told to come again. What was for another node stays, since that may have it: it is
    /// known when it comes again.
    func connect() throws(SQLiteError) {
        guard let database = connection.database else { return }
        try database.connect()
        sharing?.connected()
        guard let (stored, commit) = lost else { return }
        if database.lastCommitted >= commit, !stored.isEmpty {
            try connection.transaction { () throws(SQLiteError) in
                for table in Schema.waitingTables() + ["identity"] {
                    let delete = try Statement("DELETE FROM \(table) WHERE sequence = ?", on: connection)
                    for sequence in stored {
                        try delete.bind(1, sequence)
                        try delete.run()
                    }
                }
            }
        }
        lost = nil
    }

    // MARK: Commits

    /// Makes the changes of the outbox and those of doors that wait with them, in one transaction.
    ///
    /// - Returns: A result for each `store` and `lookUp`, and for each of `writes` why nothing of it was done, or `nil`.
    func commit(
        _ changes: [OutboxChange], _ writes: [DoorWrite] = []
    ) throws(SQLiteError) -> (results: [StoreResult], failures: [SQLiteError?]) {
        guard sharing != nil else { return try commitOnce(changes, writes) }
        // Another node may be in the way for a moment.
        for _ in 1..<Store.mostTries {
            do throws(SQLiteError) {
                return try commitOnce(changes, writes)
            } catch  where error.isCollision {}
        }
        return try commitOnce(changes, writes)
    }

    private static let mostTries = 4
}
