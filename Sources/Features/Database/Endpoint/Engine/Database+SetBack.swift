import Persistence
import PostgreSQL

/// A database that went back: an asynchronous standby server has taken over, or an older backup stands there. Phones keep the
/// numbers that follow: people see them, and nothing goes on from them.
extension Database {
    /// Makes sure, before this connection gets any numbers, that none is given again that may have been given
    /// by what is lost. Under such a number some node may still end what it has in memory, and a reader go
    /// on.
    ///
    /// A node that had nothing to do sees nothing in its own commits, and may come before the one that does. But no server
    /// goes back without a new start, so with each start numbers go on from what its time gives: above all that were given
    /// before, as long as there were fewer than 1,024 a second. Where they are above that already, the time is in what they
    /// leap by: a server that was started between backup and return has leapt from the same number. Whoever restores tables
    /// under a running server takes away what the next commit of a node proves (see `prove()`).
    ///
    /// - Parameter isBack: It is seen by this node's commits.
    func keepNumbersApart(isBack: Bool) throws(PostgreSQLError) {
        let renew = PostgreSQLStatement(
            """
            WITH server AS (SELECT CAST(extract(epoch FROM pg_postmaster_start_time()) * 1000000 AS BIGINT) AS started),
                renewed AS (UPDATE cluster
                    SET changes = changes + \(Database.leap) + started / 1000 % \(Database.leap), timeline = started
                    FROM server, (SELECT timeline AS old FROM cluster) AS before
                    WHERE timeline <> started OR CAST(?1 AS BIGINT) <> 0
                    RETURNING old <> 0 OR CAST(?1 AS BIGINT) <> 0 AS is_apart,
                        (started / 1000 - \(Database.start)) * 1024 / 1000 AS least)
            SELECT setval(CAST(quote_ident(schemaname) || '.' || quote_ident(sequencename) AS regclass),
                CASE WHEN CAST(?1 AS BIGINT) = 0 AND coalesce(last_value, 0) < least THEN least
                    ELSE coalesce(last_value, 0) + \(Database.leap) + least % \(Database.leap) END)
            FROM pg_sequences, renewed WHERE is_apart AND schemaname = 'onionbell'
                AND (sequencename = 'number'
                    OR sequencename ~ '_number_seq$' AND sequencename <> 'phone_number_seq')
            """, on: connection)
        renew.bind(1, isBack ? 1 : 0)
        while try renew.step() {}
    }

    /// More numbers than anybody gives between a backup and its return. A file, which a store may be copied to, has room for
    /// hundreds of leaps.
    private static let leap: Int64 = 1 << 30
    /// 1 January 2026, in milliseconds since 1970: when numbers began.
    private static let start: Int64 = 1_767_225_600_000

    /// Fails a commit once where the database went back, so that the operator hears of it.
    func tellOfSetBack() throws(StoreError) {
        guard let reason = setBack else { return }
        setBack = nil
        throw StoreError(setBack: reason)
    }
}
