import Client
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Wire

/// `onionbell receive` beside the built node, without Tor: what it shows, keeps and acknowledges.
@EventLoop
@Suite(.serialized) struct ReceiveTests {
    @Test func bothBisqsAreShownOnceWhateverIsKilled() async throws {
        let stage = try await MailboxStage()
        let file = stage.newFile()
        var reader = try stage.reader(file, "--mailbox", stage.mailbox.file)
        #expect(try await stage.send(try stage.mailbox.bisq1("one")))
        #expect(try await stage.send(try stage.mailbox.bisq2("two")))
        await reader.wait(forShown: 2)
        #expect(reader.titles == ["one", "two"], "\(reader.lines)")
        #expect(reader.shown.map { $0["kind"]?.string } == ["TRADE", "TRADE"])
        #expect(reader.shown.map { $0["trade"]?.string } == ["", "t"])
        #expect(reader.shown.allSatisfy { $0["message"]?.string == "Grüße" })
        #expect(try await stage.waiting(until: 0) == 0, "what was acknowledged is gone")

        await reader.kill()
        #expect(try await stage.send(try stage.mailbox.bisq1("three")))
        // It knows the mailbox from its file, and what it has shown.
        reader = try stage.reader(file)
        await reader.wait(forShown: 1)
        #expect(reader.titles == ["three"], "\(reader.lines)")

        try stage.stage.signal(SIGKILL)
        await stage.stage.node.wait { $0.exit != nil }
        try await stage.stage.start()
        #expect(try await stage.send(try stage.mailbox.bisq2("four")))
        await reader.wait(forShown: 2)
        #expect(reader.titles == ["three", "four"], "it has connected again: \(reader.lines)")
        #expect(reader.lines.contains { $0.contains("trying again") })

        let second = try await stage.receive(file, "--once")
        #expect(second.status == 75 && second.errors.contains("another onionbell receive"))
        #expect(try await stage.receive(file, "--list").output.split(separator: "\n").count == 10)
        #expect(await reader.stop() == .exited(0))
        let kept = try await stage.receive(file, "--list", "--json")
        let ids = kept.output.split(separator: "\n").compactMap { try? JSON(Array($0.utf8))["id"]?.string }
        #expect(ids.count == 4 && Set(ids).count == 4, "\(kept.output)")
        #expect(try await stage.waiting(until: 0) == 0)
        await stage.close()
    }

    @Test func eraseEmptiesTheListAndTheSetUpIsConfirmed() async throws {
        let stage = try await MailboxStage()
        let file = stage.newFile()
        #expect(try await stage.send(try stage.mailbox.bisq1("", kind: .setupConfirmation)))
        #expect(try await stage.send(try stage.mailbox.bisq1("secret words")))
        let first = try await stage.receive(file, "--mailbox", stage.mailbox.file, "--once")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.contains("  SETUP_CONFIRMATION  Bisq has accepted this phone\n"))
        #expect(first.output.contains("  TRADE  secret words\n    Grüße\n"))
        #expect(try await stage.receive(file, "--list").output == first.output)
        #expect(try await stage.send(try stage.mailbox.bisq1("", kind: .erase)))
        let second = try await stage.receive(file, "--once")
        #expect(second.output.contains("  ERASE  Bisq has erased all notifications\n"))
        let kept = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!kept.contains("secret words"))
        #expect(try await stage.receive(file, "--list").output == second.output)
        await stage.close()
    }

    /// Scripts are not told of an erasure that is not obeyed, and it is acknowledged as everything is that was shown.
    @Test func anEraseWithoutATrueDateOrWithATextErasesNothing() async throws {
        let stage = try await MailboxStage()
        let file = stage.newFile()
        let now = EventLoop.unixMilliseconds
        #expect(try await stage.send(try stage.mailbox.bisq1("stays", sent: now - 1)))
        #expect(try await stage.send(try stage.mailbox.bisq1("", kind: .erase, sent: now - 100_000)))
        let first = try await stage.receive(file, "--mailbox", stage.mailbox.file, "--once", "--json")
        #expect(first.output.contains(#""ERASE""#) && first.status == 0, "\(first.errors)")
        for sent in [0, now - 100_000, now - 90_000_000, now + 3_600_000] {
            #expect(try await stage.send(try stage.mailbox.bisq1("", kind: .erase, sent: sent)))
        }
        #expect(try await stage.send(try stage.mailbox.bisq1("a text", kind: .erase, sent: now)))
        let second = try await stage.receive(file, "--once", "--json")
        #expect(
            second.output.count { $0 == "\n" } == 5 && !second.output.contains(#""ERASE""#),
            "\(second.output)")
        #expect(second.output.contains(#""UNREADABLE""#) && second.output.contains("asks to erase"))
        #expect(try await stage.receive(file, "--list").output.contains("stays"))
        #expect(try await stage.waiting(until: 0) == 0)
        await stage.close()
    }

    /// Once, for those that come now and then.
    @Test func onceFetchesAndAcknowledgesAndEnds() async throws {
        let stage = try await MailboxStage(readers: ["phone", "desk"])
        let files = [stage.newFile(), stage.newFile()]
        for number in 0..<40 { #expect(try await stage.send(try stage.mailbox.bisq1("\(number)"))) }
        let ambiguous = try await stage.receive(files[0], "--mailbox", stage.mailbox.file, "--once")
        #expect(ambiguous.status == 64 && ambiguous.errors.contains("(desk, phone)"), "\(ambiguous.errors)")
        for (file, reader) in zip(files, ["phone", "desk"]) {
            #expect(try await stage.waiting(until: 40) == 40, "until both have all")
            let fetched = try await stage.receive(
                file, "--mailbox", stage.mailbox.file, "--reader", reader, "--once", "--json")
            #expect(fetched.status == 0, "\(fetched.errors)")
            let titles = fetched.output.split(separator: "\n").compactMap {
                try? JSON(Array($0.utf8))["title"]?.string
            }
            #expect(titles == (0..<40).map(String.init))
        }
        #expect(try await stage.waiting(until: 0) == 0)
        let nothing = try await stage.receive(files[0], "--once")
        #expect(nothing.status == 0 && nothing.output.isEmpty)

        let url = stage.mailbox.url
        let input = "tk_0123456789\n\(stage.mailbox.pairingToken.text)\n"
        let options = ["--token", "-", "--pairing-token", "-"]
        let stranger = try await stage.receive(
            stage.newFile(), "--once", "--url", url, options[0], options[1], options[2], options[3],
            input: input)
        #expect(stranger.status == 1 && stranger.errors.contains("token"), "\(stranger.errors)")
        await stage.stage.node.stop()
        let away = try await stage.receive(files[0], "--once", "--timeout", "2s")
        #expect(away.status == 69, "\(away.errors)")
        await stage.close()
    }

    @Test func whatIsKeptIsSealedUnderAPassphrase() async throws {
        let stage = try await MailboxStage()
        let file = stage.newFile()
        let passphrase = stage.stage.configuration + ".passphrase"
        try LabDirectory.write(Array("correct horse\n".utf8), to: passphrase)
        #expect(try await stage.send(try stage.mailbox.bisq1("secret words")))
        let fetched = try await stage.receive(
            file, "--mailbox", stage.mailbox.file, "--passphrase-file", passphrase, "--once")
        #expect(fetched.status == 0 && fetched.output.contains("secret words"), "\(fetched.errors)")
        let bytes = try LabDirectory.read(file)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(bytes.starts(with: "OnionbellSealed1".utf8))
        for secret in [
            "secret words", stage.mailbox.pairingToken.key, stage.mailbox.topic,
            try #require(stage.mailbox.tokens["phone"]),
        ] { #expect(!text.contains(secret)) }
        var facts = stat()
        #expect(stat(file, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        let open = try await stage.receive(file, "--list", "--passphrase-file", passphrase)
        #expect(open.status == 0 && open.output.contains("secret words"))
        #expect(try await stage.receive(file, "--list").status == 65)
        try LabDirectory.write(Array("wrong horse\n".utf8), to: passphrase)
        let wrong = try await stage.receive(file, "--list", "--passphrase-file", passphrase)
        #expect(wrong.status == 65 && wrong.output.isEmpty && wrong.errors.contains("password"))
        await stage.close()
    }

    /// The texts of strangers are told to no shell and no terminal.
    @Test func aProgramIsRunForEachMessageWithoutAShell() async throws {
        let stage = try await MailboxStage()
        let directory = stage.stage.world.directory.path
        let (file, script, told) = (stage.newFile(), directory + "/ring", directory + "/told")
        try LabDirectory.write(
            Array(
                """
                #!/bin/sh
                printf '%s|%s|%s|%s\\n' "$ONIONBELL_KIND" "$ONIONBELL_TITLE" "$ONIONBELL_MESSAGE" "$#" >>\(told)
                exit 3
                """.utf8), to: script)
        let notifier = try stage.stage.world.directory.make("bin") + "/notify-send"
        try LabDirectory.write(
            Array("#!/bin/sh\nprintf '%s,' \"$@\" >>\(told)\necho >>\(told)\n".utf8), to: notifier)
        for program in [script, notifier] { chmod(program, 0o700) }
        let title = "$(touch \(directory)/hacked) `id` \u{1b}[2J\u{202e}\u{9b}end; --flag"
        #expect(try await stage.send(try stage.mailbox.bisq1(title)))
        let arguments = [
            program, "receive", "--file", file, "--mailbox", stage.mailbox.file, "--once", "--exec", script,
            "--notify", "text",
        ]
        let path = "\(directory)/bin:/usr/bin:/bin"
        let result = try await Task.detached { try run(arguments, environment: ["PATH": path]) }.value
        #expect(result.status == 0 && result.errors.contains("exit status 3"), "\(result.errors)")
        let clean = "$(touch \(directory)/hacked) `id` [2Jend; --flag"
        #expect(result.output.contains("  TRADE  \(clean)\n"), "\(result.output)")
        #expect(
            try String(contentsOfFile: told, encoding: .utf8)
                == "--app-name=Onionbell,--,\(clean),Grüße,\nTRADE|\(clean)|Grüße|0\n")
        #expect(!FileManager.default.fileExists(atPath: directory + "/hacked"))
        await stage.close()
    }

    /// The message in hand is shown, noted and acknowledged; what is behind it comes next time.
    @Test func whoeverStopsItLosesNothing() async throws {
        let stage = try await MailboxStage()
        let directory = stage.stage.world.directory.path
        let (file, script) = (stage.newFile(), directory + "/slow")
        try LabDirectory.write(
            Array("#!/bin/sh\ntouch \(directory)/began\nsleep 1\ntouch \(directory)/ended\n".utf8), to: script
        )
        chmod(script, 0o700)
        for title in ["one", "two"] { #expect(try await stage.send(try stage.mailbox.bisq1(title))) }
        #expect(try await stage.waiting(until: 2) == 2)
        let reader = try stage.reader(file, "--mailbox", stage.mailbox.file, "--exec", script)
        try await until { FileManager.default.fileExists(atPath: directory + "/began") }
        #expect(await reader.stop() == .exited(0))
        #expect(FileManager.default.fileExists(atPath: directory + "/ended"), "it may end its work")
        #expect(reader.titles == ["one"], "\(reader.lines)")
        let rest = try await stage.receive(file, "--once")
        #expect(rest.output.contains("TRADE  two\n") && !rest.output.contains("TRADE  one\n"))
        #expect(try await stage.waiting(until: 0) == 0)
        await stage.close()
    }

    /// What nobody could see, or could not be kept, comes again.
    @Test func nothingIsAcknowledgedThatWasNotShown() async throws {
        let stage = try await MailboxStage()
        let file = stage.newFile()
        #expect(try await stage.send(try stage.mailbox.bisq1("one")))
        let full = [
            "/bin/sh", "-c", "exec \"$0\" receive --once --mailbox \"$1\" --file \"$2\" >/dev/full", program,
            stage.mailbox.file, file,
        ]
        let unseen = try await Task.detached { try run(full) }.value
        #expect(unseen.status == 74 && unseen.errors.contains("standard output"), "\(unseen.errors)")
        #expect(try await stage.waiting(until: 1) == 1)
        #expect(try await stage.receive(file, "--once").output.contains("TRADE  one\n"))
        #expect(try await stage.waiting(until: 0) == 0)
        await stage.close()
    }

    @Test func aKeyMadeHereIsNeverTheNodes() async throws {
        let stage = try await MailboxStage()
        let file = stage.newFile()
        #expect(try await stage.send(try stage.mailbox.bisq1("by the old key")))
        let made = try await stage.receive(
            file, "--mailbox", stage.mailbox.file, "--new", "--once", "--json")
        #expect(made.status == 0, "\(made.errors)")
        let lines = try made.output.split(separator: "\n").map { try JSON(Array($0.utf8)) }
        let token = try PairingToken(try #require(lines.first?["pairingToken"]?.string))
        #expect(token.deviceToken == stage.mailbox.pairingToken.deviceToken)
        #expect(token.key != stage.mailbox.pairingToken.key)
        #expect(lines.dropFirst().map { $0["kind"]?.string } == ["UNREADABLE"])
        let renewed = StagedMailbox(pairingToken: token, url: "", tokens: [:], file: "")
        #expect(try await stage.send(try renewed.bisq1("by the new key")))
        #expect(try await stage.send(try renewed.bisq2("by the new key")))
        let shown = try await stage.receive(file, "--once")
        #expect(shown.output.split(separator: "\n").count { $0.hasSuffix("by the new key") } == 2)
        await stage.close()
    }

    @Test func whatCannotBeUsedIsTold() async throws {
        let path = FileManager.default.temporaryDirectory.path + "/receive-\(UUID().uuidString)"
        defer { for end in ["", ".lock"] { try? FileManager.default.removeItem(atPath: path + end) } }
        func receive(_ words: String..., input: String = "") throws -> CommandResult {
            try run([program, "receive", "--file", path] + words, input: input)
        }
        let token = try Phone.new(.android, descriptor: "").pairingToken.text
        let unknown = try receive()
        #expect(unknown.status == 64 && unknown.errors.contains("--mailbox"), "\(unknown.errors)")
        #expect(try receive("--mailbox", "-", input: "{}").status == 65)
        #expect(try receive("--mailbox", "/nowhere").status == 66)
        // As onionbell mailbox add --tokens-of prints it.
        let kept =
            #"{"pairingToken":"\#(token)","topic":"t","url":"http://127.0.0.1:1/t","readers":{"a":null}}"#
        let tokenless = try receive("--mailbox", "-", "--once", input: kept)
        #expect(tokenless.status == 64 && tokenless.errors.contains("--token"), "\(tokenless.errors)")
        let given = try receive("--mailbox", "-", "--token", "tk_a", "--once", "--timeout", "1s", input: kept)
        #expect(given.status == 69, "\(given.errors)")
        for url in [
            "https://x.onion/t", "http://example.com/t", "http://127.0.0.1:1/", "http://127.0.0.1:1/a/b",
        ] {
            let result = try receive("--url", url, "--pairing-token", "-", input: token + "\n")
            #expect(result.status == 65 && result.errors.contains("ntfy address"), "\(url): \(result.errors)")
        }
        #expect(try receive("--since", "a b").status == 64)
        #expect(try receive("--ping", "8m").status == 64)
        #expect(try receive("--list").output.isEmpty)
        let help = try receive("--help").output
        #expect(help.contains("onionbell receive --mailbox me.json"))
    }
}
