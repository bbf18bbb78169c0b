import Clocks
import Encodings
import Persistence
import PostgreSQL
import Reactor
import Relay

/// The promises of a database, as its own settings tell.
package struct DatabaseReport: Equatable, Sendable {
    /// The version as PostgreSQL writes it.
    package var version = ""
    package var fsync = true
    package var fullPageWrites = true
    /// The setting as it is for new connections; the node's have `on` at least.
    package var synchronousCommit = "on"
    /// The number of standbys that get what this server writes.
    package var standbys = 0
    /// The number of standbys that a commit waits for.
    package var synchronousStandbys = 0
    /// The owner of the nodes that use the store; `nil`: nobody does, or there is none yet.
    package var owner: String?
    package var nodes: [Node] = []
    /// Shards of no node that is alive.
    package var withoutOwner = 0
    /// The time by which this machine's clock is ahead of the database's.
    package var clockAhead = Duration.zero
    /// The time from a question to its answer: the median of several.
    package var roundTrip = Duration.zero

    /// A node that has the right to change the store, or had it lately.
    package struct Node: Equatable, Sendable {
        package var number: Int
        /// The name of its machine.
        package var name: String
        package var version: String
        package var leaseAge: Duration
        package var clockAhead: Duration

        package init(
            number: Int, name: String, version: String, leaseAge: Duration = .zero,
            clockAhead: Duration = .zero
        ) {
            self.number = number
            self.name = name
            self.version = version
            self.leaseAge = leaseAge
            self.clockAhead = clockAhead
        }

        package var isAlive: Bool { leaseAge <= SharedNode.lease }
        /// `2 at host`.
        package var title: String { "\(number) at \(name)" }
    }

    /// The holder that keeps what is gone from being cleared away, the one that does it for the longest.
    package var holder: Holder?
    /// Rows of the store's tables that are gone and not cleared away, as PostgreSQL estimates them.
    package var deadRows = 0
    /// Rows of the store's tables that are there, as PostgreSQL estimates them.
    package var liveRows = 0

    /// An open transaction, as a backup holds one, or a standby server's slot.
    package struct Holder: Equatable, Sendable {
        package var name: String
        /// Transactions that have begun since.
        package var age: Int
        /// The age of the transaction or slot; `nil`: PostgreSQL tells it to its owner only.
        package var time: Duration?

        package init(name: String, age: Int, time: Duration? = nil) {
            self.name = name
            self.age = age
            self.time = time
        }
    }

    package init() {}

    private mutating func readHolder(on connection: PostgreSQLConnection) throws(PostgreSQLError) {
        let holder = PostgreSQLStatement(
            """
            SELECT name, CAST(age AS BIGINT), CAST(extract(epoch FROM clock_timestamp() - begun) AS BIGINT) FROM (
                SELECT 'process ' || pid || coalesce(' (' || nullif(application_name, '') || ')', '') AS name,
                    age(backend_xmin) AS age, xact_start AS begun
                FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
                UNION ALL SELECT 'replication slot ' || slot_name, age(xmin), NULL FROM pg_replication_slots
                    WHERE xmin IS NOT NULL
                UNION ALL SELECT 'prepared transaction ' || gid, age(transaction), prepared FROM pg_prepared_xacts
            ) AS holder ORDER BY age DESC LIMIT 1
            """, on: connection)
        if try holder.step() {
            self.holder = Holder(
                name: holder.text(0), age: Int(holder.integer(1)),
                time: holder.isNull(2) ? nil : .seconds(holder.integer(2)))
        }
        let rows = PostgreSQLStatement(
            """
            SELECT CAST(coalesce(sum(n_dead_tup), 0) AS BIGINT), CAST(coalesce(sum(n_live_tup), 0) AS BIGINT)
            FROM pg_stat_user_tables WHERE schemaname = 'onionbell'
            """, on: connection)
        if try rows.step() { (deadRows, liveRows) = (Int(rows.integer(0)), Int(rows.integer(1))) }
    }

    /// Asks the database, also while nodes use it. Nothing is made or changed.
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
        var times: [Int64] = []
        let clock = PostgreSQLStatement("SELECT \(DatabaseSchema.clock)", on: connection)
        for _ in 0..<5 {
            let begun = EventLoop.now
            guard try clock.step() else { continue }
            report.clockAhead = .milliseconds(EventLoop.machineMilliseconds - clock.integer(0))
            clock.reset()
            times.append((EventLoop.now - begun).nanoseconds)
        }
        if !times.isEmpty { report.roundTrip = .nanoseconds(times.sorted()[times.count / 2]) }
        try report.readHolder(on: connection)
        if try text("SELECT 1 WHERE to_regclass('onionbell.node') IS NOT NULL") != nil {
            report.owner = try text(
                """
                SELECT string_agg(name, ', ' ORDER BY name) FROM onionbell.node WHERE \(DatabaseSchema.lives)
                    HAVING count(*) > 0
                """)
            // Another format may know its nodes otherwise.
            if try text("SELECT CAST(version AS TEXT) FROM onionbell.format") == "\(DatabaseSchema.version)" {
                try report.readNodes(on: connection)
            }
        }
        return report
    }

    private mutating func readNodes(on connection: PostgreSQLConnection) throws(PostgreSQLError) {
        let nodes = PostgreSQLStatement(
            """
            SELECT number, name, version, \(DatabaseSchema.leaseAge), clock_ahead
            FROM onionbell.node ORDER BY number LIMIT 64
            """, on: connection)
        while try nodes.step() {
            self.nodes.append(
                Node(
                    number: Int(nodes.integer(0)), name: nodes.text(1), version: nodes.text(2),
                    leaseAge: .milliseconds(abs(nodes.integer(3))),
                    clockAhead: .milliseconds(nodes.integer(4))))
        }
        let free = PostgreSQLStatement(
            """
            SELECT count(*) FROM onionbell.shard WHERE NOT EXISTS (SELECT 1 FROM onionbell.node
                WHERE node.owner = shard.owner AND \(DatabaseSchema.lives))
            """, on: connection)
        if try free.step() { withoutOwner = Int(free.integer(0)) }
    }
}
