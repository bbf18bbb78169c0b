import Foundation
import Lab
import Processes
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
            results.add("\(row), to the file's node", "times", measured.node.cpu / file.node.cpu)
            results.add("\(row), of it store thread", "CPU s/10k", perTenThousand(measured.node.store, count))
            results.add("\(row), of it loop", "CPU s/10k", perTenThousand(measured.node.loop, count))
            results.add("\(row), file's store thread", "CPU s/10k", perTenThousand(file.node.store, count))
            results.add("\(row), PostgreSQL itself", "CPU s/10k", perTenThousand(measured.server, count))
            // Of more is better: the other way round.
            results.add(
                "\(row), time for 10,000", "s", measured.report.seconds * 10_000 / Double(count))
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
            results.add("\(name), VmRSS over none", "MB", (resident - none) / 1000)
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
        let second = try await second(beside: node).node
        let killed = ContinuousClock.now
        kill(node.processID, SIGKILL)
        try await has(256, of: second)
        let end = ContinuousClock.now
        let resident = try ProcessFigures(of: second.processID).resident
        await second.end(by: SIGTERM)
        return TakingOver(joining: killed - joined, kill: end - killed, resident: resident)
    }
}
