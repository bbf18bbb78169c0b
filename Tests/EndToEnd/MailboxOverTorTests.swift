import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import LabParts
import MailboxClients
import Reactor
import Testing
import Wire

/// Where Deploy/tools/dependencies puts what Debian doesn't have.
private let packages = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../.build/python").standardized.path

/// A mailbox at the built node's onion address, filled by Bisq at the addresses that are built into it, and read by real
/// programs through other tors.
@EventLoop
@Suite(.serialized) struct MailboxOverTorTests {
    private func stage() async throws -> RelayStage {
        try await RelayStage(
            apps: { _ in "  - {name: mailboxes, gateway: mailbox}" },
            more: ["doors:", "  mailbox: {listen: [\"onion:8030\"]}"])
    }

    private func add(_ stage: RelayStage, _ readers: [String], sealed: Bool = false) async throws
        -> StagedMailbox
    {
        let mailbox = try await StagedMailbox.add(
            readers: readers, options: sealed ? ["--show", "sealed"] : [], to: stage.configuration)
        #expect(mailbox.url.hasPrefix("http://\(stage.address):8030/mb"))
        await stage.node.wait { $0.lines.contains { $0.contains("mailbox.changed") } }
        return mailbox
    }

    private func accepted(_ request: HTTPRequest, _ stage: RelayStage) async throws -> Bool {
        let body = String(decoding: try await stage.send(request).body, as: UTF8.self)
        return body == "success" || body.contains(#""wasAccepted":true"#)
    }

    /// A tor whose SOCKS port is the same after a restart.
    private func readersTor(_ stage: RelayStage) async throws -> (tor: LabTor, socks: String) {
        let path = stage.directory.path + "/socks-\(UUID().uuidString.prefix(8))"
        let tor = try await SharedTorNetwork.network().startTor(["SocksPort unix:\(path)"])
        return (tor, "unix:\(path)")
    }

    /// Issue 18 is done when this is so.
    @Test func whatBisqSendsIsOnThePhonesTerminal() async throws {
        let stage = try await stage()
        let mailbox = try await add(stage, ["phone", "desk"])
        let (tor, socks) = try await readersTor(stage)
        let file = stage.directory.path + "/phone"
        var reader = try LabReader(
            program, file: file,
            arguments: [
                "--url", mailbox.url, "--token", try #require(mailbox.tokens["phone"]), "--pairing-token",
                mailbox.pairingToken.text, "--socks", socks,
            ])
        await reader.connected()
        #expect(try await accepted(try mailbox.bisq1("one"), stage))
        #expect(try await accepted(try mailbox.bisq2("two"), stage))
        await reader.wait(forShown: 2)
        #expect(reader.titles == ["one", "two"], "\(reader.lines)")

        // Its tor is gone for a while; what comes meanwhile is not lost.
        await tor.kill()
        await reader.wait { $0.exit != nil || $0.lines.contains { $0.contains("trying again") } }
        #expect(try await accepted(try mailbox.bisq1("three"), stage))
        try await tor.restart()
        await reader.wait(forShown: 3)
        #expect(reader.titles == ["one", "two", "three"], "\(reader.lines)")
        // The node is gone for a while.
        await stage.node.kill()
        try await stage.startAgain()
        #expect(try await accepted(try mailbox.bisq1("four"), stage))
        await reader.wait(forShown: 4)
        #expect(reader.titles.last == "four", "\(reader.lines)")
        #expect(await reader.stop() == .exited(0))

        // The desktop, with a tor of its own that knows nothing yet; and again with what it has learnt.
        let network = try await SharedTorNetwork.network()
        let torrc = stage.directory.path + "/reader-torrc"
        try network.writeTorrc(basedOn: projectTorrc, to: torrc)
        let desk = stage.directory.path + "/desk"
        let own = ["--tor", "tor", "--torrc", torrc]
        reader = try LabReader(
            program, file: desk, arguments: ["--mailbox", mailbox.file, "--reader", "desk"] + own)
        await reader.wait(forShown: 4)
        #expect(reader.titles == ["one", "two", "three", "four"], "\(reader.lines)")
        #expect(await reader.stop() == .exited(0))
        let again = try await Task.detached {
            try run([program, "receive", "--file", desk, "--once"] + own)
        }.value
        #expect(again.status == 0 && again.output.isEmpty, "\(again.errors)")
        await tor.kill()
        await stage.close()
    }

    /// The way back, by the same onion address: over HTTP with the built programs, and in the peers' protocol.
    @Test func whatThePhoneRepliesComesToBisqsAgent() async throws {
        let stage = try await stage()
        let mailbox = try await add(stage, ["phone"])
        let (tor, socks) = try await readersTor(stage)
        let marks = stage.directory.path + "/replied"
        let script = stage.directory.path + "/stop.sh"
        try LabDirectory.write(
            Array("#!/bin/sh\necho \"$ONIONBELL_REPLY_TEXT\" >>'\(marks)'\n".utf8), to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
        let agent = try LabProgram([
            program, "bisq-agent", "--mailbox", mailbox.file, "--socks", socks, "--file",
            stage.directory.path + "/agent", "--on", "stop=\(script)",
        ])
        await agent.wait { $0.exit != nil || $0.lines.contains { $0.contains("connected") } }
        let reply = [
            program, "receive", "--file", stage.directory.path + "/phone", "--mailbox", mailbox.file,
            "--socks", socks, "--reply", "stop", "--reply-text", "Grüße",
        ]
        let done = try await Task.detached { try run(reply) }.value
        #expect(done.status == 0 && done.output == "done\n", "\(done.errors)")
        #expect(String(decoding: try LabDirectory.read(marks), as: UTF8.self) == "Grüße\n")
        #expect(await agent.stop() == .exited(0))

        let peer = try await BisqPeer.dial(
            .tor(socks: try #require(stage.client.socks), onion: stage.address, port: 9999))
        let channel = ReplyChannel(.toBisq, of: mailbox.pairingToken)
        let sent = try #require(PhoneReply(counter: 1, sentAt: 1, kind: "stop", text: ""))
        var request = MobileReplyRequest()
        (request.uid, request.mailbox) = ("1", mailbox.pairingToken.deviceToken)
        (request.channel, request.sealed) = (channel.id, try channel.seal(sent))
        #expect(try await peer.post(request).status == .stored)
        var fetch = MobileReplyFetch()
        (fetch.uid, fetch.mailbox, fetch.channel) = ("2", request.mailbox, channel.id)
        fetch.waitMilliseconds = 60_000
        let last = try #require(try await peer.replies(to: fetch).replies.last)
        #expect(try channel.open(last.sealed) == sent)
        peer.close()
        await tor.kill()
        await stage.close()
    }

    /// Not ours: aiontfy by WebSocket, with the pongs that aiohttp sends, and through a break of the connection.
    @Test(
        .enabled("aiontfy is not here: Deploy/tools/dependencies test") {
            FileManager.default.fileExists(atPath: packages + "/aiontfy")
        })
    func aClientOfNtfyReadsInOrderAndAcknowledges() async throws {
        let stage = try await stage()
        let mailbox = try await add(stage, ["phone"], sealed: true)
        let token = mailbox.file + ".token"
        try LabDirectory.write(Array((try #require(mailbox.tokens["phone"]) + "\n").utf8), to: token)
        let socks = try #require(try await SharedTorNetwork.client().socks)
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Deploy/examples/ntfy-reader.py").standardized.path
        let seen = stage.directory.path + "/seen"
        func read() throws -> LabProgram {
            try LabProgram([
                "/bin/sh", "-c",
                "PYTHONPATH=\"$0\" exec /usr/bin/python3 -B \"$1\" \"$2\" --socks \"$3\" --seen \"$4\" <\"$5\"",
                packages, script, mailbox.url, "\(socks)", seen, token,
            ])
        }
        func opened(_ reader: LabProgram) throws -> [String] {
            try reader.lines.filter { $0.hasPrefix("{") }.map { line in
                let text = try JSON(Array(line.utf8))["message"]?.string ?? ""
                return try ReceivedMessage(opening: text, with: mailbox.pairingToken).title
            }
        }
        var reader = try read()
        for title in ["one", "two", "three"] {
            #expect(try await accepted(try mailbox.bisq1(title), stage))
        }
        await reader.wait { $0.exit != nil || $0.lines.count { $0.hasPrefix("{") } >= 3 }
        #expect(try opened(reader) == ["one", "two", "three"], "\(reader.lines)")
        await reader.kill()
        #expect(try await accepted(try mailbox.bisq2("four"), stage))
        reader = try read()
        // It was perhaps killed before it had noted the last one.
        func news() throws -> [String] { try opened(reader).filter { $0 != "three" } }
        await reader.wait { _ in (try? news().count) ?? 0 >= 1 }
        #expect(try news() == ["four"], "\(reader.lines)")
        await stage.node.kill()
        try await stage.startAgain()
        #expect(try await accepted(try mailbox.bisq1("five"), stage))
        await reader.wait { _ in (try? news().count) ?? 0 >= 2 }
        #expect(try news() == ["four", "five"], "\(reader.lines)")
        await reader.kill()
        await stage.close()
    }

    @Test(arguments: ["json", "sse", "raw"])
    func curlReadsWhatComes(form: String) async throws {
        let stage = try await stage()
        let mailbox = try await add(stage, ["phone"], sealed: true)
        let socks = try #require(try await SharedTorNetwork.client().socks)
        let token = try #require(mailbox.tokens["phone"])
        let curl = try LabProgram([
            "curl", "--silent", "--no-buffer", "--retry", "5", "--retry-all-errors", "--socks5-hostname",
            "\(socks)", "-u", "phone:\(token)", "\(mailbox.url)/\(form)?since=all",
        ])
        for title in ["one", "two"] { #expect(try await accepted(try mailbox.bisq1(title), stage)) }
        let messages = { (program: LabProgram) in
            program.lines.filter { $0.contains("BisqMessageAndroid|") }
        }
        await curl.wait { $0.exit != nil || messages($0).count >= 2 }
        let texts = try messages(curl).map { line in
            switch form {
            case "raw": line
            case "sse": try JSON(Array(line.dropFirst("data: ".count).utf8))["message"]?.string ?? ""
            case _: try JSON(Array(line.utf8))["message"]?.string ?? ""
            }
        }
        let titles = try texts.map { try ReceivedMessage(opening: $0, with: mailbox.pairingToken).title }
        #expect(titles == ["one", "two"], "\(curl.lines)")
        await curl.kill()
        await stage.close()
    }
}
