import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// The built program with its store in a real PostgreSQL.
@EventLoop
@Suite(.serialized, .timeLimit(.minutes(5))) struct DatabaseNodeTests {
    private func stage(_ server: PostgreSQLServer, _ database: String) throws -> LoopbackStage {
        try LoopbackStage { $0 + "storage: {url: \"\(server.url(database))\", write_behind: 0}\n" }
    }

    private func outcome(_ number: Int, by peer: BisqPeer) async throws -> MobileNotificationResponse.Status?
    {
        var response = try await peer.send(request(number, awaitsOutcome: true))
        if response.status == .stored { response = try await peer.nextResponse(to: response.requestUid) }
        return response.status
    }

    private func pushes(_ stage: LoopbackStage) -> [String: Int] {
        stage.world.apple.book.reduce(into: [:]) { $0[$1.deviceToken, default: 0] += 1 }
    }

    @Test func whatWasStoredIsDeliveredAfterAKill() async throws {
        let server = try PostgreSQLServer.shared.get()
        let database = try server.makeDatabase()
        let stage = try stage(server, database)
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        let peer = try await stage.dial()
        for number in 1...5 { #expect(try await peer.send(request(number)).status == .stored) }
        // The commands ask the same database, beside the node and in its place.
        let check = try run([program, "outbox", "check", "--config", stage.configuration])
        #expect(check.output.hasPrefix("5 waiting, "))
        #expect(check.output.hasSuffix("sound (the node runs)\n"))
        await stage.node.kill()
        #expect(!FileManager.default.fileExists(atPath: stage.world.state + "/outbox.sqlite"))
        let list = try run([program, "outbox", "list", "--config", stage.configuration])
        #expect(list.output.split(separator: "\n").count == 6)
        stage.world.apple.faults = FaultScript()
        try await stage.start()
        let again = try await stage.dial()
        for number in 1...6 { #expect(try await outcome(number, by: again) == .delivered) }
        #expect(pushes(stage).count == 6)
        #expect(pushes(stage).values.allSatisfy { $0 == 1 })
        #expect(try server.psql(database, "SELECT count(*) FROM onionbell.notification") == "0")
        await stage.close()
    }

    @Test func whileTheDatabaseIsAwayNewOnesAreBusyAndItComesBackByItself() async throws {
        let server = try PostgreSQLServer()
        let stage = try stage(server, "postgres")
        stage.world.apple.faults = FaultScript([
            FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "2"))
        ])
        try await stage.start()
        let peer = try await stage.dial()
        for number in 1...5 { #expect(try await peer.send(request(number)).status == .stored) }
        try server.stopImmediately()
        #expect(try await peer.send(request(6)).status == .busy)
        await stage.logged("outbox.failed")
        #expect(try !stage.isWell("outbox"))
        #expect(try stage.health()["checks"]?["outbox"]?["state"]?.string?.contains("PostgreSQL") == true)
        stage.world.apple.faults = FaultScript()
        try server.start()
        // Nothing is sent to it: the node looks by itself.
        await stage.logged("outbox.recovered")
        for number in 1...6 { #expect(try await outcome(number, by: peer) == .delivered) }
        #expect(try stage.isWell("outbox"))
        #expect(pushes(stage).values.allSatisfy { $0 == 1 })
        await stage.close()
    }

    @Test func aSecondNodeOnTheSameDatabaseIsRefused() async throws {
        let server = try PostgreSQLServer.shared.get()
        let database = try server.makeDatabase()
        let first = try stage(server, database)
        try await first.start()
        let second = try stage(server, database)
        try FileManager.default.createDirectory(
            atPath: second.world.state, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let start = { try run([nodeProgram, "--config", second.configuration], limit: 60) }
        let stranger = try start()
        #expect(stranger.status == 69)
        #expect((stranger.output + stranger.errors).contains("another digest key"))
        try FileManager.default.removeItem(atPath: second.world.state + "/digest-key")
        try FileManager.default.copyItem(
            atPath: first.world.state + "/digest-key", toPath: second.world.state + "/digest-key")
        let refused = try start()
        #expect(refused.status == 69)
        #expect((refused.output + refused.errors).contains("has this database: stop it first"))
        await first.close()
        try await second.start()
        await second.close()
    }

    /// What it knows of the store is old, and only a start reads it anew.
    @Test func aNodeWhoseStoreAnotherOneHasTakenEnds() async throws {
        let server = try PostgreSQLServer.shared.get()
        let database = try server.makeDatabase()
        let stage = try stage(server, database)
        try await stage.start()
        _ = try server.psql(
            database,
            """
            UPDATE onionbell.node SET owner = '\\x02', name = 'bell-2', fence = fence + 1,
                until = clock_timestamp() + interval '1 hour'
            """)
        await stage.node.wait { $0.exit != nil }
        #expect(stage.node.exit == .exited(69), "\(stage.node.lines.suffix(5))")
        #expect(stage.node.lines.contains { $0.contains("another node has had this database meanwhile") })
        await stage.close()
    }

    @Test func checkConfigLooksAtTheAddress() async throws {
        let server = try PostgreSQLServer.shared.get()
        let stage = try stage(server, "postgres")
        let check = try run([program, "check-config", "--config", stage.configuration])
        #expect(check.status == 0, "\(check.errors)")
        let wrong = try LoopbackStage { $0 + "storage: {url: \"postgresql://a@localhost/b?colour=red\"}\n" }
        let fault = try run([program, "check-config", "--config", wrong.configuration])
        #expect(fault.status == 78)
        #expect(fault.errors.contains("storage.url: invalid URI query parameter"))
        let open = try LoopbackStage { $0 + "storage: {url: \"postgresql://a:secret@localhost/b\"}\n" }
        let leak = try run([program, "check-config", "--config", open.configuration])
        #expect(leak.status == 78)
        #expect(leak.errors.contains("without a password") && !leak.errors.contains("secret"))
        await stage.close()
        await wrong.close()
        await open.close()
    }
}
