import Crypto
import Doors
import EndpointWorlds
import HTTP1
import JSONCoding
import Persistence
import Reactor
import Relay
import Testing

@testable import MailboxEndpoint

/// Texts of a mailbox's owner, published as to a server of ntfy.
@EventLoop
@Suite(.serialized) struct MailboxPublishTests {
    typealias World = MailboxDoorTests.World
    typealias Reader = MailboxDoorTests.Reader

    /// A world whose mailbox `mine` has a publisher, `cron`.
    private func world() async throws -> World {
        let world = try await World()
        try await world.publish(by: "cron", to: "mine")
        return world
    }

    private func ask(
        _ world: World, _ line: String, token: String? = "tk_cron", fields: String = "", _ body: String = ""
    ) async throws -> HTTPResponse {
        let client = try await HTTPClient(world.endpoint)
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return try #require(
            await client.ask(
                "\(line) HTTP/1.1\r\nHost: x\r\n\(authorization)\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            ))
    }

    /// The lines of a poll.
    private func poll(_ world: World, _ query: String = "", token: String = "tk_phone") async throws -> [JSON]
    {
        let reader = try await Reader(world, "/mbmine/json?poll=1\(query)", token: token)
        await reader.wait { $0.hasEnded }
        return reader.text.split(separator: "\n").filter { $0.contains(#""event":"message""#) }.compactMap {
            try? JSON(Array($0[($0.firstIndex(of: "{") ?? $0.startIndex)...].utf8))
        }
    }

    @Test func whatFieldsSayComesWithTheText() async throws {
        let world = try await world()
        let answer = try await ask(
            world, "POST /mbmine?tags=a,%20b",
            fields: "Title: Backup \u{e4}\r\nX-Priority: high\r\nClick: https://x/\r\nMarkdown: yes\r\n",
            "done")
        #expect(answer.status == 200)
        let told = try JSON(answer.body)
        let lines = try await poll(world)
        let line = try #require(lines.first)
        #expect(lines.count == 1 && line["id"]?.string == told["id"]?.string)
        for line in [told, line] {
            #expect(line["event"] == "message" && line["topic"] == "mbmine" && line["message"] == "done")
            #expect(
                line["title"] == "Backup \u{e4}" && line["priority"] == 4 && line["click"] == "https://x/")
            #expect(line["tags"] == .array(["a", "b", "from cron"]) && line["published"] == "cron")
            #expect(line["content_type"] == "text/markdown" && line["encrypted"] == nil)
        }
        let expires = try #require(line["expires"]?.integer), time = try #require(line["time"]?.integer)
        #expect(expires - time == 72 * 3600)
        await world.close()
    }

    /// What libraries send, with all their empty members.
    @Test func aBodyOfJSONSaysWhere() async throws {
        let world = try await world()
        let answer = try await ask(
            world, "POST /",
            #"{"topic":"mbmine","message":"m","title":null,"tags":["x"],"priority":5,"actions":[],"click":null,"attach":null,"markdown":false,"icon":null,"filename":null,"delay":null,"email":null,"call":null,"sequence_id":null}"#
        )
        #expect(answer.status == 200)
        let line = try #require(try await poll(world).first)
        #expect(line["message"] == "m" && line["priority"] == 5 && line["title"] == nil)
        #expect(line["tags"] == .array(["x", "from cron"]))
        await world.close()
    }

    /// As apprise writes it.
    @Test func fieldsHoldWhereABodyOfJSONSaysNothing() async throws {
        let world = try await world()
        let fields = "X-Priority: high\r\nX-Tags: a,b\r\nX-Title: head\r\nX-Icon: https://x.example/\r\n"
        let answer = try await ask(
            world, "POST /", fields: fields, #"{"topic":"mbmine","title":"body","message":"m","icon":null}"#)
        #expect(answer.status == 200)
        let line = try #require(try await poll(world).first)
        #expect(line["title"] == "body" && line["priority"] == 4 && line["icon"] == "https://x.example/")
        #expect(line["tags"] == .array(["a", "b", "from cron"]))
        let refused = try await ask(world, "POST /", fields: "X-Email: a@b\r\n", #"{"topic":"mbmine"}"#)
        #expect(refused.status == 400)
        await world.close()
    }

    @Test(arguments: [
        ("PUT /mbmine", "text", "text"), ("GET /mbmine/publish?message=a%20b", "", "a b"),
        ("GET /mbmine/trigger", "", "triggered"), ("POST /mbmine/send?m=a%5Cnb", "", "a\nb"),
        ("POST /mbmine", "", "triggered"),
    ]) func theTextIsWhereItsClientPutsIt(line: String, body: String, text: String) async throws {
        let world = try await world()
        #expect(try await ask(world, line, body).status == 200)
        #expect(try await poll(world).map { $0["message"]?.string } == [text])
        await world.close()
    }

    /// No capability is another one.
    @Test(
        arguments: [
            ("POST /mbmine", nil, 403, 40301), ("POST /mbmine", "tk_phone", 403, 40301),
            ("POST /mbmine", "tk_other", 401, 40101), ("POST /mbnone", "tk_cron", 403, 40301),
            ("POST /mbopen", "tk_cron", 403, 40301), ("POST /mbopen", nil, 403, 40301),
            ("GET /mbmine/json?poll=1", "tk_cron", 403, 40301), ("GET /mbmine/auth", "tk_cron", 403, 40301),
            ("GET /mbopen,mbmine/json?poll=1", "tk_cron", 403, 40301),
            ("GET /upaaaaaaaaaaaa/json?poll=1", "tk_cron", 403, 40301),
            ("POST /mbmine", "mb1:" + String(repeating: "a", count: 96), 401, 40101),
        ] as [(String, String?, Int, Int)])
    func noTokenIsGoodForMore(line: String, token: String?, status: Int, code: Int) async throws {
        let world = try await world()
        let answer = try await ask(world, line, token: token, line.hasPrefix("POST") ? "x" : "")
        #expect(answer.status == status, "\(String(decoding: answer.body, as: UTF8.self))")
        #expect(try JSON(answer.body)["code"] == .integer(Int64(code)))
        #expect(try await world.left() == [])
        await world.close()
    }

    /// Basic, with the publisher's name and with another one.
    @Test func aUserHasToBeThePublisher() async throws {
        let world = try await world()
        // cron:tk_cron, other:tk_cron
        for (pair, status) in [("Y3Jvbjp0a19jcm9u", 200), ("b3RoZXI6dGtfY3Jvbg==", 401)] {
            let answer = try await ask(
                world, "POST /mbmine", token: nil, fields: "Authorization: Basic \(pair)\r\n", "x")
            #expect(answer.status == status)
        }
        await world.close()
    }

    /// Nothing that would make a node fetch or send something, and nothing that passes for Bisq's.
    @Test(arguments: [
        ("POST /mbmine", "Attach: https://x/\r\n", "x", 40000),
        ("POST /mbmine", "Email: a@b\r\n", "x", 40000),
        ("POST /mbmine", "Call: yes\r\n", "x", 40000),
        ("POST /mbmine", "Actions: view, a, b\r\n", "x", 40000),
        ("POST /mbmine", "Delay: soon\r\n", "x", 40004), ("POST /mbmine", "In: 9s\r\n", "x", 40005),
        ("POST /mbmine", "At: 1700000000\r\n", "x", 40005), ("POST /mbmine?delay=73h", "", "x", 40006),
        ("POST /", "", #"{"topic":"mbmine","delay":"4 days"}"#, 40006),
        ("POST /mbmine", "X-Sequence-ID: a b\r\n", "x", 40049),
        ("POST /", "", #"{"topic":"mbmine","sequence_id":"a.b"}"#, 40049),
        ("POST /", "", #"{"topic":"mbmine","sequence_id":1}"#, 40017),
        ("POST /", "", #"{"topic":"mbmine","click":"a","actions":[{"action":"view","url":"b"}]}"#, 40000),
        ("POST /", "", #"{"topic":"mbmine","actions":[{"action":"http","url":"b"}]}"#, 40000),
        (
            "POST /", "",
            #"{"topic":"mbmine","actions":[{"action":"view","url":"b"},{"action":"view","url":"c"}]}"#, 40000
        ),
        ("POST /mbmine", "Filename: a\r\n", "x", 40000), ("POST /mbmine", "Icon: nonsense\r\n", "x", 40021),
        ("POST /", "", #"{"topic":"mbmine","icon":"nonsense"}"#, 40021),
        ("POST /mbmine", "Actions: http, a, https://x/\r\n", "x", 40000),
        ("POST /mbmine", "Click: a\r\nActions: view, a, https://x/\r\n", "x", 40000),
        ("POST /mbmine", "Message: a\r\n", "b", 40000), ("POST /mbmine", "Priority: 6\r\n", "x", 40007),
        ("POST /mbmine", "Priority: 1,2\r\n", "x", 40007), ("POST /mbmine", "Cache: no\r\n", "x", 40000),
        ("POST /mbmine", "", "BisqMessageAndroid|a|b", 40000),
        ("POST /mbmine", "", "BisqMessageiOS|a|b", 40000),
        ("POST /mbmine", "", #"OnionbellNotice|{"message":"m"}"#, 40000),
        ("POST /", "", "x", 40017), ("POST /", "", "[]", 40017), ("POST /", "", "{}", 40009),
        ("POST /", "", #"{"topic":"a b"}"#, 40009),
        ("POST /", "", #"{"topic":"mbmine","priority":"5"}"#, 40007),
        ("POST /", "", #"{"topic":"mbmine","priority":6}"#, 40007),
        ("POST /", "", #"{"topic":"mbmine","tags":"a"}"#, 40017),
        ("POST /", "", #"{"topic":"mbmine","message":1}"#, 40017),
        ("POST /", "", #"{"topic":"mbmine","actions":[{"action":"view"}]}"#, 40000),
        ("POST /", "", #"{"topic":"mbmine","attach":"https://x/"}"#, 40000),
        ("POST /", "", #"{"topic":"mbmine","message":"BisqMessageiOS|a|b"}"#, 40000),
    ]) func whatIsNotTakenIsRefusedByName(
        line: String, fields: String, body: String, code: Int
    ) async throws {
        let world = try await world()
        let answer = try await ask(world, line, fields: fields, body)
        #expect(answer.status == code / 100)
        #expect(try JSON(answer.body)["code"] == .integer(Int64(code)))
        #expect(try await world.left() == [])
        await world.close()
    }

    /// One button that opens an address is what a tap opens, in either form; `cache` is no member of ntfy's JSON.
    @Test func whatNtfyTakesInOneFormIsTakenInTheOther() async throws {
        let world = try await world()
        #expect(
            try await ask(world, "POST /mbmine", fields: "Actions: view, Open it, https://x/\r\n", "m").status
                == 200)
        #expect(
            try await ask(
                world, "POST /",
                #"{"topic":"mbmine","cache":"no","actions":[{"action":"view","label":"Open it","url":"https://x/"}]}"#
            ).status == 200)
        #expect(try await poll(world).map { $0["click"] } == ["https://x/", "https://x/"])
        await world.close()
    }

    /// Nothing is lost for its length: a longer message is cut between two characters, and says by how much.
    @Test func aLongMessageIsCutAndSaysSo() async throws {
        let world = try await world()
        let longest = String(repeating: "x", count: 4096)
        let long = String(repeating: "é", count: 3000)
        #expect(try await ask(world, "POST /mbmine", longest).status == 200)
        #expect(try await ask(world, "POST /mbmine", long).status == 200)
        #expect(
            try await ask(world, "POST /", #"{"topic":"mbmine","message":"\#(long)"}"#).status == 200)
        let messages = try await poll(world).compactMap { $0["message"]?.string }
        #expect(messages[0] == longest)
        for message in messages.dropFirst() {
            #expect(message.utf8.count <= 4096 && message.hasPrefix("éé"))
            #expect(message.hasSuffix("é … (1944 more bytes were cut off)"))
        }
        #expect(messages.count == 3)
        await world.close()
    }

    /// The webhooks of three services, as ntfy's own templates take them; a template of the sender's own is refused.
    @Test func webhooksWithATemplateAreRead() async throws {
        let world = try await world()
        let label = String(repeating: "l", count: 600)
        let alert =
            #"{"status":"firing","labels":{"alertname":"DiskFull","instance":"db1:9100","severity":"page","x":"\#(label)"},"annotations":{"summary":"5 % left"},"startsAt":"2026-11-28T10:00:00Z","endsAt":"0001-01-01T00:00:00Z"}"#
        let alerts = (0..<10).map { _ in alert }.joined(separator: ",")
        let body = #"{"version":"4","status":"firing","receiver":"phones","alerts":[\#(alerts)]}"#
        #expect(body.utf8.count > 5600)
        #expect(try await ask(world, "POST /mbmine?template=alertmanager", body).status == 200)
        #expect(
            try await ask(
                world, "POST /mbmine", fields: "X-Template: grafana\r\n",
                #"{"status":"resolved","title":"[RESOLVED] CPU","message":"back to 3 %"}"#
            ).status == 200)
        #expect(
            try await ask(
                world, "POST /mbmine?tpl=github",
                #"{"action":"opened","repository":{"full_name":"a/b"},"sender":{"login":"ada"},"pull_request":{"number":7,"title":"Fix it","html_url":"https://x/7"}}"#
            ).status == 200)
        let lines = try await poll(world)
        #expect(
            lines.map { $0["title"]?.string } == [
                "🚨 Alert: DiskFull", "✅ Resolved: [RESOLVED] CPU", "[a/b] Pull request #7 opened: Fix it",
            ])
        let message = try #require(lines[0]["message"]?.string)
        #expect(
            message.hasPrefix("Status: firing\nReceiver: phones\n\nAlert: DiskFull\nInstance: db1:9100\n"))
        #expect(lines[1]["message"] == "back to 3 %")
        #expect(lines[2]["message"] == "By: ada\nLink: https://x/7")
        for (line, body, code) in [
            ("POST /mbmine?template=alertmanager", "x", 40017),
            ("POST /mbmine?template=grafana", "{}", 40017),
            ("POST /mbmine?template=yes", "{}", 40000), ("POST /mbmine?tpl=other", "{}", 40000),
            ("POST /?template=grafana", #"{"topic":"mbmine"}"#, 40000),
        ] {
            #expect(
                try JSON(try await ask(world, line, body).body)["code"] == .integer(Int64(code)), "\(line)")
        }
        await world.close()
    }

    /// A text lies sealed, and is good for its message only.
    @Test func theStoreDoesNotShowIt() async throws {
        let world = try await world()
        #expect(try await ask(world, "POST /mbmine", "a secret of the house").status == 200)
        let kept = try #require(try await world.left().first)
        #expect(!kept.contains("secret") && !kept.contains("message"))
        let digests = MailboxDigests(key: Secret([UInt8](repeating: 1, count: 32)))
        let id = try #require(try await poll(world).first?["id"]?.string)
        #expect(digests.open(kept, id: id, topic: "mbmine")?.message == "a secret of the house")
        #expect(digests.open(kept, id: "abcdefghijkl", topic: "mbmine") == nil)
        #expect(digests.open(kept, id: id, topic: "mbopen") == nil)
        await world.close()
    }

    /// Scripts gone wild take nothing from Bisq, and keep to their own share.
    @Test func neitherTakesTheOthersRoom() async throws {
        let world = try await world()
        var bisq: [String] = []
        for _ in 1...3 { bisq.append(try await world.send()) }
        // A burst is bounded, however long it takes here.
        var status = 200
        while status != 429 {
            status = try await ask(world, "POST /mbmine", "script").status
            #expect(status == 200 || status == 429)
        }
        #expect(try await world.send().isEmpty == false)
        let lines = try await poll(world)
        #expect(lines.filter { $0["published"] == nil }.count == 4)
        await world.close()
    }

    @Test func aRemovedPublisherPublishesNoMore() async throws {
        let world = try await world()
        #expect(try await ask(world, "POST /mbmine", "a").status == 200)
        try await world.removePublisher("cron", from: "mine")
        #expect(try await ask(world, "POST /mbmine", "b").status == 401)
        #expect(try await poll(world).map { $0["message"]?.string } == ["a"])
        await world.close()
    }

    // MARK: Accounts

    /// What Home Assistant asks before it sets a server up.
    @Test func aClientIsToldWhoItIs() async throws {
        let world = try await world()
        for (token, name, role) in [
            ("tk_phone", "phone", "user"), ("tk_cron", "cron", "user"), (nil, "*", "anonymous"),
        ] {
            let answer = try await ask(world, "GET /v1/account", token: token)
            let account = try JSON(answer.body)
            #expect(answer.status == 200 && account["username"]?.string == name)
            #expect(account["role"]?.string == role && account["stats"]?["messages_remaining"] == 0)
        }
        #expect(try await ask(world, "GET /v1/account", token: "tk_other").status == 401)
        let made = try await ask(world, "POST /v1/account/token", #"{"label":"Home Assistant","expires":0}"#)
        #expect(try made.status == 200 && JSON(made.body)["token"] == "tk_cron")
        #expect(try await ask(world, "POST /v1/account/token", token: nil, "{}").status == 401)
        #expect(try await ask(world, "POST /v1/account/token", token: "tk_other", "{}").status == 401)
        #expect(try await ask(world, "DELETE /v1/account/token").status == 405)
        await world.close()
    }
}

extension MailboxDoorTests.World {
    /// Its token is `tk_` and its name.
    func publish(by name: String, to mailbox: String) async throws {
        let digests = MailboxDigests(key: Secret([UInt8](repeating: 1, count: 32)))
        do {
            let file = try RegistrationFile(path: path + "/outbox.sqlite", isReadOnly: false)
            let publisher = Mailbox.Publisher(name: name, token: digests.token("tk_\(name)"))
            #expect(try file.add(publisher, to: mailbox, addedAt: 1) == .added)
        }
        door.use(try await store.all(unless: nil)?.mailboxes ?? [])
    }

    func removePublisher(_ name: String, from mailbox: String) async throws {
        do {
            let file = try RegistrationFile(path: path + "/outbox.sqlite", isReadOnly: false)
            #expect(try file.removePublisher(name, from: mailbox))
        }
        door.use(try await store.all(unless: nil)?.mailboxes ?? [])
    }
}
