import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// Built nodes that come to a real PostgreSQL by a real pgbouncer in session mode.
@EventLoop
@Suite(.serialized) struct PoolerTests {
    private let server: PostgreSQLServer

    init() throws {
        server = try PostgreSQLServer()
        try server.startPooler()
    }

    private func stage() throws -> LoopbackStage {
        try LoopbackStage { $0 + "storage: {url: \"\(server.poolerURL("postgres"))\"}\n" }
    }

    private func storage(_ word: String, of stage: LoopbackStage) throws -> CommandResult {
        try run([program, "storage", word, "--config", stage.configuration])
    }

    private func deliver(_ numbers: ClosedRange<Int>, by peer: BisqPeer) async throws {
        for number in numbers {
            try await until {
                try await peer.outcome(of: request(number, awaitsOutcome: true)).status == .delivered
            }
        }
    }

    /// After an outage senders are told to come again until the node has looked.
    private func store(_ numbers: ClosedRange<Int>, by peer: BisqPeer) async throws {
        for number in numbers {
            try await until { try await peer.send(request(number)).status == .stored }
        }
    }

    @Test func nothingIsLostWhenItOrWhatIsBehindItGoesAndComes() async throws {
        let stage = try stage()
        let made = try storage("init", of: stage)
        #expect(made.status == 0, "\(made)")
        let wait = FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "1"))
        stage.world.apple.faults = FaultScript([wait])
        try await stage.start()
        let peer = try await stage.dial()
        try await store(1...5, by: peer)
        let check = try storage("check", of: stage)
        #expect(check.status == 0 && check.output.contains("5 waiting"), "\(check)")

        try server.stopPooler()
        #expect(try await peer.send(request(6)).status == .busy)
        await stage.logged("outbox.failed")
        #expect(try stage.health()["checks"]?["outbox"]?["state"]?.string?.contains("PostgreSQL") == true)
        try server.startPooler()
        await stage.logged("outbox.recovered")
        try await store(7...10, by: peer)

        try server.stopImmediately()
        #expect(try await peer.send(request(11)).status == .busy)
        await stage.logged("outbox.failed", count: 2)
        // It has tried the server in vain meanwhile.
        let log = server.directory + "/pooler/log"
        try await until { try String(contentsOfFile: log, encoding: .utf8).contains("connect failed") }
        try server.start()
        await stage.logged("outbox.recovered", count: 2)
        stage.world.apple.faults = FaultScript()
        try await deliver(1...11, by: peer)
        #expect(stage.world.apple.book.count == 11)
        await stage.close()
    }

    @Test func twoNodesShareWhatIsBehindIt() async throws {
        let first = try stage()
        try await first.start()
        let second = try stage()
        try second.share(first)
        try await second.start()
        try await until { try server.shards("postgres") == [128, 128] }
        let (peer, other) = try await (first.dial(), second.dial())
        try await store(1...4, by: peer)
        try server.stopPooler()
        try server.startPooler()
        try await deliver(5...8, by: other)
        try await deliver(1...4, by: other)
        let stages = [first, second]
        let tokens = stages.flatMap(\.world.apple.book).map(\.deviceToken)
        #expect(tokens.count == 8 && Set(tokens).count == 8)
        for stage in stages { await stage.close() }
    }
}
