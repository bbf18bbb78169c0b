import Crypto
import Persistence

/// A database as the store asks it. Its tables are ready, or are refused, once it is open.
extension Database: EngineConnection {
    var dialect: any Dialect { PostgreSQLDialect() }

    /// The seal of the rows: everybody with access to the database could read them.
    var seal: AES256SIV? { rowSeal }

    func statement(_ sql: String, room: Int) -> any EngineStatement { DatabaseStatement(sql, on: self) }

    /// Makes sure that the database has room. It gets its mark of each commit anyway, which needs no more
    /// room than it has, so on a full disk some room is taken, and let go with the commit.
    func prove(wasFull: Bool) throws(StoreError) {
        guard wasFull else { return }
        try execute(
            """
            TRUNCATE room;
            INSERT INTO room SELECT md5(CAST(number AS TEXT)) FROM generate_series(1, 10000) AS number;
            TRUNCATE room
            """)
    }

    func prepare() {}

    func refuseOtherFormat() {}

    func lockTables() throws(StoreError) { try execute(DatabaseSchema.oneAtATime) }

    func endCopy() throws(StoreError) { try DatabaseSchema.endCopy(self) }

    /// Begins the run: from now on a connection that is silent is given up long before the lease ends, since
    /// all that takes long is done.
    func beginRun(isAnew: Bool) { shortenPatience() }

    func sharing(on connection: borrowing Connection) throws(StoreError) -> (any Sharing)? {
        try DatabaseSharing(self, connection)
    }

    func use(_ engine: any Engine) {
        if let place = engine as? DatabasePlace { connection.address = place.address }
    }
}
