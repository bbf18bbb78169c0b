import Foundation
import Lab
import Programs
import Reactor

/// A store in PostgreSQL beside that in a file, under the same load in the same round.
extension Rows {
    /// Of peers and of `POST /v1`; PostgreSQL has core 1, with gateway and senders.
    mutating func measureDatabase() async throws {
        let count = isQuick ? 30_000 : 60_000
        let loads = [
            ("peers 10 x 64", peerArguments(10, 64, count: count)),
            ("POST /v1", ["http", "--to", bench.httpEndpoint, "--clients", "32", "--count", "\(count)"]),
        ]
        let file = try await measure(loads, in: nil)
        let database = try await LabDatabase.start()
        let measured = try await measure(loads, in: database)
        await database.stop()
        for ((name, _), (file, measured)) in zip(loads, zip(file, measured)) {
            let row = "postgresql, \(name)"
            results.add(row, "CPU s/10k", perTenThousand(measured.node.cpu, count))
            results.add("\(row), to the file's node", "times", measured.node.cpu / file.node.cpu, goal: 1.3)
            results.add("\(row), of it store thread", "CPU s/10k", perTenThousand(measured.node.store, count))
            results.add("\(row), of it loop", "CPU s/10k", perTenThousand(measured.node.loop, count))
            results.add("\(row), file's store thread", "CPU s/10k", perTenThousand(file.node.store, count))
            results.add("\(row), PostgreSQL itself", "CPU s/10k", perTenThousand(measured.server, count))
            // Of more is better: the other way round.
            results.add(
                "\(row), time for 10,000", "s", measured.report.seconds * 10_000 / Double(count), goal: 1.25)
            results.add(
                "\(row), wall clock", "1/s", Double(count) / measured.report.seconds)
            results.add("\(row), file's wall clock", "1/s", Double(count) / file.report.seconds)
            results.add(
                "\(row), receipt p50", "ms",
                (measured.report.receipt ?? measured.report.outcome)?.median ?? .nan)
        }
    }

    private struct Measured {
        let report: LoadReport
        let node: NodeUnderTest.Used
        /// Seconds of PostgreSQL's processes.
        let server: Double
    }

    private func measure(
        _ loads: [(name: String, arguments: [String])], in database: LabDatabase?
    ) async throws -> [Measured] {
        try await bench.withNode(in: database) { node in
            var measured: [Measured] = []
            for (_, arguments) in loads {
                // The first ones meet an empty allocator and a cold cache.
                _ = try await node.under(arguments + ["--count", "2000"])
                let before = try database.map { try serverSeconds($0) } ?? 0
                let (report, used) = try await node.under(arguments)
                let after = try database.map { try serverSeconds($0) } ?? 0
                measured.append(Measured(report: report, node: used, server: after - before))
            }
            return measured
        }
    }

    private func serverSeconds(_ database: LabDatabase) throws -> Double {
        guard let process = database.processID else { throw BenchError("PostgreSQL has ended") }
        return try familySeconds(of: process)
    }

    /// How many notifications a second one node takes and sends, and how many two on the same database: all of it on both
    /// cores. Each of two loads has a node of its own, or both have the same.
    mutating func measureTwoNodes() async throws {
        let count = isQuick ? 20_000 : 40_000
        for isPair in [false, true] {
            let database = try await LabDatabase.start()
            let time = try await bench.withNode(in: database, on: .any) { node in
                try await bench.spread(database)
                guard isPair else {
                    return try await seconds([bench.peerEndpoint, bench.peerEndpoint], count, database)
                }
                let (second, endpoint) = try await bench.second(beside: node)
                let time = try await seconds([bench.peerEndpoint, endpoint], count, database)
                await second.end(by: SIGTERM)
                return time
            }
            await database.stop()
            results.add(
                "postgresql, \(isPair ? "two nodes" : "one of two nodes"), rate", "1/s",
                2 * Double(count) / time)
        }
    }

    /// From the first request until nothing waits any more.
    private func seconds(
        _ endpoints: [String], _ count: Int, _ database: LabDatabase
    ) async throws -> Double {
        func load(_ count: Int) async throws {
            let loads = try endpoints.map { endpoint in
                try bench.tool(
                    ["peers", "--to", endpoint, "--peers", "5", "--window", "64", "--count", "\(count)"],
                    core: .any)
            }
            for load in loads { _ = try await load.finish() }
            let waiting =
                "SELECT (SELECT count(*) FROM onionbell.notification) + (SELECT count(*) FROM onionbell.backlog)"
            for _ in 0..<1200 {
                if try await database.query(waiting) == ["0"] { return }
                try await Task.sleep(for: .milliseconds(50))
            }
            throw BenchError("not all was sent")
        }
        try await load(2000)
        let start = ContinuousClock.now
        try await load(count)
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// What waits is for Android, whose gateway is away. Then another node comes, and the first one is killed.
    mutating func measureWaitingInDatabase() async throws {
        var none: Double?
        var takingOver: TakingOver?
        for waiting in [0, isQuick ? 100_000 : 1_000_000] {
            let database = try await LabDatabase.start()
            let (resident, seconds) = try await bench.withNode(in: database) { node in
                var seconds = 0.0
                if waiting > 0 {
                    let arguments = peerArguments(100, 20, count: waiting, ["--android", "--awaiting", "0"])
                    seconds = try await node.under(arguments).report.seconds
                }
                _ = try await node.under(peerArguments(10, 64, count: 20_000))
                let resident = try node.figures.resident
                if waiting > 0 { takingOver = try await bench.takeOver(from: node) }
                return (resident, seconds)
            }
            await database.stop()
            let name = "postgresql, waiting rows: \(waiting)"
            results.add("\(name), VmRSS", "MB", resident / 1000)
            guard let none else {
                none = resident
                continue
            }
            results.add("\(name), VmRSS over none", "MB", (resident - none) / 1000, goal: 40, bound: 60)
            results.add("\(name), stored", "1/s", Double(waiting) / seconds)
            guard let takingOver else { continue }
            results.add("\(name), until a second node has its half", "s", takingOver.joining / .seconds(1))
            results.add("\(name), until it has all after a kill", "s", takingOver.kill / .seconds(1))
            results.add("\(name), VmRSS of the second node", "MB", takingOver.resident / 1000)
        }
    }
}

/// Until a node that joins has its half, and all after the first one was killed: the end of a lease, 8 s, included.
private struct TakingOver {
    let joining: Duration
    let kill: Duration
    let resident: Double
}

extension Bench {
    fileprivate func takeOver(from node: NodeUnderTest) async throws -> TakingOver {
        let joined = ContinuousClock.now
        let (second, _) = try await second(beside: node)
        try await has(128, of: second)
        let killed = ContinuousClock.now
        kill(node.processID, SIGKILL)
        try await has(256, of: second)
        let end = ContinuousClock.now
        let resident = try ProcessFigures(of: second.processID).resident
        await second.end(by: SIGTERM)
        return TakingOver(joining: killed - joined, kill: end - killed, resident: resident)
    }

    /// By its log.
    private func has(_ shards: Int, of node: Child) async throws {
        for _ in 0..<2400 {
            if node.lines.last(where: { $0.contains("outbox.shared") })?.contains("shards=\(shards)") == true
            {
                return
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw BenchError("the second node does not have \(shards) shards: \(node.lines.suffix(3))")
    }

    /// From now on its new processes run on both cores.
    fileprivate func spread(_ database: LabDatabase) async throws {
        guard let process = database.processID else { throw BenchError("PostgreSQL has ended") }
        _ = try await Child(["taskset", "-cp", Core.any.rawValue, "\(process)"], core: .any).finish()
    }

    /// Another node with the same store, and where its peers come in.
    fileprivate func second(beside node: NodeUnderTest) async throws -> (node: Child, peers: String) {
        let directory = node.gateway.directory
        var text = try String(contentsOfFile: "\(directory)/onionbell.yaml", encoding: .utf8)
        let peers = try Endpoint.host("127.0.0.1", port: freePort())
        for (mine, its) in [
            (peerEndpoint, "\(peers)"), (httpEndpoint, "unix:\(directory)/http-2"),
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
        } catch {
            await child.end()
            throw error
        }
        return (child, "\(peers)")
    }
}
