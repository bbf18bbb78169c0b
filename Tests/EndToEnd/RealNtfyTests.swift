import Client
import Foundation
import JSONCoding
import Lab
import LabParts
import Programs
import Reactor
import Testing
import Wire

/// Where Deploy/tools/dependencies puts what Debian 12 doesn't have.
private let ntfy = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../.build/ntfy/usr/bin/ntfy").standardized.path

/// ntfy's own program, as Debian 13 has it, at both ends of the built node: it reads a mailbox and publishes to it, and it is
/// the server to which the node publishes.
@EventLoop
@Suite(
    .serialized,
    .enabled("ntfy's program is not here: Deploy/tools/dependencies test") {
        FileManager.default.isExecutableFile(atPath: ntfy)
    })
struct RealNtfyTests {
    private func itRuns(_ arguments: [String], environment: [String: String] = [:]) async throws
        -> CommandResult
    {
        try await Task.detached { try run([ntfy] + arguments, environment: environment) }.value
    }

    /// A publisher of the mailbox, once the node knows it.
    private func publisher(_ stage: MailboxStage) async throws -> String {
        let arguments = [
            program, "mailbox", "publishers", "add", "me", "cron", "--json", "--config",
            stage.stage.configuration,
        ]
        let made = try await Task.detached { try run(arguments) }.value
        let token = try #require(try JSON(Array(made.output.utf8))["token"]?.string)
        // ntfy's program is told of a wrong token as any other: with an error, and nothing is published.
        try await until {
            try await itRuns(["publish", "--token", token, stage.mailbox.url, "first"]).status == 0
        }
        return token
    }

    @Test func itPublishesAndPolls() async throws {
        let stage = try await MailboxStage()
        let token = try await publisher(stage)
        let sent = try await itRuns([
            "publish", "--token", token, "--title", "Backup", "--priority", "high", "--tags", "disk,ok",
            "--click",
            "https://x/", "--markdown", stage.mailbox.url, "It is done",
        ])
        #expect(sent.status == 0 && sent.output.contains(#""title":"Backup""#), "\(sent.errors)")
        #expect(
            try await itRuns(["publish", "-u", "cron:\(token)", stage.mailbox.url, "by password"]).status == 0
        )
        #expect(try await itRuns(["trigger", "--token", token, stage.mailbox.url]).status == 0)
        for refused in [
            ["--delay", "1h"], ["--attach", "https://x/a"], ["--email", "a@b"],
            ["--actions", "view, a, https://x/"],
        ] {
            let answer = try await itRuns(
                ["publish", "--token", token] + refused + [stage.mailbox.url, "x"])
            #expect(answer.status != 0 && answer.errors.contains("takes no"), "\(answer.errors)")
        }
        let reader = try #require(stage.mailbox.tokens["phone"])
        #expect(try await itRuns(["publish", "--token", reader, stage.mailbox.url, "x"]).status != 0)
        #expect(try await stage.send(try stage.mailbox.bisq1("of Bisq")))
        let all = try await itRuns(["subscribe", "--token", reader, "--poll", stage.mailbox.url])
        let lines = try all.output.split(separator: "\n").map { try JSON(Array($0.utf8)) }
        #expect(
            lines.map { $0["message"]?.string } == [
                "first", "It is done", "by password", "triggered",
                "Something happened in Bisq. Open it to see what.",
            ], "\(all.output)\(all.errors)")
        #expect(lines[1]["priority"] == 4 && lines[1]["click"] == "https://x/")
        let last = try #require(lines[1]["id"]?.string)
        let rest = try await itRuns([
            "subscribe", "-u", "phone:\(reader)", "--poll", "--since", last, stage.mailbox.url,
        ])
        #expect(rest.output.split(separator: "\n").count == 3, "\(rest.output)\(rest.errors)")
        let none = try await itRuns(["subscribe", "--token", "tk_wrong", "--poll", stage.mailbox.url])
        #expect(none.output.isEmpty && none.errors.contains("401"), "\(none.errors)")
        await stage.close()
    }

    /// As a service runs it, with a command for each message; it comes back to a node that was killed.
    @Test func itSubscribesFromItsFileAndComesBack() async throws {
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
        let subscriber = try LabProgram([ntfy, "subscribe", "--config", file, "--from-config"])
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

    // MARK: The server

    /// A server that lets nobody do anything, but for one user that may write to one topic.
    private func server(_ directory: String) async throws -> (LabProgram, url: String, token: String) {
        let port = try freePort()
        let file = directory + "/server.yml"
        try LabDirectory.write(
            Array(
                """
                listen-http: "127.0.0.1:\(port)"
                base-url: "http://127.0.0.1:\(port)"
                auth-file: "\(directory)/auth.db"
                cache-file: "\(directory)/cache.db"
                auth-default-access: deny-all

                """.utf8), to: file)
        let server = try LabProgram([ntfy, "serve", "--config", file])
        await server.wait { $0.exit != nil || $0.lines.contains { $0.contains("Listening on") } }
        for (arguments, password) in [
            (["user", "--config", file, "add", "node"], "secret"),
            (["user", "--config", file, "add", "phone"], "secret"),
            (["access", "--config", file, "node", "bisq-me", "write-only"], nil),
            (["access", "--config", file, "phone", "bisq-me", "read-only"], nil),
        ] as [([String], String?)] {
            let result = try await itRuns(
                arguments, environment: password.map { ["NTFY_PASSWORD": $0] } ?? [:])
            #expect(result.status == 0, "\(result.errors)")
        }
        let made = try await itRuns(["token", "--config", file, "add", "node"])
        let words = (made.output + made.errors).split(whereSeparator: \.isWhitespace)
        return (server, "http://127.0.0.1:\(port)", String(try #require(words.first { $0.hasPrefix("tk_") })))
    }

    /// Deny-all with the least that is needed: an account that may write to one topic, and not read it.
    @Test func itsServerTakesWhatTheNodePublishes() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/ntfy-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let (server, url, token) = try await server(directory)
        let stage = try LoopbackStage { text in
            text.replacing(
                "apps:\n",
                with: "apps:\n  - {name: home, gateway: ntfy, url: \"\(url)\", token_file: ntfy-token}\n")
        }
        try LabDirectory.write(
            Array((token + "\n").utf8),
            to: URL(filePath: stage.configuration).deletingLastPathComponent().path + "/ntfy-token")
        try await stage.start()
        let made = try await Task.detached {
            try run([program, "pair", "--device-token", "nt1:bisq-me", "--text-only"])
        }.value
        let pairing = try PairingToken(made.output.trimmingCharacters(in: .newlines))
        let add = [
            program, "phones", "add", "me", "--platform", "android", "--device-token", "nt1:bisq-me", "--app",
            "home", "--config", stage.configuration,
        ]
        #expect(try await Task.detached { try run(add) }.value.status == 0)
        // Once the node knows the phone.
        let test = [program, "phones", "test", "me", "--config", stage.configuration]
        try await until { try await Task.detached { try run(test) }.value.status == 0 }
        let peer = try await stage.dial()
        var request = try BisqSender(to: pairing).request(
            for: MobileMessage(sentDate: EventLoop.unixMilliseconds, title: "t", message: "", kind: .trade))
        request.awaitsOutcome = true
        var outcome = try await peer.send(request, deadline: theRun)
        if outcome.status == .stored {
            outcome = try await peer.nextResponse(to: request.uid, deadline: theRun)
        }
        #expect(outcome.status == .delivered, "\(outcome) \(stage.node.lines.suffix(5))")
        let read = try await itRuns(["subscribe", "-u", "phone:secret", "--poll", "\(url)/bisq-me"])
        let rung = read.output.split(separator: "\n").count
        #expect(
            rung > 1 && read.output.contains("Something happened in Bisq"), "\(read.output)\(read.errors)")

        // While its server is dead nothing is lost.
        await server.kill()
        request = try BisqSender(to: pairing).request(
            for: MobileMessage(sentDate: EventLoop.unixMilliseconds, title: "u", message: "", kind: .trade))
        #expect(try await peer.send(request, deadline: theRun).status == .stored)
        let again = try LabProgram([ntfy, "serve", "--config", directory + "/server.yml"])
        try await until {
            try await itRuns(["subscribe", "-u", "phone:secret", "--poll", "\(url)/bisq-me"]).output
                .split(separator: "\n").count == rung + 1
        }
        peer.close()
        await again.kill()
        await stage.close()
        try? FileManager.default.removeItem(atPath: directory)
    }
}
