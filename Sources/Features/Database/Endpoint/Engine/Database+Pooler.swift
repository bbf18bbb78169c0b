import Persistence
import PostgreSQL

extension Database {
    /// Refuses a pooler that gives away the server's connection between two transactions. It lends the same
    /// connection to somebody else meanwhile: what was set or prepared on it is gone, or another's.
    func refusePooledTransactions() throws(StoreError) {
        let ask = "SELECT CAST(pg_backend_pid() AS BIGINT)"
        guard let mine = try firstInteger(ask) else { return }
        var another: Int64?
        // There may be no room for another one: then the first statement that fails tells it.
        do throws(PostgreSQLError) {
            let other = try PostgreSQLConnection(place.address)
            try other.begin()
            let statement = PostgreSQLStatement(ask, on: other)
            another = try statement.step() ? statement.integer(0) : nil
            other.rollback()
        } catch {
            // Its first statement is prepared there already: by this one.
            if DatabaseAdvice.isPooled(error) { another = mine }
        }
        guard another == mine else { return }
        throw StoreError(PostgreSQLError(message: DatabaseAdvice.pooled), .open)
    }
}
