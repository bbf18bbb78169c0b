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
@Suite(.serialized) struct DatabaseNodeTests {
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

    /// Over TLS, with the password from its file.
    @Test func whatIsAcceptedOutlivesAServerThatComesAndGoes() async throws {
        let server = try PostgreSQLServer(withTLS: true)
        let url = server.url("postgres", host: "db.example", authority: "ca")
        let word = server.directory + "/word"
        try (PostgreSQLServer.password + "\n").write(toFile: word, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: word)
        let stage = try LoopbackStage {
            $0 + "storage: {url: \"\(url)\", password_file: \(word), write_behind: 0}\n"
        }
        try await stage.start()
        let peer = try await stage.dial()
        let numbers = 1...150
        let sending = Task {
            for number in numbers {
                try await until {
                    let status = try await peer.send(request(number)).status
                    try #require(status == .stored || status == .busy)
                    return status == .stored
                }
            }
        }
        for round in 1...3 {
            try await Task.sleep(for: .milliseconds(100))
            try server.stopImmediately()
            await stage.logged("outbox.failed", count: round)
            try server.start()
            await stage.logged("outbox.recovered", count: round)
        }
        try await sending.value
        for number in numbers { #expect(try await outcome(number, by: peer) == .delivered) }
        #expect(pushes(stage).count == numbers.count && pushes(stage).values.allSatisfy { $0 == 1 })
        await stage.close()
    }

    private enum Refusal: CaseIterable {
        case readOnly, full

        func begin(_ server: PostgreSQLServer) throws {
            switch self {
            case .readOnly: try set(server, "ALTER SYSTEM SET default_transaction_read_only = on")
            case .full:
                // As PostgreSQL says it when the disk has no room.
                try server.psql(
                    "postgres",
                    """
                    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
                    END $$;
                    CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON onionbell.node
                        FOR EACH ROW EXECUTE FUNCTION full_disk();
                    CREATE TRIGGER full_disk BEFORE INSERT ON onionbell.notification
                        FOR EACH ROW EXECUTE FUNCTION full_disk()
                    """)
            }
        }

        func end(_ server: PostgreSQLServer) throws {
            switch self {
            case .readOnly: try set(server, "ALTER SYSTEM RESET default_transaction_read_only")
            case .full: try server.psql("postgres", "DROP FUNCTION full_disk CASCADE")
            }
        }

        private func set(_ server: PostgreSQLServer, _ sql: String) throws {
            try server.psql("postgres", sql)
            try server.psql("postgres", "SELECT pg_reload_conf()")
        }
    }

    @Test(arguments: Refusal.allCases)
    private func aDatabaseThatTakesNothingIsWaitedFor(_ refusal: Refusal) async throws {
        let server = try PostgreSQLServer()
        let stage = try stage(server, "postgres")
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await outcome(1, by: peer) == .delivered)
        try refusal.begin(server)
        // A new setting reaches the connection with its next statement.
        await stage.logged("outbox.failed")
        #expect(try await peer.send(request(2)).status == .busy)
        #expect(try !stage.isWell("outbox"))
        try refusal.end(server)
        await stage.logged("outbox.recovered")
        for number in 1...3 {
            var status = MobileNotificationResponse.Status?.none
            // The node is busy until it has looked what others have stored meanwhile.
            try await until {
                status = try await outcome(number, by: peer)
                return status != .busy
            }
            #expect(status == .delivered)
        }
        #expect(pushes(stage).count == 3 && pushes(stage).values.allSatisfy { $0 == 1 })
        await stage.close()
    }

    @Test func aNodeWithAnotherKeyIsRefused() async throws {
        let server = try PostgreSQLServer.shared.get()
        let database = try server.makeDatabase()
        let first = try stage(server, database)
        try await first.start()
        let second = try stage(server, database)
        try FileManager.default.createDirectory(
            atPath: second.world.state, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let stranger = try run([nodeProgram, "--config", second.configuration])
        #expect(stranger.status == 69)
        #expect((stranger.output + stranger.errors).contains("another digest key"))
        await first.close()
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
