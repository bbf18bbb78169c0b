import Foundation
import JSONCoding
import Lab
import Processes
import Reactor
import Testing

/// The built program's door for Bitwarden servers, asked by a client in Python that shares no code with it, and killed.
@EventLoop
@Suite(.serialized) struct BitwardenNodeTests {
    private nonisolated static let client = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Deploy/examples/bitwarden.py").standardized.path

    /// Makes an installation as the operator does.
    private func installation(_ configuration: String) throws -> String {
        let made = try run([program, "installation", "add", "--json", "--config", configuration])
        #expect(made.status == 0, "\(made.errors)")
        return made.output
    }

    /// Walks through all that a server of this kind asks.
    private func walk(
        _ kind: String, _ server: String, _ installation: String, _ world: LabWorld, socks: Endpoint? = nil
    ) async throws {
        let arguments =
            ["/usr/bin/python3", "-B", Self.client, kind, server] + (socks.map { ["\($0)"] } ?? [])
        let environment = ["SSL_CERT_FILE": world.directory.path + "/ca.pem", "INSTALLATION": installation]
        // The simulated gateways live on this thread's loop: the client must not block it.
        let result = try await Task.detached { try run(arguments, environment: environment) }.value
        #expect(result.status == 0, "\(kind): \(result.output)\(result.errors)")
        // Vaultwarden's users wait for it when they log in.
        for line in result.output.split(separator: "\n") where line.contains("/push/register") {
            print("\(socks == nil ? "HTTPS" : "over Tor"):\(line)")
        }
    }

    @Test func bothKindsOfServersAreServedOverHTTPSAlsoAfterAKill() async throws {
        let port = try freePort()
        let stage = try LoopbackStage { text in
            text + """

                doors:
                  https: {certificate_file: server.pem, key_file: server-key.pem}
                  bitwarden:
                    listen: ["https://127.0.0.1:\(port)"]
                    apps: [bisq-remote-ios, bisq-remote-android]

                """
        }
        let path = stage.world.directory.path
        let server = try stage.world.credentials.authority.server(names: ["localhost"])
        try LabDirectory.write(try server.chainPEM(), to: path + "/server.pem")
        try LabDirectory.write(try server.keyPEM().bytes, to: path + "/server-key.pem")
        try await stage.start()
        let known = try installation(stage.configuration)
        try await walk("vaultwarden", "https://localhost:\(port)", known, stage.world)
        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        try await stage.start()
        try await walk("official", "https://localhost:\(port)", known, stage.world)
        // Apple's phone hears of the log-out, and in the second walk twice of its organization; the change was its own.
        // Google's hears of all that and of the change and the last one.
        let (apple, google) = (stage.world.apple, stage.world.google)
        try await EventLoop.until { apple.book.count >= 3 && google.book.count >= 7 }
        let servers = try run([program, "installation", "list", "--json", "--config", stage.configuration])
        let rows = try JSON(Array(servers.output.utf8)).array
        #expect(rows?.count == 1 && rows?.first?["kind"]?.string == "installation")
        #expect(try known.contains(#require(rows?.first?["id"]?.string)))
        let list = try run([program, "registrations", "list", "bitwarden", "--config", stage.configuration])
        #expect(list.output.split(separator: "\n").count == 3, "\(list.output)")
        #expect(!list.output.contains("ios"))
        await stage.close()
        #expect((apple.book.count, google.book.count) == (3, 7))
        for push in apple.book + google.book {
            #expect(!stage.node.lines.contains { $0.contains(push.deviceToken) })
        }
    }

    @Test func aServerIsServedOverTor() async throws {
        let stage = try await NodeTests.Stage(more: [
            "doors:",
            "  bitwarden: {listen: [\"onion:8081\"], apps: [bisq-remote-ios, bisq-remote-android]}",
        ])
        let known = try installation(stage.configuration)
        try await walk(
            "vaultwarden", "http://\(stage.address):8081", known, stage.world, socks: stage.socks)
        let google = stage.world.google
        try await EventLoop.until { google.book.count >= 3 }
        await stage.close()
        #expect(google.book.count == 3 && Set(google.book.map(\.deviceToken)).count == 1)
    }
}
