import Clocks
import Doors
import EndpointWorlds
import HTTP1
import JSONCoding
import Reactor
import Relay
import Testing

@testable import MailboxEndpoint

/// What ntfy's own clients ask for and expect, row by row.
@EventLoop
@Suite(.serialized) struct NtfyTableTests {
    typealias World = MailboxDoorTests.World
    typealias Reader = MailboxDoorTests.Reader

    nonisolated static let topic = "upAbCdEfGhIjKl"

    private func client(_ world: World) async throws -> HTTPClient { try await HTTPClient(world.endpoint) }

    /// What a poll of these topics brings: the messages that were pushed.
    private func poll(_ world: World, _ target: String, token: String? = "tk_phone") async throws -> [JSON] {
        let reader = try await Reader(world, target, token: token)
        await reader.wait { $0.hasEnded }
        #expect(reader.text.contains("HTTP/1.1 200"), "\(reader.text)")
        return reader.text.split(separator: "\n").filter { $0.contains(#""event":"message""#) }.compactMap {
            try? JSON(Array($0[($0.firstIndex(of: "{") ?? $0.startIndex)...].utf8))
        }
    }

    // MARK: Errors

    /// An error of this endpoint, whoever finds it, is an object that clients of ntfy read.
    @Test(
        arguments: [
            ("GET /", 404, 40401, nil), ("GET /mbmine/xml", 404, 40401, nil),
            ("POST /", 400, 40017, "publish/#publish-as-json"),
            ("PUT /mbmine", 403, 40301, "publish/#authentication"),
            ("POST /mbmine/trigger", 403, 40301, "publish/#authentication"),
            ("DELETE /v1/account", 405, 40500, nil), ("GET /config.js", 404, 40401, nil),
            ("GET /v1/stats", 404, 40401, nil), ("GET /v1/version", 404, 40401, nil),
            ("DELETE /\(topic)", 405, 40500, nil), ("POST /mbmine/json", 405, 40500, nil),
            ("POST /v1/health", 405, 40500, nil), ("PUT /v1/replies/\(channel)", 405, 40500, nil),
            ("GET /mbopen/json?since=x", 400, 40008, "subscribe/api/#fetch-cached-messages"),
            ("GET /mbopen/json?priority=abc", 400, 40007, "publish/#message-priority"),
            ("GET /mbopen/ws", 400, 40016, "subscribe/api/#websockets"),
            ("GET /mbopen/json?%zz", 400, 40024, nil),
            ("GET /mbopen/auth?auth=eA", 401, 40101, "publish/#authentication"),
            ("GET /mbmine/auth", 403, 40301, "publish/#authentication"),
            ("POST /_matrix/push/v1/notify", 400, 40019, "publish/#matrix-gateway"),
            ("POST /\(topic)?up=1", 507, 50701, nil), ("GET /a b/json", 400, 40000, nil),
            ("GET / HTTP/3", 400, 40000, nil), ("GET /%", 404, 40401, nil),
        ] as [(String, Int, Int, String?)])
    func anErrorHasTheFormOfNtfys(line: String, status: Int, code: Int, link: String?) async throws {
        let world = try await World()
        let client = try await client(world)
        let answer = try #require(await client.ask("\(line) HTTP/1.1\r\nHost: x\r\n\r\n"))
        try check(answer, status: status, code: code, link: link)
        await world.close()
    }

    private func check(_ answer: HTTPResponse, status: Int, code: Int, link: String? = nil) throws {
        #expect(answer.status == status)
        let error = try JSON(answer.body)
        #expect(error["code"] == .integer(Int64(code)) && error["http"] == .integer(Int64(status)))
        #expect(error["error"]?.string?.isEmpty == false)
        #expect(error["link"]?.string == link.map { "https://ntfy.sh/docs/\($0)" })
        #expect(answer.fields["content-type"] == "application/json")
        #expect(answer.fields["access-control-allow-origin"] == "*")
    }

    private nonisolated static let channel = String(repeating: "c", count: 32)

    /// What is no request, and what is too long for one.
    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 400, 40000), ("GET / HTTP/4.0\r\nHost: x\r\n\r\n", 505, 50500),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413, 41301),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 100_000))\r\n\r\n", 431, 43100),
    ]) func whatIsNoRequestIsToldInTheSameForm(bytes: String, status: Int, code: Int) async throws {
        let world = try await World()
        let client = try await client(world)
        let answer = try #require(await client.ask(bytes))
        try check(answer, status: status, code: code, link: status == 413 ? "publish/#limitations" : nil)
        await world.close()
    }

    // MARK: Several topics

    /// One id stands for all topics of a request, also when its message has gone since.
    @Test func whatWasSeenOfSeveralTopicsDoesNotComeAgain() async throws {
        let world = try await World()
        let topics = ["upaaaaaaaaaaaa", "upcccccccccccc"]
        let both = "/\(topics.joined(separator: ","))/json?poll=1"
        #expect(try await poll(world, both).isEmpty)
        let client = try await client(world)
        for number in 1...6 { _ = await client.post("/\(topics[number % 2])?up=1", "\(number)") }
        let all = try await poll(world, both + "&since=all")
        #expect(all.map { $0["message"]?.string } == ["1", "2", "3", "4", "5", "6"])
        let ids = all.compactMap { $0["id"]?.string }
        let rest = try await poll(world, both + "&since=\(ids[3])")
        #expect(rest.map { $0["message"]?.string } == ["5", "6"])
        for _ in 1...3 { #expect(try await poll(world, both + "&since=\(ids[5])").isEmpty) }
        #expect(try await world.store.held().messages == 0, "all of it is acknowledged")
        _ = await client.post("/\(topics[0])?up=1", "7")
        #expect(
            try await poll(world, both + "&since=\(ids[5])").map { $0["message"]?.string } == ["7"])
        await world.close()
    }

    @Test func ofOpenMailboxesNothingComesAgainEither() async throws {
        let world = try await World()
        for number in 1...4 { try await world.send(to: number.isMultiple(of: 2) ? world.openAddress : nil) }
        let all = try await poll(world, "/mbopen,mbmine/json?poll=1")
        #expect(all.map { $0["encrypted"]?.string } == ["text 1", "text 2", "text 3", "text 4"])
        for (seen, wanted) in [(3, []), (2, ["text 4"]), (1, ["text 3", "text 4"])] {
            let id = try #require(all[seen]["id"]?.string)
            let rest = try await poll(world, "/mbopen,mbmine/json?poll=1&since=\(id)")
            #expect(rest.map { $0["encrypted"]?.string } == wanted)
        }
        let unknown = try await poll(world, "/mbopen,mbmine/json?poll=1&since=neverwasthis")
        let texts = unknown.compactMap { $0["encrypted"]?.string }
        #expect(texts.contains("text 2"), "an id known in none: all")
        await world.close()
    }

    /// A topic that a reader takes up loses nothing of what waits there by what it says of another one.
    @Test func whatAReaderWasNeverSentItHasNotAcknowledged() async throws {
        let world = try await World()
        let client = try await client(world)
        for topic in ["upaaaaaaaaaaaa", "upcccccccccccc"] {
            #expect(try await poll(world, "/\(topic)/json?poll=1").isEmpty)
        }
        _ = await client.post("/upcccccccccccc?up=1", "waits")
        _ = await client.post("/upaaaaaaaaaaaa?up=1", "seen")
        let seen = try await poll(world, "/upaaaaaaaaaaaa/json?poll=1")
        let id = try #require(seen.last?["id"]?.string)
        #expect(try await poll(world, "/upaaaaaaaaaaaa,upcccccccccccc/json?poll=1&since=\(id)").isEmpty)
        let waits = try await poll(world, "/upcccccccccccc/json?poll=1&since=all")
        #expect(waits.map { $0["message"]?.string } == ["waits"])
        await world.close()
    }

    // MARK: Filters

    @Test(arguments: [
        ("message=two+words", ["two words"]), ("message=two%20words", ["two words"]),
        ("message=one%2Bone", ["one+one"]), ("m=one+one", ["one one"]), ("message=two+", []),
        ("p=default", ["two words", "one+one", "one one"]), ("p=4,+5", []),
        ("p=", ["two words", "one+one", "one one"]),
    ]) func aPlusSignOfAFormIsABlank(query: String, found: [String]) async throws {
        let world = try await World()
        #expect(try await poll(world, "/\(Self.topic)/json?poll=1").isEmpty)
        let client = try await client(world)
        for text in ["two words", "one+one", "one one"] { _ = await client.post("/\(Self.topic)?up=1", text) }
        let lines = try await poll(world, "/\(Self.topic)/json?poll=1&\(query)")
        #expect(lines.map { $0["message"]?.string } == found)
        await world.close()
    }

    // MARK: Publishing

    /// What a topic of UnifiedPush does not have is refused by its name, wherever it stands.
    @Test(arguments: [
        ("title", ["X-Title", "title", "ti", "t"]), ("priority", ["X-Priority", "Priority", "prio", "p"]),
        ("tags", ["X-Tags", "tags", "tag", "ta"]),
        ("delay", ["X-Delay", "delay", "X-At", "at", "X-In", "in"]),
        ("email", ["X-Email", "X-E-Mail", "email", "e-mail", "mail", "e"]), ("call", ["X-Call", "call"]),
        ("attach", ["X-Attach", "attach", "a"]), ("actions", ["X-Actions", "actions", "action"]),
        ("icon", ["X-Icon", "icon"]), ("click", ["X-Click", "click"]),
        ("markdown", ["X-Markdown", "markdown", "md"]), ("no-cache", ["X-Cache", "cache"]),
        ("filename", ["X-Filename", "filename", "file", "f"]), ("message", ["X-Message", "message", "m"]),
        ("template", ["X-Template", "template", "tpl"]),
    ]) func anOptionIsRefusedByItsName(option: String, names: [String]) async throws {
        let world = try await World()
        let reader = try await Reader(world, "/\(Self.topic)/json")
        await reader.wait { $0.text.contains("open") }
        let client = try await client(world)
        let value = ["markdown": "yes", "no-cache": "no", "priority": "5"][option] ?? "30m"
        for name in names {
            for (target, fields) in [
                ("/\(Self.topic)?up=1", "\(name): \(value)\r\n"),
                ("/\(Self.topic)?up=1&\(name.lowercased())=\(value)", ""),
            ] {
                let answer = try #require(await client.post(target, "x", fields: fields))
                try check(answer, status: 400, code: 40000)
                #expect(try JSON(answer.body)["error"]?.string?.contains(option) == true, "\(name)")
            }
        }
        #expect(reader.messages.isEmpty)
        #expect(try await world.store.held().messages == 0)
        await world.close()
    }

    /// What pushers really send beside the message.
    @Test(arguments: [
        ("", 200), ("TTL: 2419200\r\n", 201), ("TTL: 0\r\nUrgency: HIGH\r\n", 201),
        ("TTL: 60\r\nUrgency: Very-Low\r\nTopic: abc-_9\r\n", 201), ("Urgency: nOrMaL\r\n", 200),
        ("TTL: 60\r\nContent-Encoding: aes128gcm\r\nContent-Type: application/octet-stream\r\n", 201),
        ("TTL: 60\r\nAuthorization: vapid t=a.b.c, k=d\r\nCrypto-Key: dh=a\r\nEncryption: salt=b\r\n", 201),
        ("Priority: u=1, i\r\n", 200), ("Priority: u=4\r\n", 200), ("Priority: i\r\n", 200),
        ("Cache-Control: no-cache\r\nUser-Agent: x\r\nAccept: */*\r\n", 200), ("X-UnifiedPush: 1\r\n", 200),
        ("Cache: yes\r\nMarkdown: no\r\nFirebase: no\r\nTitle: \r\n", 200),
    ]) func whatPushersSendIsTaken(fields: String, status: Int) async throws {
        let world = try await World()
        let reader = try await Reader(world, "/\(Self.topic)/json")
        await reader.wait { $0.text.contains("open") }
        let client = try await client(world)
        for target in ["/\(Self.topic)?up=1", "/\(Self.topic)"] {
            let answer = try #require(await client.post(target, "x", type: nil, fields: fields))
            #expect(answer.status == status, "\(answer.text)")
            let id = try #require(try JSON(answer.body)["id"]?.string)
            guard status == 201 else {
                #expect(answer.fields["location"] == nil)
                continue
            }
            // Whoever may read finds the message there, if it was not replaced since.
            let location = try #require(answer.fields["location"])
            #expect(try await poll(world, location).map { $0["id"]?.string } == [id])
        }
        await world.close()
    }

    /// Whoever pushes too much is told when to come again.
    @Test func tooMuchHasItsTime() async throws {
        let world = try await World()
        let reader = try await Reader(world, "/\(Self.topic)/json")
        await reader.wait { $0.text.contains("open") }
        let client = try await client(world)
        var answer: HTTPResponse
        repeat {
            answer = try #require(await client.post("/\(Self.topic)?up=1", "x"))
        } while answer.status == 200
        try check(answer, status: 429, code: 42901, link: "publish/#limitations")
        #expect(answer.fields["retry-after"] == "1")
        await world.close()
    }

    // MARK: Matrix

    /// An app has its endpoint before its distributor's subscription has come: a pusher is not given up for that.
    @Test func aTopicThatNobodyHasSubscribedToYetIsNotRejected() throws {
        func hour(_ number: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: number * 3_600_000_000_000) }
        var topics = UnknownTopics()
        func noteMissing(_ topic: Digest, by sender: Int, at time: MonotonicTime) -> Bool {
            topics.noteMissing(topic, by: sender, at: time)
        }
        let topic = Digest(high: 1, low: 1)
        #expect(!noteMissing(topic, by: 1, at: hour(1)))
        #expect(!noteMissing(topic, by: 2, at: hour(13) - .nanoseconds(1)))
        #expect(noteMissing(topic, by: 2, at: hour(13)))
        topics.clean(at: hour(14)) { _ in false }
        #expect(noteMissing(topic, by: 1, at: hour(14)))
        // It was read meanwhile.
        topics.clean(at: hour(14)) { $0 == topic }
        #expect(topics.count == 0 && !noteMissing(topic, by: 1, at: hour(14)))
        topics.clean(at: hour(38)) { _ in false }
        #expect(topics.count == 0, "nobody pushes to it any more")
    }

    @Test func aFloodOfTopicsHasItsShare() {
        var topics = UnknownTopics()
        func noteMissing(_ topic: Digest, by sender: Int, at time: MonotonicTime) -> Bool {
            topics.noteMissing(topic, by: sender, at: time)
        }
        for number in 0..<10_000 {
            #expect(!noteMissing(Digest(high: 2, low: UInt64(number)), by: 7, at: 0))
        }
        #expect(topics.count == UnknownTopics.mostOfOneSender)
        #expect(!noteMissing(Digest(high: 1, low: 1), by: 8, at: 0))
        #expect(
            noteMissing(
                Digest(high: 1, low: 1), by: 8, at: MonotonicTime(nanoseconds: 0) + UnknownTopics.patience))
        for number in 0..<100_000 {
            #expect(!noteMissing(Digest(high: 3, low: UInt64(number)), by: number, at: 0))
        }
        #expect(topics.count == UnknownTopics.most)
        #expect(!noteMissing(Digest(high: 3, low: 99_999), by: 99_999, at: .max), "not remembered")
    }
}
