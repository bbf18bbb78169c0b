import Client
import Foundation
import JSONCoding
import Lab
import LabParts
import Processes
import Reactor
import Testing
import Wire

/// ntfy's own program as a client of the built node: it reads a mailbox and publishes to it.
@EventLoop
@Suite(
    .serialized,
    .enabled("ntfy's program is not here: Deploy/tools/dependencies test", { RealNtfy.areHere }))
struct RealNtfyTests {
    @Test(arguments: RealNtfy.all) func itPublishesAndPolls(ntfy: RealNtfy) async throws {
        let stage = try await MailboxStage()
        let token = try await ntfy.publisher(at: stage.mailbox.url, of: stage.stage.configuration)
        func publish(_ words: String..., to url: String? = nil) async throws -> CommandResult {
            try await ntfy.run(
                ["publish", "--token", token] + words.dropLast() + [
                    url ?? stage.mailbox.url, words.last ?? "",
                ])
        }
        let sent = try await publish(
            "--title", "Backup", "--priority", "high", "--tags", "disk,ok", "--click", "https://x/",
            "--markdown", "It is done")
        #expect(sent.status == 0 && sent.output.contains(#""title":"Backup""#), "\(sent.errors)")
        #expect(
            try await ntfy.run(["publish", "-u", "cron:\(token)", stage.mailbox.url, "by password"]).status
                == 0)
        #expect(try await ntfy.run(["trigger", "--token", token, stage.mailbox.url]).status == 0)
        let later = try await publish("--delay", "30m", "later")
        #expect(later.status == 0, "\(later.errors)")
        for refused in [
            ["--attach", "https://x/a"], ["--email", "a@b"], ["--actions", "http, a, https://x/"],
        ] {
            let answer = try await ntfy.run(
                ["publish", "--token", token] + refused + [stage.mailbox.url, "x"])
            #expect(answer.status != 0 && answer.errors.contains("takes no"), "\(answer.errors)")
        }
        let soon = try await publish("--at", "tomorrow, 10am", "x")
        #expect(soon.status != 0 && soon.errors.contains("40004"), "\(soon.errors)")
        let reader = try #require(stage.mailbox.tokens["phone"])
        #expect(try await ntfy.run(["publish", "--token", reader, stage.mailbox.url, "x"]).status != 0)
        #expect(try await stage.send(try stage.mailbox.bisq1("of Bisq")))
        func poll(_ words: String...) async throws -> [JSON] {
            let read = try await ntfy.run(["subscribe", "--poll"] + words + [stage.mailbox.url])
            return try read.output.split(separator: "\n").map { try JSON(Array($0.utf8)) }
        }
        let lines = try await poll("--token", reader)
        #expect(
            lines.map { $0["message"]?.string } == [
                "first", "It is done", "by password", "triggered",
                "Something happened in Bisq. Open it to see what.",
            ])
        #expect(lines[1]["priority"] == 4 && lines[1]["click"] == "https://x/")
        let last = try #require(lines[1]["id"]?.string)
        #expect(try await poll("-u", "phone:\(reader)", "--since", last).count == 3)
        let none = try await ntfy.run(["subscribe", "--token", "tk_wrong", "--poll", stage.mailbox.url])
        #expect(none.output.isEmpty && none.errors.contains("401"), "\(none.errors)")

        if ntfy.hasSequences {
            for text in ["1 %", "2 %"] { #expect(try await publish("-S", "job", text).status == 0) }
            let jobs = try await poll("--token", reader).filter { $0["sequence_id"] == "cron.job" }
            #expect(jobs.map { $0["message"]?.string } == ["2 %"])
        }
        await stage.close()
    }

    /// As a service runs it, with a command for each message; it comes back to a node that was killed.
    @Test(arguments: RealNtfy.all) func itSubscribesFromItsFileAndComesBack(ntfy: RealNtfy) async throws {
        let stage = try await MailboxStage()
        let reader = try #require(stage.mailbox.tokens["phone"])
        let file = stage.stage.configuration + ".client"
        try LabDirectory.write(
            Array(
                """
                default-host: \(stage.mailbox.url.dropLast(stage.mailbox.topic.count + 1))
                subscribe:
                  - {topic: \(stage.mailbox.topic), token: \(reader), command: 'echo "got $title"'}

                """.utf8), to: file)
        let subscriber = try LabProgram([ntfy.path, "subscribe", "--config", file, "--from-config"])
        let status = [program, "status", "--json", "--config", stage.stage.configuration]
        func bisq(_ count: Int) async throws {
            // It asks for nothing that came before it was there.
            try await until {
                let answer = try await Task.detached { try run(status) }.value
                return try JSON(Array(answer.output.utf8))["mailboxes"]?["readers"] == 1
            }
            #expect(try await stage.send(try stage.mailbox.bisq1("x")))
            await subscriber.wait { program in
                program.exit != nil || program.lines.count { $0.contains("got Bisq") } >= count
            }
            #expect(subscriber.lines.count { $0.contains("got Bisq") } == count, "\(subscriber.lines)")
        }
        try await bisq(1)
        try stage.stage.signal(SIGKILL)
        await stage.stage.node.wait { $0.exit != nil }
        try await stage.stage.start()
        // Ten seconds after its connection broke.
        try await bisq(2)
        await subscriber.kill()
        await stage.close()
    }

    /// From another machine: its only setting is the proxy.
    @Test(arguments: RealNtfy.all) func itReadsAndPublishesOverTor(ntfy: RealNtfy) async throws {
        let stage = try await RelayStage(
            apps: { _ in "  - {name: mailboxes, gateway: mailbox}" },
            more: ["doors:", "  mailbox: {listen: [\"onion:8030\"]}"])
        let mailbox = try await StagedMailbox.add(to: stage.configuration)
        await stage.node.wait { $0.lines.contains { $0.contains("mailbox.changed") } }
        let socks = try #require(try await SharedTorNetwork.client().socks)
        let proxy = ["HTTP_PROXY": "socks5h://\(socks)"]
        let reader = try #require(mailbox.tokens["phone"])
        let subscriber = try LabProgram(
            [
                "/usr/bin/env", "HTTP_PROXY=socks5h://\(socks)", ntfy.path, "subscribe", "--since", "all",
                "--token", reader, mailbox.url,
            ])
        let token = try await ntfy.publisher(
            at: mailbox.url, of: stage.configuration, environment: proxy)
        let sent = try await ntfy.run(
            ["publish", "--token", token, "--title", "Backup", mailbox.url, "done"], environment: proxy)
        #expect(sent.status == 0, "\(sent.errors)")
        await subscriber.wait { $0.exit != nil || $0.lines.contains { $0.contains(#""message":"done""#) } }
        #expect(
            subscriber.lines.contains { $0.contains(#""title":"Backup","message":"done""#) },
            "\(subscriber.lines)")
        await subscriber.kill()
        await stage.close()
    }
}
