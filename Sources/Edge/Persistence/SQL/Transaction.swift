/// Begins and ends the outbox's commits. SQLite's statements for that are prepared: each commit runs them.
final class Transaction {
    private let begin: Statement
    private let end: Statement
    private let proof: Statement
    /// The last commit found no room on the disk, and none has found any since.
    var isFull = false

    /// In a database nothing of it is run.
    init(on connection: borrowing Connection) throws(StoreError) {
        begin = try Statement("BEGIN IMMEDIATE", on: connection)
        end = try Statement("COMMIT", on: connection)
        // It is that already, and the page that it stands on is written anew.
        proof = try Statement("PRAGMA user_version = \(Schema.version)", on: connection)
    }

    func begin(on connection: borrowing Connection) throws(StoreError) {
        if connection.database == nil { try begin.run() } else { try connection.begin() }
    }

    func commit(on connection: borrowing Connection) throws(StoreError) {
        if connection.database == nil { try end.run() } else { try connection.commit() }
    }

    /// Writes something that changes nothing: a database gets its mark of each commit anyway. That needs no more room than
    /// it has, so on a full disk some is taken, and let go with the commit.
    func prove(on connection: borrowing Connection) throws(StoreError) {
        guard connection.database != nil else { return try proof.run() }
        guard isFull else { return }
        try connection.execute(
            """
            TRUNCATE room;
            INSERT INTO room SELECT md5(CAST(number AS TEXT)) FROM generate_series(1, 10000) AS number;
            TRUNCATE room
            """)
        isFull = false
    }
}
