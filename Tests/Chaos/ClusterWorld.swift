import Glibc
import Lab
import Reactor
import Vectors

/// PostgreSQL and the nodes on it.
@EventLoop
final class ClusterWorld {
    let books = Books()
    private(set) var nodes: [ClusterNode] = []
    private let server: PostgreSQLServer
    private let database: String
    private var serverRuns = true
    private var locking: Task<Void, any Error>?

    /// Starts all.
    init(nodes count: Int, torrc: String) async throws {
        (server, database) = try await Task.detached {
            let server = try PostgreSQLServer(withClocks: true)
            return (server, try server.makeDatabase())
        }.value
        for number in 1...count {
            nodes.append(
                try await ClusterNode(
                    "node\(number)", at: server, database, torrc: torrc, with: nodes.first, books))
            try nodes.last?.start()
            // The first one makes the key that all have.
            while number == 1, !nodes[0].isServing {
                guard nodes[0].isUp else { throw ChaosError("\(nodes[0].lines.suffix(5))") }
                await pause(.milliseconds(20))
            }
        }
    }

    // MARK: PostgreSQL

    /// As a loss of its process would.
    func stopServer() async throws {
        serverRuns = false
        let server = server
        try await Task.detached { try server.stopImmediately() }.value
    }

    func startServer() async throws {
        let server = server
        try await Task.detached { try server.start() }.value
        serverRuns = true
    }

    /// Copies all that it has, and is away for that time.
    func keepBackup() async throws {
        try await stopServer()
        let server = server
        try await Task.detached { try server.keepBackup() }.value
        try await startServer()
    }

    /// It is away for that time, and comes back with what was there at ``keepBackup()``.
    ///
    /// - Parameter time: All that was sent before then was over.
    func takeBackup(begunAt time: Int64) async throws {
        try await stopServer()
        books.setBack(since: time)
        let server = server
        try await Task.detached { try server.takeBackup() }.value
        try await startServer()
    }

    /// How often nodes have said that the database went back.
    var toldOfSetBack: Int {
        nodes.reduce(0) { $0 + $1.lines.count { $0.contains("the database went back") } }
    }

    /// What it calls two hours later or earlier.
    func moveClock(ahead: Bool) async throws {
        try server.clocks?.set(ahead ? .ahead : .behind, seconds: 7200)
        let query = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)"
        let (server, database) = (server, database)
        let told = try await Task.detached { try server.psql(database, query) }.value
        let shift = (Int64(told) ?? 0) - EventLoop.unixMilliseconds / 1000
        guard abs(shift - (ahead ? 7200 : -7200)) < 60 else {
            throw ChaosError("PostgreSQL's clock is \(shift) s ahead")
        }
    }

    func setClockRight() throws { try server.clocks?.rightAll() }

    /// As VACUUM FULL of all that the nodes keep there, which nobody can read or write then, for thirteen seconds at least: a
    /// lease is shorter. The nodes themselves are another's.
    func lock() async throws {
        // It would wait behind that, and all nodes behind it.
        try await endTransaction()
        let tables = ["notification", "backlog", "identity"].map { "onionbell.\($0)" }.joined(separator: ", ")
        let hold = "BEGIN; LOCK TABLE \(tables) IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(13); COMMIT"
        let (server, database) = (server, database)
        locking = Task.detached {
            // The tables come one by one, and a node that has one of them may want another: then it is a deadlock, and
            // PostgreSQL may end this one of the two.
            while true {
                do {
                    _ = try server.psql(database, hold)
                    return
                } catch {
                    guard "\(error)".contains("deadlock detected") else { throw error }
                }
            }
        }
        // It sleeps when it has all of them.
        let query =
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'BEGIN; LOCK%'"
        while try await Task.detached(operation: { try server.psql(database, query) }).value == "0" {
            await pause(.milliseconds(20))
        }
    }

    func unlock() async throws { try await locking?.value }

    /// How often nodes have said who holds a lock.
    var toldOfLock: Int {
        nodes.reduce(0) { $0 + $1.lines.count { $0.contains("holds the table") } }
    }

    /// Longer than any round, with the locks on all tables that `pg_dump` takes. It ends with the server.
    func holdTransaction() async throws {
        guard try await !holdsTransaction() else { return }
        let hold = """
            BEGIN ISOLATION LEVEL REPEATABLE READ;
            DO $$
                DECLARE name TEXT;
                BEGIN
                    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'onionbell' LOOP
                        EXECUTE 'LOCK TABLE onionbell.' || quote_ident(name) || ' IN ACCESS SHARE MODE';
                    END LOOP;
                END
            $$;
            SELECT pg_sleep(600)
            """
        let (server, database) = (server, database)
        Task.detached { _ = try? server.psql(database, hold) }
        while try await !holdsTransaction() { await pause(.milliseconds(20)) }
    }

    private func endTransaction() async throws {
        let query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        let (server, database) = (server, database)
        _ = try await Task.detached { try server.psql(database, query) }.value
        while try await holdsTransaction() { await pause(.milliseconds(20)) }
    }

    private func holdsTransaction() async throws -> Bool {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        let (server, database) = (server, database)
        return try await Task.detached { try server.psql(database, query) }.value != "0"
    }

    /// Every node serves, and all have equal parts.
    func isWhole() async throws -> Bool {
        guard serverRuns, nodes.allSatisfy(\.isServing) else { return false }
        let (server, database) = (server, database)
        let parts = try await Task.detached { try server.shards(database) }.value
        let most = (256 + nodes.count - 1) / nodes.count
        return parts.count == nodes.count && parts.reduce(0, +) == 256 && parts.allSatisfy { $0 <= most }
    }

    // MARK: The end

    func note(_ line: String) { for node in nodes { node.note(line) } }

    var logs: String {
        let log = (try? LabDirectory.read(server.directory + "/log")) ?? []
        let parts =
            nodes.map { node in node.lines.map { "\(node.name) \($0)\n" }.joined() }
            + ["PostgreSQL\n" + String(decoding: log, as: UTF8.self)]
        return parts.joined(separator: "\n")
    }

    func close() async {
        for node in nodes { await node.close() }
    }
}
