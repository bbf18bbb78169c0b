import Client
import Foundation
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// The password of a real PostgreSQL, as systemd hands it over to the node's unit (`LoadCredential`).
@EventLoop
@Suite(.serialized) struct DatabasePasswordTests {
    private func start(
        _ stage: LoopbackStage, credentials: String?
    ) async throws -> LabNode {
        var environment = ["PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"]
        if let credentials { environment.append("CREDENTIALS_DIRECTORY=\(credentials)") }
        let node = try LabNode(nodeProgram, configuration: stage.configuration, environment: environment)
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("node.started") } }
        return node
    }

    @Test func thePasswordIsTakenFromACredentialOfTheUnit() async throws {
        let server = try PostgreSQLServer(withTLS: true)
        let url = server.url("postgres", host: "db.example", authority: "ca")
        let stage = try LoopbackStage {
            $0 + "storage: {url: \"\(url)\", password_file: credentials/database, write_behind: 0}\n"
        }
        // As the line LoadCredential=credentials:/etc/onionbell/credentials of the unit makes it.
        let directory = stage.world.directory.path + "/handed-over"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let file = directory + "/credentials_database"
        func write(_ word: String) throws {
            try? FileManager.default.removeItem(atPath: file)
            try word.write(toFile: file, atomically: false, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file)
        }

        try write(PostgreSQLServer.password + "\n")
        let node = try await start(stage, credentials: directory)
        #expect(node.exit == nil, "\(node.lines)")
        let peer = try await stage.dial()
        #expect(try await peer.outcome(of: request(1, awaitsOutcome: true)).status == .delivered)
        #expect(await node.stop() == .exited(0))

        try write("another word\n")
        let wrong = try await start(stage, credentials: directory)
        await wrong.wait { $0.exit != nil }
        #expect(wrong.exit == .exited(69), "\(wrong.lines)")
        // Without systemd the same setting is a file beside the configuration.
        let alone = try await start(stage, credentials: nil)
        await alone.wait { $0.exit != nil }
        #expect(alone.exit == .exited(78), "\(alone.lines)")
        #expect(
            alone.lines.contains {
                $0.contains("storage.password_file: ") && $0.contains("/credentials/database")
            })
        for said in [node.lines, wrong.lines, alone.lines].joined() {
            #expect(!said.contains(PostgreSQLServer.password) && !said.contains("another word"))
        }
        await stage.world.close()
    }

    /// As SeveralNodes.md says it: into the file, into the database, and reload. No restart, and nothing is lost.
    @Test func aNewPasswordIsTakenAtAReload() async throws {
        let server = try PostgreSQLServer(withTLS: true)
        let url = server.url("postgres", host: "db.example", authority: "ca")
        let stage = try LoopbackStage {
            $0 + "storage: {url: \"\(url)\", password_file: database, write_behind: 0}\n"
        }
        let file = stage.world.directory.path + "/database"
        func write(_ word: String) throws { try LabDirectory.write(Array("\(word)\n".utf8), to: file) }

        try write(PostgreSQLServer.password)
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await peer.outcome(of: request(1, awaitsOutcome: true)).status == .delivered)

        try write("another word")
        try server.psql("postgres", "ALTER ROLE onionbell PASSWORD 'another word'")
        let ended = try server.psql(
            "postgres",
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE client_addr IS NOT NULL")
        #expect(ended != "0")
        // It still knows the old one only.
        #expect(try await peer.outcome(of: request(2, awaitsOutcome: true)).status == .busy)
        try stage.signal(SIGHUP)
        var status: MobileNotificationResponse.Status? = .busy
        try await until {
            status = try await peer.outcome(of: request(2, awaitsOutcome: true)).status
            return status != .busy
        }
        #expect(status == .delivered)
        let lines = stage.node.lines
        #expect(lines.count { $0.contains("node.started") } == 1, "\(lines)")
        #expect(!lines.joined().contains("another word"))
        await stage.close()
    }
}
