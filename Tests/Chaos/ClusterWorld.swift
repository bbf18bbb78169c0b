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

    /// Starts all.
    init(nodes count: Int, torrc: String) async throws {
        (server, database) = try await Task.detached {
            let server = try PostgreSQLServer()
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

    /// For the length of some rounds, as a backup does. It ends with the server.
    func holdTransaction() async throws {
        let (server, database) = (server, database)
        let begin =
            "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class; SELECT pg_sleep(60)"
        Task.detached { _ = try? server.psql(database, begin) }
        let isHeld =
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' AND pid <> pg_backend_pid()"
        var holding = ""
        repeat {
            await pause(.milliseconds(20))
            holding = try await Task.detached { try server.psql(database, isHeld) }.value
        } while holding == "0"
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
