import PostgreSQL

/// What a database promises, as its own settings tell.
package struct DatabaseReport: Equatable, Sendable {
    /// As PostgreSQL writes it.
    package var version = ""
    package var fsync = true
    package var fullPageWrites = true
    /// As it is for new connections; the node's have `on` at least.
    package var synchronousCommit = "on"
    /// Servers that are told what this one writes, and those of them that a commit waits for.
    package var standbys = 0
    package var synchronousStandbys = 0
    /// Of the nodes that use the store; `nil`: nobody does, or there is none yet.
    package var owner: String?

    package init() {}

    /// Asks it, beside whoever uses it. Nothing is made or changed.
    package static func read(at address: PostgreSQLAddress) throws(PostgreSQLError) -> DatabaseReport {
        let connection = try PostgreSQLConnection(address)
        connection.patience = 10_000
        func text(_ query: String) throws(PostgreSQLError) -> String? {
            let statement = PostgreSQLStatement(query, on: connection)
            return try statement.step() ? statement.text(0) : nil
        }
        func setting(_ name: String) throws(PostgreSQLError) -> String {
            try text("SELECT current_setting('\(name)')") ?? ""
        }
        var report = DatabaseReport()
        report.version = try setting("server_version")
        report.fsync = try setting("fsync") == "on"
        report.fullPageWrites = try setting("full_page_writes") == "on"
        report.synchronousCommit = try setting("synchronous_commit")
        func count(_ condition: String) throws(PostgreSQLError) -> Int {
            Int(try text("SELECT count(*) FROM pg_stat_replication WHERE \(condition)") ?? "") ?? 0
        }
        report.standbys = try count("true")
        report.synchronousStandbys = try count("sync_state IN ('sync', 'quorum')")
        if try text("SELECT 1 WHERE to_regclass('onionbell.node') IS NOT NULL") != nil {
            report.owner = try text(
                """
                SELECT string_agg(name, ', ' ORDER BY name) FROM onionbell.node WHERE until > clock_timestamp()
                    HAVING count(*) > 0
                """)
        }
        return report
    }
}
