import Clocks
import Persistence
import Relay

/// A connection to a store that other nodes use, and what becomes of a commit when it is lost.
extension DatabaseSharing {
    /// Finds out by the next connection whether a commit was made although it failed, since only its answer was lost. While
    /// no connection can be made, the commit is noted as lost.
    func wasMade(after error: StoreError) -> Bool {
        guard error.kind == .connectionLost else { return false }
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
    func connect(_ backlog: Backlog, on connection: borrowing Connection) throws(StoreError) {
        try database.connect()
        backlog.giveUp(connected())
        if database.isUncounted { try countAnew(backlog, on: connection) }
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
    private func countAnew(
        _ backlog: Backlog, on connection: borrowing Connection
    ) throws(StoreError) {
        let change = try Statement(
            """
            UPDATE backlog SET late = true
            WHERE NOT late AND \(PostgreSQLDialect.isOf(1)) AND sequence <> ALL(CAST(?2 AS BIGINT[]))
            """, on: connection)
        try connection.transaction { () throws(StoreError) in
            try change.bind(1, bytes: owned.bits)
            try change.bind(2, "{\(backlog.claimed.map(String.init).joined(separator: ","))}")
            try change.run()
        }
        standing.pollFloor = PollFloor()
        backlog.goBack()
        database.isUncounted = false
    }

    // MARK: Commits

    func commit<Value>(
        _ changes: [OutboxChange], _ once: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let made = try insist(once)
        var elsewhere = Shards.none
        for case .store(let request) in changes where !request.destination.isHere {
            elsewhere[Shards.number(of: request.digests.token)] = true
        }
        database.tellOwners(of: elsewhere)
        return made
    }

    /// Tries a commit, and again when another node was in the way, as it may be for a moment.
    private func insist<Value>(_ once: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        for _ in 1..<DatabaseSharing.mostTries {
            do throws(StoreError) { return try once() } catch  where error.kind == .collision {}
        }
        return try once()
    }

    private static let mostTries = 4

    /// Asks for all that a commit needs to know.
    func begin(_ changes: [OutboxChange]) throws(StoreError) {
        stored = []
        try database.tellOfSetBack()
        try identities.prepare(changes)
    }

    func prepare(for change: OutboxChange) throws(StoreError) {
        if !change.isGathered { try rows.write() }
    }
}

/// The rows of the running commit, and the identities.
extension DatabaseSharing {
    func write() throws(StoreError) { try rows.write() }

    func drop() { rows.drop() }

    func takeNumber() throws(StoreError) -> Int64 { try identities.takeNumber() }

    func giveBack(_ number: Int64) { identities.giveBack(number) }

    func store(_ request: StoreRequest, at sequence: Int64) throws(StoreError) {
        try rows.store(request, at: sequence)
    }

    func add(_ request: StoreRequest, room: Int, at sequence: Int64) throws(StoreError) -> Bool {
        try identities.add(request, room: room, at: sequence)
    }

    func keep(_ sequence: Int64) { stored.append(sequence) }

    func leave(_ sequence: Int64) { rows.leave(sequence) }

    func leaveBacklog(_ sequence: Int64) { rows.leaveBacklog(sequence) }

    func remember(_ digests: SubmissionDigests, acceptedAt: UnixTime, at sequence: Int64) {
        identities.enter(digests.identity, at: sequence)
        rows.remember(digests, acceptedAt: acceptedAt, at: sequence)
    }

    func sequence(of identity: Digest) throws(StoreError) -> Int64? {
        try identities.sequence(of: identity)
    }

    func remembered() throws(StoreError) -> Int { try identities.remembered() }
}
