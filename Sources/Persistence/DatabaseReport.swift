import Encodings
import PostgreSQL
import Reactor
import Relay

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
    package var nodes: [Node] = []
    /// Shards of no node that is alive.
    package var withoutOwner = 0
    /// How far this machine's clock is ahead of the database's.
    package var clockAhead = Duration.zero
    /// From a question to its answer, in the middle of some.
    package var roundTrip = Duration.zero

    /// One that has the right to change the store, or had it lately.
    package struct Node: Equatable, Sendable {
        package var number: Int
        /// Of its machine.
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
        var times: [Int64] = []
        let clock = PostgreSQLStatement("SELECT \(DatabaseSchema.clock)", on: connection)
        for _ in 0..<5 {
            let begun = EventLoop.monotonicNanoseconds
            guard try clock.step() else { continue }
            report.clockAhead = .milliseconds(EventLoop.machineMilliseconds - clock.integer(0))
            clock.reset()
            times.append(EventLoop.monotonicNanoseconds - begun)
        }
        if !times.isEmpty { report.roundTrip = .nanoseconds(times.sorted()[times.count / 2]) }
        if try text("SELECT 1 WHERE to_regclass('onionbell.node') IS NOT NULL") != nil {
            report.owner = try text(
                """
                SELECT string_agg(name, ', ' ORDER BY name) FROM onionbell.node WHERE until > clock_timestamp()
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
                    leaseAge: .milliseconds(max(0, nodes.integer(3))),
                    clockAhead: .milliseconds(nodes.integer(4))))
        }
        let free = PostgreSQLStatement(
            """
            SELECT count(*) FROM onionbell.shard WHERE NOT EXISTS (SELECT 1 FROM onionbell.node
                WHERE node.owner = shard.owner AND until > clock_timestamp())
            """, on: connection)
        if try free.step() { withoutOwner = Int(free.integer(0)) }
    }
}
