import Relay

/// A connection to a store that other nodes use, and what becomes of a commit when it is lost.
extension StoreStatements {
    /// Finds out by the next connection whether a commit was made although it failed, since only its answer was lost. While
    /// no connection can be made, the commit is noted as lost.
    ///
    /// - Returns: Whether the commit was certainly made.
    func findCommit(
        after error: StoreError, storing stored: [Int64]
    ) throws(StoreError) -> Bool {
        guard error.kind == .connectionLost, let database = sharing?.database else { return false }
        // While an earlier one is not known, this one was not begun.
        guard lost == nil else { return false }
        let commit = database.lastCommit
        guard commit != database.lastCommitted else { return false }
        lost = (stored, commit)
        // The next one may have to find out.
        do throws(StoreError) { try database.connect() } catch { return false }
        lost = nil
        return database.lastCommitted == commit
    }

    /// Makes a connection if there is none. What a commit of an earlier one has stored although it was said to have failed
    /// stays, since it may have come to another node meanwhile, which has called it stored: this node gets it as what
    /// others store for it. Whoever submitted it got `busy` and retries, and it is known then.
    func connect() throws(StoreError) {
        guard let sharing else { return }
        let database = sharing.database
        try database.connect()
        backlog.giveUp(sharing.connected())
        if database.isUncounted { try countAnew(sharing) }
        guard let (stored, commit) = lost else { return }
        if database.lastCommitted >= commit, !stored.isEmpty {
            try connection.transaction { () throws(StoreError) in
                for sequence in stored {
                    try backlog.take(sequence)
                    for change in [
                        "DELETE FROM notification WHERE sequence = ?",
                        "UPDATE backlog SET late = true WHERE sequence = ?",
                    ] {
                        let statement = try Statement(change, on: connection)
                        try statement.bind(1, sequence)
                        try statement.run()
                    }
                }
            }
        }
        lost = nil
    }

    /// Marks notifications that wait for this node, except those in memory, as stored by others: they come in anew. The
    /// database went back, so they are not the ones that the node has counted. A notification that was counted and is still
    /// there counts twice, and is asked for in vain.
    private func countAnew(_ sharing: Sharing) throws(StoreError) {
        let change = try Statement(
            """
            UPDATE backlog SET late = true
            WHERE NOT late AND \(PostgreSQLDialect.isOf(1)) AND sequence <> ALL(CAST(?2 AS BIGINT[]))
            """, on: connection)
        try connection.transaction { () throws(StoreError) in
            try change.bind(1, bytes: sharing.owned.bits)
            try change.bind(2, "{\(backlog.claimed.map(String.init).joined(separator: ","))}")
            try change.run()
        }
        sharing.standing.pollFloor = PollFloor()
        backlog.goBack()
        sharing.database.isUncounted = false
    }

    // MARK: Commits

    /// Makes the changes of the outbox and those of doors that wait with them, in one transaction.
    ///
    /// - Returns: A result for each `store` and `lookUp`, and for each of `writes` why nothing of it was done, or `nil`.
    func commit(
        _ changes: [OutboxChange], _ writes: [DoorWrite] = []
    ) throws(StoreError) -> (results: [StoreResult], failures: [StoreError?]) {
        guard let sharing else { return try commitOnce(changes, writes) }
        let made = try commitInsistently(changes, writes)
        var elsewhere = Shards.none
        for case .store(let request) in changes where !request.destination.isHere {
            elsewhere[Shards.number(of: request.digests.token)] = true
        }
        sharing.database.tellOwners(of: elsewhere)
        return made
    }

    /// Tries a commit, and again when another node was in the way, as it may be for a moment.
    private func commitInsistently(
        _ changes: [OutboxChange], _ writes: [DoorWrite]
    ) throws(StoreError) -> (results: [StoreResult], failures: [StoreError?]) {
        for _ in 1..<StoreStatements.mostTries {
            do throws(StoreError) {
                return try commitOnce(changes, writes)
            } catch  where error.kind == .collision {}
        }
        return try commitOnce(changes, writes)
    }

    private static let mostTries = 4
}
