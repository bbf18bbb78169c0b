import Relay

/// A connection to a database, and what becomes of a commit when it is lost.
extension Store {
    /// Whether a commit was made although it failed, since only its answer was lost: the next connection sees that.
    func isCommitted(
        after error: SQLiteError, storing stored: Range<Int64>
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
    /// goes: whoever submitted it was told to come again.
    func connect() throws(SQLiteError) {
        guard let database = connection.database else { return }
        try database.connect()
        guard let (stored, commit) = lost else { return }
        if database.lastCommitted >= commit, let last = stored.last {
            try connection.transaction { () throws(SQLiteError) in
                for table in Schema.waitingTables() + ["identity"] {
                    let delete = try Statement(
                        "DELETE FROM \(table) WHERE sequence BETWEEN ? AND ?", on: connection)
                    try delete.bind(1, stored.lowerBound)
                    try delete.bind(2, last)
                    try delete.run()
                }
            }
        }
        lost = nil
    }

}
