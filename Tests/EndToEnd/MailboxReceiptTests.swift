import Client
import Foundation
import JSONCoding
import Lab
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// What readers of the built node acknowledge: what they were sent, and nothing else.
@EventLoop
@Suite(.serialized) struct MailboxReceiptNodeTests {
    private func poll(_ stage: MailboxStage, _ query: String) async throws -> [JSON] {
        let arguments = [
            "curl", "-s", "-u", "phone:\(stage.mailbox.tokens["phone"] ?? "")",
            "\(stage.mailbox.url)/json?poll=1&\(query)",
        ]
        let result = try await Task.detached { try run(arguments) }.value
        #expect(result.status == 0, "\(result.errors)")
        return try result.output.split(separator: "\n").map { try JSON(Array($0.utf8)) }
    }

    /// ntfy's app comes without an id, is sent one message, and comes back with it (ntfy#1591, #1293).
    @Test func ofFourMessagesTheOneThatWasSentIsDelivered() async throws {
        let stage = try await MailboxStage()
        for title in ["one", "two", "three"] { #expect(try await stage.send(try stage.mailbox.bisq2(title))) }
        #expect(try await stage.waiting(until: 3) == 3)
        let reader = try LabProgram([
            "curl", "--silent", "--no-buffer", "-u", "phone:\(stage.mailbox.tokens["phone"] ?? "")",
            "\(stage.mailbox.url)/json?since=none",
        ])
        await reader.wait { $0.exit != nil || $0.lines.contains { $0.contains(#""event":"open""#) } }
        #expect(try await stage.send(try stage.mailbox.bisq2("four")))
        await reader.wait { $0.exit != nil || $0.lines.contains { $0.contains("encrypted") } }
        let line = try #require(reader.lines.first { $0.contains("encrypted") }, "\(reader.lines)")
        let id = try #require(try JSON(Array(line.utf8))["id"]?.string)
        await reader.kill()
        #expect(try await poll(stage, "since=\(id)").isEmpty)
        #expect(try await stage.waiting(until: 3) == 3)

        let rest = try await poll(stage, "since=all")
        #expect(rest.count == 3)
        let middle = try #require(rest[1]["id"]?.string)
        #expect(try await poll(stage, "since=\(middle)").count == 1, "it was not the last one")
        #expect(try await stage.waiting(until: 3) == 3)

        // The books outlive the node, however it ends.
        #expect(try await poll(stage, "since=all").count == 3)
        try stage.stage.signal(SIGKILL)
        await stage.stage.node.wait { $0.exit != nil }
        try await stage.stage.start()
        #expect(try await poll(stage, "since=\(rest[2]["id"]?.string ?? "")").isEmpty)
        #expect(try await stage.waiting(until: 0) == 0)
        await stage.close()
    }

    /// An app has one WebSocket for a server; its pong is for what that has brought, in each mailbox.
    @Test func aPongIsForWhatItsSocketBrought() async throws {
        let stage = try await MailboxStage()
        let configuration = stage.stage.configuration
        let arguments = [
            program, "mailbox", "add", "late", "--tokens-of", "me", "--json", "--config", configuration,
        ]
        let added = try await Task.detached { try run(arguments) }.value
        let made = try JSON(Array(added.output.utf8))
        let late = StagedMailbox(
            pairingToken: try PairingToken(try #require(made["pairingToken"]?.string)),
            url: try #require(made["url"]?.string), tokens: [:], file: "")
        try await until { try await self.list(configuration).count == 3 }
        for title in ["one", "two"] { #expect(try await stage.send(try late.bisq2(title))) }
        #expect(try await stage.send(try stage.mailbox.bisq2("three")))
        #expect(try await stage.waiting(until: 1) == 1)
        let newest = try #require(try await poll(stage, "since=all").first?["id"]?.string)
        var texts: [String] = []
        let (socket, unread) = try await WebSocket.open(
            WebSocket.Opening(
                host: "127.0.0.1:\(stage.port)",
                path: "/\(stage.mailbox.topic),\(late.topic)/ws?since=\(newest)",
                fields: [("Authorization", "Bearer \(stage.mailbox.tokens["phone"] ?? "")")]),
            by: .direct(.host("127.0.0.1", port: stage.port)))
        socket.start(unread: unread, onText: { texts.append($0) }, onEnd: {})
        try await until { texts.contains { $0.contains("open") } }
        #expect(try await stage.send(try stage.mailbox.bisq2("four")))
        try await until { texts.contains { $0.contains("encrypted") } }
        #expect(try await stage.waiting(until: 0) == 0)
        #expect(try await list(configuration).contains { $0.starts(with: ["late", "bell", "no", "1", "2"]) })
        socket.close()
        await stage.close()
    }

    private func list(_ configuration: String) async throws -> [[Substring]] {
        let arguments = [program, "mailbox", "list", "--config", configuration]
        return try await Task.detached { try run(arguments) }.value.output
            .split(separator: "\n").map { $0.split(separator: "\t") }
    }
}
