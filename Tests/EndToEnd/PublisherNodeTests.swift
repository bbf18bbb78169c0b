import Client
import Foundation
import JSONCoding
import Lab
import LabParts
import Reactor
import Testing
import Wire

/// What the owner's scripts and servers publish to a mailbox of the built node, with clients that nobody here wrote.
@EventLoop
@Suite(.serialized) struct PublisherNodeTests {
    private nonisolated static let packages = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../.build/python").standardized.path

    private func publishers(_ stage: MailboxStage, _ words: String...) async throws -> CommandResult {
        let arguments =
            [program, "mailbox", "publishers", words[0], "--config", stage.stage.configuration]
            + words.dropFirst()
        return try await Task.detached { try run(arguments) }.value
    }

    /// A publisher of the mailbox, once the node knows it.
    private func add(_ name: String, _ stage: MailboxStage) async throws -> String {
        let made = try await publishers(stage, "add", "me", name, "--json")
        #expect(made.status == 0, "\(made.errors)")
        let token = try #require(try JSON(Array(made.output.utf8))["token"]?.string)
        let account = stage.mailbox.url.replacing(stage.mailbox.topic, with: "v1/account")
        try await until {
            try await curl("-H", "Authorization: Bearer \(token)", account).output.hasSuffix("200")
        }
        return token
    }

    private func curl(_ arguments: String...) async throws -> CommandResult {
        try await Task.detached {
            try run(["curl", "-s", "-w", "\n%{http_code}"] + arguments)
        }.value
    }

    private func publish(_ text: String, _ token: String, _ stage: MailboxStage) async throws -> String {
        let answer = try await curl(
            "-H", "Authorization: Bearer \(token)", "-H", "Title: Backup", "-d", text, stage.mailbox.url)
        return String(answer.output.split(separator: "\n").last ?? "")
    }

    /// By curl, as the command shows it.
    @Test func whatIsPublishedIsShownAsSuchAndDoesNothing() async throws {
        let stage = try await MailboxStage()
        let file = stage.newFile()
        #expect(try await stage.send(try stage.mailbox.bisq1("of Bisq")))
        let token = try await add("cron", stage)
        #expect(try await publish("It is done.", token, stage) == "200")
        // Neither an ERASE nor what looks like Bisq's.
        #expect(try await publish(#"{"type":"ERASE","sentDate":\#(Int64.max)}"#, token, stage) == "200")
        #expect(try await publish("BisqMessageAndroid|a|b", token, stage) == "400")
        try stage.stage.signal(SIGKILL)
        await stage.stage.node.wait { $0.exit != nil }
        try await stage.stage.start()
        let shown = try await stage.receive(file, "--mailbox", stage.mailbox.file, "--once")
        #expect(shown.status == 0 && shown.output.contains("  TRADE  of Bisq\n"), "\(shown.output)")
        #expect(shown.output.contains("  PUBLISHED  [cron] Backup\n    It is done.\n"), "\(shown.output)")
        #expect(shown.output.contains("    {\"type\":\"ERASE\""), "\(shown.output)")
        #expect(try await stage.receive(file, "--list").output == shown.output, "nothing was erased")
        #expect(try await stage.waiting(until: 0) == 0)
        await stage.close()
    }

    @Test func aTokenThatLeakedIsChangedWithoutAReader() async throws {
        let stage = try await MailboxStage()
        let token = try await add("cron", stage)
        #expect(try await publishers(stage, "list", "me").output == "cron\n")
        #expect(try await publishers(stage, "add", "me", "cron").status == 1)
        #expect(try await publishers(stage, "add", "nobody", "cron").status == 1)
        let reader = try #require(stage.mailbox.tokens["phone"])
        #expect(try await publish("x", reader, stage) == "403", "a reader publishes nothing")
        let read = try await curl(
            "-H", "Authorization: Bearer \(token)", "\(stage.mailbox.url)/json?poll=1")
        #expect(read.output.hasSuffix("403"), "a publisher reads nothing")
        #expect(try await publishers(stage, "remove", "me", "cron").status == 0)
        #expect(try await publishers(stage, "remove", "me", "cron").status == 1)
        let other = try await add("cron", stage)
        #expect(try await publish("x", token, stage) == "401")
        #expect(try await publish("y", other, stage) == "200")
        let poll = try await curl("-u", "phone:\(reader)", "\(stage.mailbox.url)/json?poll=1")
        #expect(poll.output.contains(#""message":"y""#) && !poll.output.contains(#""message":"x""#))
        await stage.close()
    }

    /// Home Assistant's library and the order in which Home Assistant calls it: who am I, a token of my own, publish.
    @Test(
        .enabled("aiontfy is not here: Deploy/tools/dependencies test") {
            FileManager.default.fileExists(atPath: packages + "/aiontfy")
        })
    func homeAssistantsLibraryLogsInAndPublishes() async throws {
        let stage = try await MailboxStage()
        let token = try await add("home", stage)
        let script = """
            import asyncio, sys, aiohttp
            from aiontfy import Message, Ntfy
            async def main(server, topic, user, token):
                async with aiohttp.ClientSession() as session:
                    first = Ntfy(server, session, user, token)
                    account = await first.account()
                    made = await first.generate_token("Home Assistant")
                    ntfy = Ntfy(server, session, token=made.token)
                    assert (await ntfy.account()).username == account.username == user
                    assert (await Ntfy(server, session).account()).username == "*"
                    sent = await ntfy.publish(Message(topic=topic, message="It rains", title="Window",
                        tags=["umbrella"], priority=5))
                    print(sent.message, sent.title, sent.priority, sent.topic == topic)
                    for text in ("Open", "Closed"):
                        door = await ntfy.publish(Message(topic=topic, message=text, sequence_id="door"))
                        assert door.sequence_id == "door"
                    assert (await ntfy.clear(topic, "door")).event == "message_clear"
                    later = await ntfy.publish(Message(topic=topic, message="later", delay="30m"))
                    assert later.time > sent.time
                    assert (await ntfy.delete(topic, later.id)).event == "message_delete"
            asyncio.run(main(*sys.argv[1:]))
            """
        let server = String(stage.mailbox.url.dropLast(stage.mailbox.topic.count + 1))
        let arguments = ["/usr/bin/python3", "-c", script, server, stage.mailbox.topic, "home", token]
        let result = try await Task.detached {
            try run(arguments, environment: ["PYTHONPATH": Self.packages])
        }.value
        #expect(result.output == "It rains Window 5 True\n", "\(result.errors)")
        let shown = try await stage.receive(
            stage.newFile(), "--mailbox", stage.mailbox.file, "--once", "--json")
        #expect(shown.output.contains(#""title":"[home] Window""#), "\(shown.output)")
        #expect(shown.output.contains("Closed") && !shown.output.contains("Open"), "\(shown.output)")
        #expect(!shown.output.contains("later"), "\(shown.output)")
        await stage.close()
    }

    /// As long as ntfy takes it: it was refused at the port, and lost.
    @Test func aTextOfAHundredKilobytesIsShortenedAndNotLost() async throws {
        let stage = try await MailboxStage()
        let token = try await add("cron", stage)
        #expect(try await publish(String(repeating: "x", count: 100_000), token, stage) == "200")
        let reader = try #require(stage.mailbox.tokens["phone"])
        let poll = try await curl("-u", "phone:\(reader)", "\(stage.mailbox.url)/json?poll=1")
        #expect(poll.output.contains("xxx … (95944 more bytes were cut off)"), "\(poll.output)")
        await stage.close()
    }

    /// The request of Uptime Kuma 2.5.3 for a shop that is down, as axios sends it.
    @Test func uptimeKumasRequestRingsThePhone() async throws {
        let stage = try await MailboxStage()
        let token = try await add("kuma", stage)
        let server = String(stage.mailbox.url.dropLast(stage.mailbox.topic.count + 1))
        let body = """
            {"topic":"\(stage.mailbox.topic)","message":"connect ECONNREFUSED 192.0.2.1:443","priority":5,\
            "title":"Shop Down [Uptime-Kuma]","tags":["red_circle","group: web"],"actions":[{"action":"view",\
            "label":"Open Shop","url":"https://shop.example/"}]}
            """
        for login in ["Bearer \(token)", "Basic " + Data("kuma:\(token)".utf8).base64EncodedString()] {
            let answer = try await curl(
                "-H", "Accept: application/json, text/plain, */*", "-H", "Content-Type: application/json",
                "-H", "Authorization: \(login)", "-H", "User-Agent: axios/1.12.2", "-H",
                "Accept-Encoding: gzip, compress, deflate, br", "--data-binary", body, server)
            #expect(answer.output.hasSuffix("200"), "\(answer.output)")
        }
        let reader = try #require(stage.mailbox.tokens["phone"])
        let poll = try await curl("-u", "phone:\(reader)", "\(stage.mailbox.url)/json?poll=1")
        #expect(poll.output.ranges(of: #""click":"https://shop.example/""#).count == 2, "\(poll.output)")
        #expect(poll.output.contains(#""tags":["red_circle","group: web","from kuma"]"#), "\(poll.output)")
        await stage.close()
    }

    /// What is for later is neither lost by a kill, nor comes twice. Its time comes while the node is down.
    @Test func aTextForLaterSurvivesAKill() async throws {
        let stage = try await MailboxStage()
        let token = try await add("cron", stage)
        let answer = try await curl(
            "-H", "Authorization: Bearer \(token)", "-H", "In: 1h", "-d", "later", stage.mailbox.url)
        #expect(answer.output.hasSuffix("200"), "\(answer.output)")
        try stage.stage.signal(SIGKILL)
        await stage.stage.node.wait { $0.exit != nil }
        let script = """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            print(store.execute("UPDATE mailbox_delayed SET due_at = 1000").rowcount)
            store.commit()
            """
        let file = stage.stage.world.state + "/outbox.sqlite"
        #expect(try run(["/usr/bin/python3", "-c", script, file]).output == "1\n")
        for _ in 1...2 {
            try await stage.stage.start()
            #expect(try await stage.waiting(until: 1) == 1)
            try stage.stage.signal(SIGKILL)
            await stage.stage.node.wait { $0.exit != nil }
        }
        try await stage.stage.start()
        let shown = try await stage.receive(
            stage.newFile(), "--mailbox", stage.mailbox.file, "--once", "--json")
        #expect(shown.output.ranges(of: "later").count == 1, "\(shown.output)")
        await stage.close()
    }

    @Test(
        .enabled("apprise is not here: Deploy/tools/dependencies test") {
            FileManager.default.fileExists(atPath: packages + "/apprise")
        })
    func apprisePublishes() async throws {
        let stage = try await MailboxStage()
        let token = try await add("monitor", stage)
        let script = """
            import apprise, sys
            sender = apprise.Apprise()
            assert sender.add(sys.argv[1])
            sys.exit(0 if sender.notify(title="Disk", body="It is full", tag=None) else 1)
            """
        let place = "127.0.0.1:\(stage.port)/\(stage.mailbox.topic)"
        for login in ["monitor:\(token)", token] {
            let arguments = [
                "/usr/bin/python3", "-c", script, "ntfy://\(login)@\(place)?priority=high&tags=warning",
            ]
            let result = try await Task.detached {
                try run(arguments, environment: ["PYTHONPATH": Self.packages])
            }.value
            #expect(result.status == 0, "\(result.output)\(result.errors)")
        }
        let reader = try #require(stage.mailbox.tokens["phone"])
        let poll = try await curl("-u", "phone:\(reader)", "\(stage.mailbox.url)/json?poll=1")
        #expect(poll.output.ranges(of: #""title":"Disk","message":"It is full","priority":4"#).count == 2)
        #expect(poll.output.contains(#""tags":["warning","from monitor"]"#), "\(poll.output)")
        await stage.close()
    }

    /// Ten at once, while Bisq's come: none of Bisq's is lost, and all are in the order in which they were taken.
    @Test func tenScriptsAtOnceTakeNothingFromBisq() async throws {
        let stage = try await MailboxStage()
        var tokens: [String] = []
        for number in 1...10 { tokens.append(try await add("script\(number)", stage)) }
        let url = stage.mailbox.url
        await withTaskGroup { group in
            for token in tokens {
                group.addTask {
                    let requests = (1...12).flatMap { number in
                        (number > 1 ? ["--next"] : []) + [
                            "-s", "-o", "/dev/null", "-H", "Authorization: Bearer \(token)", "-d",
                            "text \(number)",
                            url,
                        ]
                    }
                    _ = try? run(["curl"] + requests)
                }
            }
            for number in 1...9 {
                #expect((try? await stage.send(try stage.mailbox.bisq1("bisq \(number)"))) == true)
            }
        }
        let reader = try stage.reader(stage.newFile(), "--mailbox", stage.mailbox.file)
        await reader.wait { reader in
            reader.titles.count { $0.hasPrefix("bisq ") } == 9 || reader.exit != nil
        }
        #expect(reader.titles.filter { $0.hasPrefix("bisq ") } == (1...9).map { "bisq \($0)" })
        let published = reader.shown.count { $0["kind"]?.string == "PUBLISHED" }
        #expect((1...100).contains(published), "60 at once, and one a second: \(published)")
        #expect(await reader.stop() == .exited(0))
        await stage.close()
    }
}
