import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import MailboxClients
import Reactor
import Testing
import Vectors
import Wire

/// The way back through the built node and programs: `onionbell receive --reply` and `onionbell bisq-agent`.
@EventLoop
@Suite(.serialized) struct ReplyNodeTests {
    /// A node with a mailbox, and a place for the agent's file and programs.
    @EventLoop
    final class Stage {
        let mailbox: MailboxStage
        let directory: String
        var file: String { directory + "/agent" }

        init() async throws {
            mailbox = try await MailboxStage()
            directory = mailbox.stage.world.directory.path + "/agent-\(UUID().uuidString.prefix(8))"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }

        /// A program that notes what it was called with; then `words`.
        func script(_ name: String, _ words: String = "") throws -> String {
            let path = "\(directory)/\(name).sh"
            let text = """
                #!/bin/sh
                printf '%s %s %s|' "$#" "$ONIONBELL_REPLY" "$ONIONBELL_REPLY_TEXT" >>'\(directory)/ran'
                \(words)
                """
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            return path
        }

        var ran: String { (try? String(contentsOfFile: directory + "/ran", encoding: .utf8)) ?? "" }

        var arguments: [String] {
            [program, "bisq-agent", "--mailbox", mailbox.mailbox.file, "--file", file, "--json"]
        }

        func agent(_ options: String...) throws -> LabProgram { try LabProgram(arguments + options) }

        func connected(_ agent: LabProgram) async {
            await agent.wait { $0.exit != nil || $0.lines.contains { $0.contains("connected") } }
        }

        /// `onionbell bisq-agent --once`, to its end.
        func agentOnce(_ options: String...) async throws -> CommandResult {
            let all = arguments + ["--once"] + options
            return try await Task.detached { try run(all) }.value
        }

        func reply(_ kind: String, _ text: String = "", timeout: String = "30s") async throws -> CommandResult
        {
            let arguments = [
                program, "receive", "--file", directory + "/phone", "--mailbox", mailbox.mailbox.file,
                "--reply", kind, "--reply-text", text, "--timeout", timeout,
            ]
            return try await Task.detached { try run(arguments) }.value
        }

        /// As somebody with the key, or the node itself, might.
        func post(_ sealed: [UInt8]) async throws -> Int {
            let token = mailbox.mailbox.pairingToken
            let calls = ReplyCalls(ReplyChannel(.toBisq, of: token), of: token)
            return try await HTTPExchange.answer(
                to: calls.post(sealed), host: "x", by: .direct(.host("127.0.0.1", port: mailbox.port)),
                deadline: theRun
            ).status
        }

        func sealed(_ kind: String, counter: Int64, at time: Int64? = nil) throws -> [UInt8] {
            let reply = try #require(
                PhoneReply(
                    counter: counter, sentAt: time ?? EventLoop.unixMilliseconds, kind: kind, text: "t"))
            return try ReplyChannel(.toBisq, of: mailbox.mailbox.pairingToken).seal(reply)
        }

        func close() async { await mailbox.close() }
    }

    @Test func aReplyRunsItsProgramAndThePhoneHearsOfIt() async throws {
        let stage = try await Stage()
        let status = try stage.script("status")
        let broken = try stage.script("broken", "exit 3")
        let agent = try stage.agent("--on", "status=\(status)", "--on", "broken=\(broken)")
        await stage.connected(agent)
        // Its text is one argument of the environment, and nothing of it is run.
        let done = try await stage.reply("status", "a; touch '\(stage.directory)/pwned' $(id)")
        #expect(done.status == 0 && done.output == "done\n", "\(done.errors)")
        #expect(stage.ran == "0 status a; touch '\(stage.directory)/pwned' $(id)|")
        #expect(!FileManager.default.fileExists(atPath: stage.directory + "/pwned"))
        let failed = try await stage.reply("broken")
        #expect(failed.status == 1 && failed.errors.contains("the program for broken failed"))
        let unknown = try await stage.reply("other")
        #expect(unknown.status == 1 && unknown.errors.contains("nothing is configured for other"))
        #expect(stage.ran.hasSuffix("|0 broken |"), "\(stage.ran)")
        let answers = agent.lines.compactMap { try? JSON(Array($0.utf8))["answer"]?.string }
        #expect(answers == ["done", "failed", "unknown"], "\(agent.lines)")
        let mode = try FileManager.default.attributesOfItem(atPath: stage.file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(await agent.stop() == .exited(0))
        await stage.close()
    }

    @Test func nothingIsDoneByDefault() async throws {
        let stage = try await Stage()
        let agent = try stage.agent()
        await stage.connected(agent)
        let answer = try await stage.reply("stop")
        #expect(answer.status == 1 && answer.errors.contains("nothing is configured for stop"))
        await agent.kill()
        await stage.close()
    }

    /// What a node, or whoever changed what it holds, could do.
    @Test func whatIsReplayedReorderedOldOrForgedRunsNothing() async throws {
        let stage = try await Stage()
        let program = try stage.script("stop")
        let first = try await stage.agentOnce("--on", "stop=\(program)")
        #expect(first.status == 0 && first.output.isEmpty, "\(first.errors)")
        let now = EventLoop.unixMilliseconds
        let good = try stage.sealed("stop", counter: 10)
        var changed = try stage.sealed("stop", counter: 20)
        changed[40] ^= 1
        let token = stage.mailbox.mailbox.pairingToken
        let own = try #require(PhoneReply(counter: 30, sentAt: now, kind: "stop", text: "t"))
        for sealed in [
            good, try stage.sealed("stop", counter: 9), changed,
            try stage.sealed("stop", counter: 11, at: now - 600_000),
            try stage.sealed("stop", counter: 12, at: now + 180_000),
            // The other direction's key.
            try ReplyChannel(.toPhone(answering: 30), of: token).seal(own),
            try stage.sealed("stop", counter: 13),
        ] {
            #expect(try await stage.post(sealed) == 200)
        }
        func refused(_ result: CommandResult) -> [String] {
            result.output.split(separator: "\n").compactMap {
                let json = try? JSON(Array($0.utf8))
                return json?["refused"]?.string ?? json?["answer"]?.string
            }
        }
        let run = try await stage.agentOnce("--on", "stop=\(program)")
        #expect(
            refused(run) == [
                "done", "replayed", "not_authentic", "expired", "from_the_future", "not_authentic", "done",
            ], "\(run.output) \(run.errors)")
        #expect(stage.ran == "0 stop t|0 stop t|")
        #expect(try await stage.post(good) == 200)
        #expect(refused(try await stage.agentOnce("--on", "stop=\(program)")) == ["replayed"])
        // Without its file it can't tell; so it takes nothing that was sent before.
        try FileManager.default.removeItem(atPath: stage.file)
        #expect(try await stage.post(good) == 200)
        #expect(refused(try await stage.agentOnce("--on", "stop=\(program)")) == ["expired"])
        #expect(stage.ran == "0 stop t|0 stop t|")
        await stage.close()
    }

    @Test func aProgramIsNotRunAgainWhateverIsKilled() async throws {
        let stage = try await Stage()
        let program = try stage.script("stop", "sleep 100")
        let option = "stop=\(program)"
        var agent = try stage.agent("--on", option)
        await stage.connected(agent)
        #expect(try await stage.post(try stage.sealed("stop", counter: 1)) == 200)
        try await until { !stage.ran.isEmpty }
        #expect(stage.ran == "0 stop t|")
        await agent.kill()
        // The node is gone for a while too: it has kept what was not acknowledged.
        try stage.mailbox.stage.signal(SIGKILL)
        await stage.mailbox.stage.node.wait { $0.exit != nil }
        try await stage.mailbox.stage.start()
        agent = try stage.agent("--on", option)
        await agent.wait { $0.exit != nil || $0.lines.contains { $0.contains("refused") } }
        #expect(agent.lines.contains { $0.contains(#""refused":"replayed""#) }, "\(agent.lines)")
        #expect(stage.ran == "0 stop t|")
        let second = try await stage.agentOnce()
        #expect(second.status == 75 && second.errors.contains("another onionbell uses"))
        #expect(await agent.stop() == .exited(0))
        await stage.close()
    }

    @Test func withoutACounterOnTheDiskNothingIsRun() async throws {
        let stage = try await Stage()
        let program = try stage.script("stop")
        #expect(try await stage.agentOnce().status == 0)
        #expect(try await stage.post(try stage.sealed("stop", counter: 1)) == 200)
        let agent = try stage.agent("--on", "stop=\(program)", "--on", "break=\(program)")
        // A directory in the place of the file can't be replaced.
        await agent.wait { $0.exit != nil || $0.lines.contains { $0.contains("done") } }
        try FileManager.default.removeItem(atPath: stage.file)
        try FileManager.default.createDirectory(atPath: stage.file, withIntermediateDirectories: true)
        #expect(try await stage.post(try stage.sealed("stop", counter: 2)) == 200)
        await agent.wait { $0.exit != nil }
        #expect(agent.exit == .exited(74))
        #expect(agent.lines.contains { $0.contains("nothing was run") }, "\(agent.lines)")
        #expect(stage.ran == "0 stop t|")
        await stage.close()
    }

    @Test func anAgentWhoseClockWasWrongSaysSoAndGoesOn() async throws {
        let stage = try await Stage()
        #expect(try await stage.agentOnce().status == 0)
        let kept = try JSON(try LabDirectory.read(stage.file))
        let tomorrow = EventLoop.unixMilliseconds + 86_400_000
        func keep(counter: Int64) throws {
            let text =
                #"{"channel":"\#(kept["channel"]?.string ?? "")","counter":\#(counter),"since":\#(tomorrow)}"#
            try LabDirectory.write(Array(text.utf8), to: stage.file)
        }
        try keep(counter: 0)
        let first = try await stage.agentOnce()
        #expect(first.status == 0 && !first.errors.contains("clock"), "\(first.errors)")
        let since = try #require(try JSON(try LabDirectory.read(stage.file))["since"]?.integer)
        #expect(since < tomorrow - 80_000_000, "ten minutes from now")
        try keep(counter: tomorrow)
        let second = try await stage.agentOnce()
        #expect(second.status == 0 && second.errors.contains("minutes ahead"), "\(second.errors)")
        try keep(counter: -1)
        #expect(try await stage.agentOnce().status == 65)
        await stage.close()
    }

    @Test func aMailboxThatIsGoneAndAFileOfAnotherPairingAreTold() async throws {
        let stage = try await Stage()
        #expect(try await stage.agentOnce().status == 0)
        let other = try await StagedMailbox.add("you", to: stage.mailbox.stage.configuration)
        let wrong = [program, "bisq-agent", "--mailbox", other.file, "--file", stage.file, "--once"]
        let result = try await Task.detached { try run(wrong) }.value
        #expect(result.status == 65 && result.errors.contains("is of another pairing"))
        let removal = [
            program, "mailbox", "remove", "me", "--config", stage.mailbox.stage.configuration,
        ]
        #expect(try await Task.detached { try run(removal) }.value.status == 0)
        let gone = try await stage.agentOnce()
        #expect(gone.status == 1 && gone.errors.contains("the node has no mailbox of this pairing token"))
        let reply = try await stage.reply("stop")
        #expect(reply.status == 1 && reply.errors.contains("the node has no mailbox of this pairing token"))
        await stage.close()
    }

    @Test func whereNobodyAnswersThePhoneSaysSo() async throws {
        let stage = try await Stage()
        let result = try await stage.reply("stop", timeout: "1s")
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains("the node has the reply, but Bisq's agent has not said"))
        await stage.close()
    }

    @Test func whatCannotBeMeantIsRefusedAtOnce() async throws {
        for (arguments, words) in [
            (["receive", "--reply", "Stop"], "--reply has 1 to 32"),
            (["receive", "--reply", "stop", "--once"], "nothing else"),
            (["receive", "--reply-text", "x"], "--reply-text is for --reply"),
            (["bisq-agent", "--on", "stop"], "--on must be KIND=PROGRAM"),
            (["bisq-agent", "--on", "a=b", "--on", "a=c"], "twice"),
            (["bisq-agent"], "give --url"),
        ] {
            let all = [program] + arguments
            let result = try await Task.detached { try run(all) }.value
            #expect(result.status == 64 && result.errors.contains(words), "\(result.errors)")
        }
    }
}
