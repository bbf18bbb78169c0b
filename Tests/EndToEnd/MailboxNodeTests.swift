import Client
import Foundation
import HTTP1
import JSONCoding
import Lab
import MailboxClients
import Processes
import Reactor
import Testing
import Vectors
import Wire

/// Mailboxes of the built node: made by the command, filled by Bisq, fetched by curl and a WebSocket.
@EventLoop
@Suite(.serialized) struct MailboxNodeTests {
    private func stage(_ port: UInt16) throws -> LoopbackStage {
        try LoopbackStage {
            $0.replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n")
                + "doors:\n  mailbox: {listen: [\"127.0.0.1:\(port)\"]}\n"
        }
    }

    private func mailbox(_ stage: LoopbackStage, _ words: String...) async throws -> CommandResult {
        let arguments = [program, "mailbox", words[0], "--config", stage.configuration] + words.dropFirst()
        return try await Task.detached { try run(arguments) }.value
    }

    /// What the command shows once.
    private func add(
        _ stage: LoopbackStage, readers: [String]
    ) async throws -> (phone: Phone, url: String, tokens: [String]) {
        let named = readers.flatMap { ["--reader", $0] }
        let arguments = [program, "mailbox", "add", "me", "--json", "--config", stage.configuration] + named
        let result = try await Task.detached { try run(arguments) }.value
        #expect(result.status == 0, "\(result.errors)")
        let made = try JSON(Array(result.output.utf8))
        return (
            Phone(try PairingToken(try #require(made["pairingToken"]?.string))),
            try #require(made["url"]?.string),
            try readers.map { try #require(made["readers"]?[$0]?.string) }
        )
    }

    private func poll(
        _ url: String, _ token: String, since: String = "all", user: String = "phone"
    ) async throws -> [JSON] {
        let result = try await Task.detached {
            try run([
                "curl", "-s", "-u", "\(user):\(token)",
                "\(url)/json?poll=1&since=\(since)",
            ])
        }.value
        #expect(result.status == 0, "\(result.errors)")
        return try result.output.split(separator: "\n").map { try JSON(Array($0.utf8)) }
    }

    private func send(
        _ title: String, to phone: Phone, _ stage: LoopbackStage
    ) async throws -> MobileNotificationResponse {
        let peer = try await stage.dial()
        defer { peer.close() }
        let request = try BisqSender(to: phone.pairingToken).request(
            for: PhoneText(sentDate: 1, title: title, message: "Grüße", kind: .trade))
        return try await peer.send(request, deadline: theRun)
    }

    @Test func whatBisqSendsIsFetchedAndSurvivesAKill() async throws {
        let port = try freePort()
        let stage = try stage(port)
        try await stage.start()
        let (phone, url, tokens) = try await add(stage, readers: ["phone", "desk"])
        #expect(url.hasPrefix("http://127.0.0.1:\(port)/mb"))
        #expect(phone.pairingToken.deviceToken.utf8.count == 100)
        await stage.logged("mailbox.changed")
        #expect(try await send("one", to: phone, stage).status == .stored)
        var lines: [JSON] = []
        try await until {
            lines = try await poll(url, tokens[0])
            return !lines.isEmpty
        }
        #expect(lines.count == 1)
        let encrypted = try #require(lines[0]["encrypted"]?.string)
        #expect(try phone.open(encrypted).title == "one")

        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        try await stage.start()
        #expect(try await send("two", to: phone, stage).status == .stored)
        var socketTexts: [String] = []
        let path = String(url.dropFirst("http://127.0.0.1:\(port)".count))
        let (socket, rest) = try await WebSocket.open(
            WebSocket.Opening(
                host: "127.0.0.1:\(port)", path: "\(path)/ws?since=all",
                fields: [("Authorization", "Bearer \(tokens[1])")]),
            by: .direct(.host("127.0.0.1", port: port)))
        let titles: [String] = await withCheckedContinuation { continuation in
            socket.start(
                unread: rest,
                onText: { text in
                    socketTexts.append(text)
                    let titles = socketTexts.compactMap { (try? JSON(Array($0.utf8)))?["encrypted"]?.string }
                        .compactMap { try? phone.open($0).title }
                    if titles.count == 2 { continuation.resume(returning: titles) }
                }, onEnd: {})
        }
        #expect(titles == ["one", "two"], "the order, each once")
        socket.close()
        // The same ids after the restart: the phone goes on behind the one that it knows.
        let id = try #require(lines[0]["id"]?.string)
        let rest2 = try await poll(url, tokens[0], since: id)
        #expect(try rest2.map { try phone.open($0["encrypted"]?.string ?? "").title } == ["two"])

        let listed = try await mailbox(stage, "list").output
        #expect(listed.contains("me\tbell\tno\t2\t"), "\(listed)")
        #expect(try await mailbox(stage, "remove", "me").output == "removed\n")
        await stage.logged("mailbox.changed")
        #expect(try await send("three", to: phone, stage).status == .stored)
        await stage.close()
    }

    /// Stored while it lies there; delivered when the first reader says that it has it, for good.
    @Test func whoListensHearsWhenTheFirstReaderHasIt() async throws {
        let port = try freePort()
        let stage = try stage(port)
        try await stage.start()
        let (phone, url, tokens) = try await add(stage, readers: ["phone", "desk"])
        await stage.logged("mailbox.changed")
        let peer = try await stage.dial()
        var request = try BisqSender(to: phone.pairingToken).request(
            for: PhoneText(sentDate: 1, title: "one", message: "x", kind: .trade))
        request.awaitsOutcome = true
        #expect(try await peer.send(request, deadline: theRun).status == .stored)
        var ids: [String] = []
        try await until {
            ids = try await poll(url, tokens[0]).compactMap { $0["id"]?.string }
            return !ids.isEmpty
        }
        let id = try #require(ids.first)
        let again = try await stage.dial()
        #expect(try await again.send(request, deadline: theRun).status == .stored, "nobody has said so")
        #expect(try await poll(url, tokens[0], since: id).isEmpty)
        for sender in [peer, again] {
            #expect(
                try await sender.nextResponse(to: request.uid, deadline: theRun).status == .delivered)
            sender.close()
        }
        #expect(try await poll(url, tokens[1], user: "desk").count == 1, "the other one has not")
        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        try await stage.start()
        let last = try await stage.dial()
        #expect(try await last.send(request, deadline: theRun).status == .delivered)
        last.close()
        await stage.close()
    }

    @Test func whoListensHearsThatTheMailboxWasRemoved() async throws {
        let port = try freePort()
        let stage = try stage(port)
        try await stage.start()
        let (phone, url, tokens) = try await add(stage, readers: ["phone"])
        await stage.logged("mailbox.changed")
        let peer = try await stage.dial()
        var request = try BisqSender(to: phone.pairingToken).request(
            for: PhoneText(sentDate: 1, title: "one", message: "x", kind: .trade))
        request.awaitsOutcome = true
        #expect(try await peer.send(request, deadline: theRun).status == .stored)
        try await until { try await !poll(url, tokens[0]).isEmpty }
        #expect(try await mailbox(stage, "remove", "me").output == "removed\n")
        let last = try await peer.nextResponse(to: request.uid, deadline: theRun)
        #expect(last.status == .refused && last.reason == "NoSuchMailbox")
        peer.close()
        await stage.close()
    }

    /// The same door where phones need no Tor.
    @Test func aReaderIsServedOverHTTPS() async throws {
        let port = try freePort()
        let stage = try LoopbackStage {
            $0.replacing("\napps:\n", with: "\napps:\n  - {name: mailboxes, gateway: mailbox}\n") + """
                doors:
                  https: {certificate_file: server.pem, key_file: server-key.pem}
                  mailbox: {listen: ["https://127.0.0.1:\(port)"], url: "https://localhost:\(port)"}

                """
        }
        let path = stage.world.directory.path
        let server = try stage.world.credentials.authority.server(names: ["localhost"])
        try LabDirectory.write(try server.chainPEM(), to: path + "/server.pem")
        try LabDirectory.write(try server.keyPEM().bytes, to: path + "/server-key.pem")
        try await stage.start()
        let (phone, url, tokens) = try await add(stage, readers: ["phone"])
        #expect(url.hasPrefix("https://localhost:\(port)/mb"))
        await stage.logged("mailbox.changed")
        let reader = try LabProgram([
            "curl", "--silent", "--no-buffer", "--cacert", path + "/ca.pem", "-u",
            "phone:\(tokens[0])", "\(url)/json?since=all",
        ])
        await reader.wait { $0.exit != nil || $0.lines.contains { $0.contains(#""event":"open""#) } }
        #expect(try await send("one", to: phone, stage).status == .stored)
        await reader.wait { $0.exit != nil || $0.lines.contains { $0.contains("encrypted") } }
        let line = try #require(reader.lines.first { $0.contains("encrypted") }, "\(reader.lines)")
        let encrypted = try #require(try JSON(Array(line.utf8))["encrypted"]?.string)
        #expect(try phone.open(encrypted).title == "one")
        await reader.kill()
        let stranger = [
            "curl", "--silent", "--cacert", path + "/ca.pem", "\(url)/json?poll=1",
        ]
        let refused = try await Task.detached { try run(stranger) }.value
        #expect(refused.output.contains(#""http":403"#), "\(refused.output) \(refused.errors)")
        await stage.close()
    }

    /// The app has one user for a server.
    @Test func oneTokenReadsTwoMailboxes() async throws {
        let port = try freePort()
        let stage = try stage(port)
        try await stage.start()
        let (_, url, tokens) = try await add(stage, readers: ["phone"])
        let second = try await mailbox(stage, "add", "other", "--tokens-of", "me", "--json")
        let made = try JSON(Array(second.output.utf8))
        #expect(second.status == 0 && made["readers"]?["phone"] == .null, "\(second.errors)")
        let topic = try #require(made["topic"]?.string)
        #expect(try await mailbox(stage, "add", "third", "--tokens-of", "nobody").status == 1)
        await stage.logged("mailbox.changed")
        let other = Phone(try PairingToken(try #require(made["pairingToken"]?.string)))
        #expect(try await send("two", to: other, stage).status == .stored)
        var lines: [JSON] = []
        try await until {
            lines = try await poll("\(url),\(topic)", tokens[0])
            return !lines.isEmpty
        }
        #expect(lines.map { $0["topic"]?.string } == [topic])
        await stage.close()
    }

    /// Of a full mailbox the oldest bell goes; sealed messages lose nothing, and who sends is told.
    @Test(arguments: [("sealed", ["one", "two"]), ("bell", ["two", "three"])])
    func aFullMailboxSaysSoToItsSender(show: String, left: [String]) async throws {
        let stage = try await MailboxStage(options: ["--show", show], door: ", messages: 2")
        for title in ["one", "two"] { #expect(try await stage.send(try stage.mailbox.bisq2(title))) }
        #expect(try await stage.waiting(until: 2) == 2)
        let answer = try await HTTPExchange.answer(
            to: try stage.mailbox.bisq2("three"), host: "x", by: .direct(stage.http), deadline: theRun)
        #expect(answer.status == (show == "sealed" ? 507 : 200))
        let lines = try await poll(stage.mailbox.url, try #require(stage.mailbox.tokens["phone"]))
        let titles = try lines.map {
            let text = (show == "sealed" ? $0["message"] : $0["encrypted"])?.string ?? ""
            return try ReceivedMessage(opening: text, with: stage.mailbox.pairingToken).title
        }
        #expect(titles == left)
        await stage.close()
    }

    // MARK: UnifiedPush

    nonisolated private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../.."
    )
    .standardized.path
    nonisolated private static let packages = root + "/.build/python"
    nonisolated private static let hasWebPush = FileManager.default.fileExists(
        atPath: packages + "/pywebpush")

    private func webPush(_ arguments: [String], input: String = "") async throws -> String {
        let result = try await Task.detached {
            try run(
                ["/usr/bin/python3", Self.root + "/Deploy/examples/web-push.py"] + arguments, input: input,
                environment: ["PYTHONPATH": Self.packages])
        }.value
        #expect(result.status == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .newlines)
    }

    /// An app's server encrypts and pushes, the node carries, the app's distributor brings it, and the app opens it.
    @Test(.enabled(if: hasWebPush, "pywebpush is not installed: Deploy/tools/dependencies test"))
    func whatAServerOfAppsPushesIsOpenedByItsApp() async throws {
        let port = try freePort()
        let stage = try stage(port)
        try await stage.start()
        let (_, _, tokens) = try await add(stage, readers: ["phone"])
        await stage.logged("mailbox.changed")
        let topic = "http://127.0.0.1:\(port)/upAbCdEfGhIjKl"
        #expect(try await poll(topic, tokens[0]).isEmpty, "the distributor subscribes")
        let keys = stage.world.directory.path + "/subscription"
        _ = try await webPush(["subscribe", keys])
        #expect(try await webPush(["push", keys, topic + "?up=1", "Grüße 🐘"]).hasPrefix("201"))
        try stage.signal(SIGKILL)
        await stage.node.wait { $0.exit != nil }
        try await stage.start()
        let line = try #require(try await poll(topic, tokens[0]).first)
        #expect(line["encoding"]?.string == "base64")
        let body = try #require(line["message"]?.string).replacing("+", with: "-").replacing("/", with: "_")
        let shown = try await webPush(
            ["open", keys], input: #"{"m":"\#(body)","e":"aes128gcm","i":"me"}"# + "\n")
        #expect(shown == "app of me shows: Grüße 🐘")
        await stage.close()
    }
}
