import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// Several built nodes at the same time with their store in one real PostgreSQL.
@EventLoop
@Suite(.serialized) struct SharedDatabaseTests {
    private let server: PostgreSQLServer
    private let database: String

    init() throws {
        server = try PostgreSQLServer.shared.get()
        database = try server.makeDatabase()
    }

    /// - Parameter first: Whose key it has.
    private func stage(with first: LoopbackStage? = nil) throws -> LoopbackStage {
        let stage = try LoopbackStage { $0 + "storage: {url: \"\(server.url(database))\"}\n" }
        if let first { try stage.share(first) }
        return stage
    }

    private func started(with first: LoopbackStage? = nil) async throws -> LoopbackStage {
        let stage = try stage(with: first)
        try await stage.start()
        return stage
    }

    private func owned() throws -> [Int] { try server.shards(database) }

    private func text(_ path: String, of stage: LoopbackStage) throws -> String {
        try run([
            "curl", "-s", "--unix-socket", stage.world.directory.path + "/management",
            "http://localhost" + path,
        ]).output
    }

    private func status(of stage: LoopbackStage) throws -> JSON {
        try #require(try JSON(Array(text("/status.json", of: stage).utf8).dropLast())["database"])
    }

    private func pushes(_ stages: [LoopbackStage]) -> [String: Int] {
        stages.flatMap(\.world.apple.book).reduce(into: [:]) { $0[$1.deviceToken, default: 0] += 1 }
    }

    private func outcome(_ number: Int, by peer: BisqPeer) async throws -> MobileNotificationResponse.Status?
    {
        var status: MobileNotificationResponse.Status?
        try await until {
            status = try await peer.outcome(of: request(number, awaitsOutcome: true)).status
            return status != .busy
        }
        return status
    }

    @Test func twoNodesAcceptEverythingAndEachSendsItsPart() async throws {
        let first = try await started()
        let second = try await started(with: first)
        try await until { try owned() == [128, 128] }
        let peers = try await (first.dial(), second.dial())
        for number in 1...60 {
            let peer = number.isMultiple(of: 2) ? peers.0 : peers.1
            #expect(try await outcome(number, by: peer) == .delivered)
        }
        #expect(pushes([first, second]).count == 60)
        #expect(pushes([first, second]).values.allSatisfy { $0 == 1 })
        #expect(!first.world.apple.book.isEmpty && !second.world.apple.book.isEmpty)
        // A repetition is known wherever it comes.
        for number in 1...60 {
            let peer = number.isMultiple(of: 2) ? peers.1 : peers.0
            #expect(try await outcome(number, by: peer) == .delivered)
        }
        #expect(pushes([first, second]).values.allSatisfy { $0 == 1 })
        // A third one joins, and one that stops leaves its part to the others.
        let third = try await started(with: first)
        try await until { try owned() == [84, 86, 86] }
        await first.node.stop()
        #expect(second.node.exit == nil && third.node.exit == nil)
        try await until { try owned() == [128, 128] }
        for number in 61...90 { #expect(try await outcome(number, by: peers.1) == .delivered) }
        let all = pushes([first, second, third])
        #expect(all.count == 90 && all.values.allSatisfy { $0 == 1 })
        for stage in [third, second, first] { await stage.close() }
    }

    /// Apple takes no token that is signed an hour off, and Google gives none for it.
    @Test(arguments: isLong ? [ShiftedClocks.Shift.ahead, .behind] : [.behind])
    func aNodeWithAWrongClockGoesByTheOthers(shift: ShiftedClocks.Shift) async throws {
        let first = try await started()
        let second = try stage(with: first)
        let clocks = try ShiftedClocks(in: second.world.directory.path)
        try clocks.set(shift, seconds: 3600)
        try await second.start(environment: clocks.environment)
        try await until { try owned() == [128, 128] }
        try await until { second.node.lines.contains { $0.contains("node.clock_corrected") } }
        let peer = try await second.dial()
        for number in 1...16 {
            #expect(try await outcome(number, by: peer) == .delivered)
            let wanted = request(number + 16, platform: .android, awaitsOutcome: true)
            #expect(try await peer.outcome(of: wanted, deadline: theRun).status == .delivered)
        }
        #expect(!second.world.apple.book.isEmpty && !second.world.google.book.isEmpty)
        #expect(!second.node.lines.contains { $0.contains("gateway.clock_wrong") })
        // Set right, it is its own again.
        try clocks.rightAll()
        try await until { second.node.lines.contains { $0.contains("ahead_seconds=0") } }
        await second.close()
        await first.close()
    }

    /// What it accepts before anybody could say so is dated by the others' clock, and not over for them.
    @Test(arguments: [ShiftedClocks.Shift.behind, .ahead], [false, true])
    func whatANodeTakesFirstWithAClockYearsOffHasItsWholeLife(
        shift: ShiftedClocks.Shift, isSetWhileItRuns: Bool
    ) async throws {
        let first = try await started()
        let second = try stage(with: first)
        let clocks = try ShiftedClocks(in: second.world.directory.path)
        if !isSetWhileItRuns { try clocks.set(shift, seconds: 3 * 365 * 86_400) }
        // Nothing is judged: it waits where it is.
        let silence = FaultScript([FaultRule(.silence(isDelivered: false))])
        (first.world.apple.faults, second.world.apple.faults) = (silence, silence)
        try await second.start(environment: clocks.environment)
        let peer = try await second.dial()
        if isSetWhileItRuns { try clocks.set(shift, seconds: 3 * 365 * 86_400) }
        for number in 1...16 { #expect(try await peer.send(request(number)).status == .stored) }
        let lives = try server.psql(
            database,
            """
            SELECT count(*), bool_and(abs(accepted_at - now.now) < 600000), bool_and(expires_at > now.now)
            FROM (SELECT accepted_at, expires_at FROM onionbell.notification
                UNION ALL SELECT accepted_at, expires_at FROM onionbell.backlog) AS waiting,
                (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now) AS now
            """)
        #expect(lives == "16|t|t", "\(lives)")
        await second.close()
        await first.close()
    }

    @Test func whatAKilledNodeHadIsSentByTheOther() async throws {
        let first = try await started()
        let second = try await started(with: first)
        try await until { try owned() == [128, 128] }
        // Nothing of it is judged: it waits where it is.
        first.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let (peer, other) = try await (first.dial(), second.dial())
        for number in 1...30 { #expect(try await peer.send(request(number)).status == .stored) }
        for number in 31...60 { #expect(try await other.send(request(number)).status == .stored) }
        await first.node.kill()
        for number in 61...70 { #expect(try await other.send(request(number)).status == .stored) }
        for number in 1...70 { #expect(try await outcome(number, by: other) == .delivered) }
        #expect(try owned() == [256])
        // The operator hears of it, and of no more than what had been accepted there.
        await second.logged("outbox.taken_over")
        let shared = try status(of: second)
        #expect(shared["shards"]?.integer == 256 && shared["shards_without_owner"]?.integer == 0)
        #expect(shared["take_overs"]?.integer == 1)
        #expect((1...60).contains(shared["possible_repetitions"]?.integer ?? 0))
        #expect(pushes([second]).count == 70 && pushes([second]).values.allSatisfy { $0 == 1 })
        // It comes back, and has its part again.
        first.world.apple.faults = FaultScript()
        try await first.start()
        try await until { try owned() == [128, 128] }
        let again = try await first.dial()
        for number in 71...90 { #expect(try await outcome(number, by: again) == .delivered) }
        try await until {
            let nodes = try status(of: first)["nodes"]?.array ?? []
            return nodes.map { $0["number"]?.integer } == [1, 2]
                && nodes.allSatisfy { $0["shards"]?.integer == 128 && $0["alive"]?.bool == true }
        }
        #expect(try status(of: first)["nodes"]?.array?.map { $0["here"]?.bool } == [true, false])
        #expect(try second.isWell("nodes") && first.isWell("database"))
        #expect(try text("/metrics", of: first).contains("\nonionbell_node_shards{node=\"2\"} 128\n"))
        #expect(try text("/", of: first).contains("Nodes of the database"))
        #expect(pushes([first, second]).count >= 90)
        for stage in [second, first] { await stage.close() }
    }

    /// Longer than its lease: another one has its part, and it writes nothing when it comes to itself.
    @Test func aNodeThatStandsStillLosesItsPart() async throws {
        let first = try await started()
        let second = try await started(with: first)
        try await until { try owned() == [128, 128] }
        let (peer, other) = try await (first.dial(), second.dial())
        for number in 1...10 { #expect(try await outcome(number, by: peer) == .delivered) }
        try first.signal(SIGSTOP)
        for number in 11...40 { #expect(try await outcome(number, by: other) == .delivered) }
        #expect(try owned() == [256])
        try first.signal(SIGCONT)
        await first.node.wait { $0.exit != nil }
        #expect(first.node.exit == .exited(69))
        #expect(pushes([first, second]).count == 40)
        #expect(pushes([first, second]).values.allSatisfy { $0 == 1 })
        for stage in [second, first] { await stage.close() }
    }
}
