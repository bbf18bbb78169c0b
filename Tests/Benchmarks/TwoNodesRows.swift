import Foundation
import Lab
import Processes
import Reactor

/// What comes to both nodes of a pair, half to each, over connections that stay; or all to one.
struct PacedLoad {
    let name: String
    let form: HTTPCommand.Form
    /// A second; 0: each client sends when it has its answer.
    var rate = 0
    /// Of each of the two halves.
    var clients = 32
    /// Of requests, in all; the first where time is short.
    let counts: (quick: Int, full: Int)

    static let all = [
        PacedLoad(name: "GET 500/s", form: .get, rate: 500, counts: (3000, 10_000)),
        PacedLoad(name: "POST 500/s", form: .post, rate: 500, counts: (3000, 10_000)),
        PacedLoad(name: "POST full speed", form: .post, clients: 200, counts: (10_000, 40_000)),
    ]
}

/// Two nodes on one database beside one node on one, under the same loads: CPU of nodes and database together, whichever
/// of the two cores they run on, and how long a request takes to the gateway.
extension Rows {
    mutating func measureTwoNodes() async throws {
        for isPair in [false, true] {
            let database = try await LabDatabase.start(
                settings: listsStatements ? ["shared_preload_libraries=pg_stat_statements"] : [])
            if listsStatements { try await database.query("CREATE EXTENSION pg_stat_statements") }
            let measured = try await bench.withNode(isTimed: true, in: database, on: .any) { node in
                try await bench.spread(database)
                let second = isPair ? try await bench.second(beside: node) : nil
                var measured: [SharedCost] = []
                for (number, load) in PacedLoad.all.enumerated() {
                    let pair = TwoNodes(bench, node, second, database)
                    try await pair.send(load, 1000, timed: nil)
                    if listsStatements { try await database.query("SELECT pg_stat_statements_reset()") }
                    measured.append(
                        try await pair.cost(
                            of: load, isQuick ? load.counts.quick : load.counts.full,
                            timed: UInt32(number)))
                    if listsStatements {
                        say("\(isPair ? "two nodes" : "one node"), \(load.name)")
                        for line in try await database.dearestStatements() { say(line) }
                    }
                }
                await second?.node.end(by: SIGTERM)
                return measured
            }
            await database.stop()
            for (load, cost) in zip(PacedLoad.all, measured) {
                let name = "postgresql, \(isPair ? "two nodes" : "one node"), \(load.name)"
                results.add(name, "CPU s/10k", perTenThousand(cost.nodes + cost.database, cost.count))
                results.add(
                    "\(name), of it PostgreSQL", "CPU s/10k", perTenThousand(cost.database, cost.count))
                results.add("\(name), to the gateway p50", "ms", cost.toGateway.median)
                results.add("\(name), to the gateway p99", "ms", cost.toGateway.p99)
                results.add("\(name), commits", "a notif.", cost.commits / Double(cost.count))
                if load.rate == 0 { results.add("\(name), rate", "1/s", Double(cost.count) / cost.seconds) }
            }
        }
    }
}

private struct SharedCost {
    let count: Int
    /// Of CPU.
    let nodes: Double
    let database: Double
    /// Of the wall clock, until all requests are answered.
    let seconds: Double
    let toGateway: Latency
    let commits: Double
}

/// One node or two with one database, and what is sent to them.
@EventLoop
private struct TwoNodes {
    private let bench: Bench
    private let node: NodeUnderTest
    private let second: SecondNode?
    private let database: LabDatabase

    init(_ bench: Bench, _ node: NodeUnderTest, _ second: SecondNode?, _ database: LabDatabase) {
        (self.bench, self.node, self.second, self.database) = (bench, node, second, database)
    }

    /// Returns when all is answered and nothing waits any more.
    func send(_ load: PacedLoad, _ count: Int, timed: UInt32?) async throws {
        try await answer(load, count, timed: timed)
        try await rest()
    }

    private func answer(_ load: PacedLoad, _ count: Int, timed: UInt32?) async throws {
        let loads = try [bench.httpEndpoint, second?.http ?? bench.httpEndpoint].map { endpoint in
            try bench.tool(
                [
                    "http", "--to", endpoint, "--form", load.form.rawValue, "--clients", "\(load.clients)",
                    "--count", "\(count / 2)", "--rate", "\(load.rate / 2)",
                ] + (timed.map { ["--timed", "\($0)"] } ?? []), core: .any)
        }
        for load in loads { _ = try await load.finish() }
    }

    private func rest() async throws {
        let waiting =
            "SELECT (SELECT count(*) FROM onionbell.notification) + (SELECT count(*) FROM onionbell.backlog)"
        for _ in 0..<120 {
            // The gateway writes what it has seen five times a second.
            try await Task.sleep(for: .milliseconds(500))
            if try await database.query(waiting) == ["0"] { return }
        }
        throw BenchError("not all was sent")
    }

    func cost(of load: PacedLoad, _ count: Int, timed: UInt32) async throws -> SharedCost {
        let (nodesBefore, databaseBefore, commitsBefore) = try await figures()
        let begun = ContinuousClock.now
        try await answer(load, count, timed: timed)
        let took = (ContinuousClock.now - begun) / .seconds(1)
        try await rest()
        let (nodes, server, commits) = try await figures()
        return SharedCost(
            count: count, nodes: nodes - nodesBefore, database: server - databaseBefore, seconds: took,
            toGateway: try TimedPushes.latency(of: timed, in: node.gateway.directory),
            commits: commits - commitsBefore)
    }

    private func figures() async throws -> (nodes: Double, database: Double, commits: Double) {
        guard let process = database.processID else { throw BenchError("PostgreSQL has ended") }
        let commits = try await database.query(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = '\(LabDatabase.name)'")
        return (
            try node.figures.cpu + (second.map { try ProcessFigures(of: $0.node.processID).cpu } ?? 0),
            try familySeconds(of: process), commits.first.flatMap { Double($0) } ?? .nan
        )
    }
}

/// Another node with the same store, and where requests come in.
struct SecondNode {
    let node: Child
    let http: String
}

extension Bench {
    /// From now on its new processes run on both cores.
    fileprivate func spread(_ database: LabDatabase) async throws {
        guard let process = database.processID else { throw BenchError("PostgreSQL has ended") }
        _ = try await Child(["taskset", "-cp", Core.any.rawValue, "\(process)"], core: .any).finish()
    }

    func second(beside node: NodeUnderTest) async throws -> SecondNode {
        let directory = node.gateway.directory
        var text = try String(contentsOfFile: "\(directory)/onionbell.yaml", encoding: .utf8)
        let peers = try Endpoint.host("127.0.0.1", port: freePort())
        let http = try Endpoint.host("127.0.0.1", port: freePort())
        for (mine, its) in [
            (peerEndpoint, "\(peers)"), (httpEndpoint, "\(http)"),
            (webPushEndpoint, "unix:\(directory)/web-push-2"), ("\(directory)/state", "\(directory)/state-2"),
            ("\(directory)/mailboxes", "\(directory)/mailboxes-2"),
            ("\(directory)/management", "\(directory)/management-2"),
        ] { text = text.replacing(mine, with: its) }
        try LabDirectory.write(Array(text.utf8), to: "\(directory)/onionbell-2.yaml")
        try FileManager.default.createDirectory(
            atPath: "\(directory)/state-2", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try LabDirectory.write(
            try LabDirectory.read("\(directory)/state/digest-key"), to: "\(directory)/state-2/digest-key")
        let child = try Child([self.node, "--config", "\(directory)/onionbell-2.yaml"], core: .any)
        let second = NodeUnderTest(child, node.gateway, self)
        do {
            try await second.waitUntilReady(peers)
            try await has(128, of: child)
        } catch {
            await child.end()
            throw error
        }
        return SecondNode(node: child, http: "\(http)")
    }

    /// By its log.
    func has(_ shards: Int, of node: Child) async throws {
        for _ in 0..<2400 {
            if node.lines.last(where: { $0.contains("outbox.shared") })?.contains("shards=\(shards)") == true
            {
                return
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw BenchError("the second node does not have \(shards) shards: \(node.lines.suffix(3))")
    }
}

extension LabDatabase {
    /// Calls, milliseconds in all, and the beginning of each.
    fileprivate func dearestStatements() async throws -> [String] {
        try await query(
            """
            SELECT calls, round(CAST(total_exec_time + total_plan_time AS NUMERIC)), rows,
                left(regexp_replace(query, '\\s+', ' ', 'g'), 110)
            FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 16
            """)
    }
}
