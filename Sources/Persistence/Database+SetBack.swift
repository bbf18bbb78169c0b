import PostgreSQL

/// A database that went back: an asynchronous standby server has taken over, or an older backup stands there.
extension Database {
    /// Numbers that may have been given by what is lost are not given again: under them some node may still end what it has
    /// in memory, and a reader go on. Before this connection gets any.
    ///
    /// - Parameter isBack: It is seen by this node's commits. Else it is seen by the timeline, which is another one since a
    ///   standby server took over.
    func keepNumbersApart(isBack: Bool) throws(PostgreSQLError) {
        let renew = PostgreSQLStatement(
            """
            WITH renewed AS (UPDATE cluster SET changes = changes + \(Database.leap),
                    timeline = CASE WHEN CAST(?1 AS BIGINT) = 0 THEN timeline ELSE CAST(?1 AS BIGINT) END
                FROM (SELECT timeline AS old FROM cluster) AS before
                WHERE timeline <> CAST(?1 AS BIGINT) AND CAST(?1 AS BIGINT) <> 0 OR CAST(?2 AS BIGINT) <> 0
                RETURNING old <> 0 OR CAST(?2 AS BIGINT) <> 0 AS is_apart)
            SELECT setval(CAST(quote_ident(schemaname) || '.' || quote_ident(sequencename) AS regclass),
                coalesce(last_value, 0) + \(Database.leap))
            FROM pg_sequences, renewed WHERE is_apart AND schemaname = 'onionbell'
                AND (sequencename = 'number' OR starts_with(sequencename, 'mailbox_'))
            """, on: connection)
        renew.bind(1, try timeline())
        renew.bind(2, isBack ? 1 : 0)
        while try renew.step() {}
    }

    /// More numbers than anybody gives between a backup and its return. A file, which a store may be copied to, has room for
    /// a thousand leaps.
    private static let leap: Int64 = 1 << 30

    /// Another one after each promotion of a standby server; 0: it does not tell.
    private func timeline() throws(PostgreSQLError) -> Int64 {
        let ask = PostgreSQLStatement(
            """
            SELECT CAST(CAST('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS BIT(32)) AS BIGINT)
            """, on: connection)
        do throws(PostgreSQLError) {
            return try ask.step() ? ask.integer(0) : 0
        } catch {
            guard !error.isConnectionLost else { throw error }
            return 0
        }
    }

    /// A commit fails once where the database went back, so that the operator hears of it.
    func tellOfSetBack() throws(SQLiteError) {
        guard let reason = setBack else { return }
        setBack = nil
        throw SQLiteError(PostgreSQLError(message: reason), .step)
    }
}
