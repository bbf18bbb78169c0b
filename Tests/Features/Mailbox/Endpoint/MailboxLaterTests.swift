import Clocks
import Doors
import EndpointWorlds
import HTTP1
import JSONCoding
import Reactor
import Relay
import Testing

@testable import MailboxEndpoint

/// Texts that are published for later, that stand for earlier ones, or that take them away.
@EventLoop
@Suite(.serialized) struct MailboxLaterTests {
    typealias World = MailboxDoorTests.World
    typealias Reader = MailboxDoorTests.Reader

    private func world() async throws -> World {
        let world = try await World()
        for name in ["cron", "other"] { try await world.publish(by: name, to: "mine") }
        return world
    }

    private func ask(
        _ world: World, _ line: String, by name: String = "cron", fields: String = "", _ body: String = ""
    ) async throws -> JSON {
        let client = try await HTTPClient(world.endpoint)
        let answer = try #require(
            await client.ask(
                "\(line) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tk_\(name)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            ))
        let json = try JSON(answer.body)
        #expect(answer.status == 200, "\(json.text)")
        return json
    }

    /// All lines of a poll, without its ends of chunks.
    private func poll(_ world: World, _ query: String = "") async throws -> [JSON] {
        let reader = try await Reader(world, "/mbmine/json?poll=1\(query)")
        await reader.wait { $0.hasEnded }
        return reader.text.split(separator: "\n").filter { $0.contains(#""event""#) }.compactMap {
            try? JSON(Array($0[($0.firstIndex(of: "{") ?? $0.startIndex)...].utf8))
        }
    }

    private func texts(_ world: World) async throws -> [String] {
        try await poll(world).map { $0["message"]?.string ?? $0["event"]?.string ?? "" }
    }

    // MARK: Later

    /// As ntfy says it: the time of the message is that at which it comes.
    @Test(arguments: [
        ("In: 30m", 1800), ("X-Delay: 1h30m", 5400), ("At: 2 days", 172_800), ("Delay: 1.5h", 5400),
        ("In: =?utf-8?q?10s?=", 10),
    ]) func aTextForLaterIsNotThereYet(field: String, seconds: Int64) async throws {
        let world = try await world()
        let before = EventLoop.unixMilliseconds / 1000
        let told = try await ask(world, "POST /mbmine", fields: field + "\r\n", "later")
        let after = EventLoop.unixMilliseconds / 1000
        let time = try #require(told["time"]?.integer)
        #expect((before + seconds...after + seconds).contains(time) && told["message"] == "later")
        #expect(told["expires"] == .integer(time + 72 * 3600))
        #expect(try await poll(world).isEmpty)
        await world.close()
    }

    @Test func aTimeAndABodyOfJSONDoAsWell() async throws {
        let world = try await world()
        let time = EventLoop.unixMilliseconds / 1000 + 600
        #expect(try await ask(world, "POST /mbmine?at=\(time)", "x")["time"] == .integer(time))
        let told = try await ask(world, "POST /", #"{"topic":"mbmine","message":"m","delay":"\#(time)"}"#)
        #expect(told["time"] == .integer(time))
        #expect(try await poll(world).isEmpty)
        await world.close()
    }

    /// Whoever reads gets it when it is due.
    @Test func atItsTimeItComes() async throws {
        let world = try await world()
        let reader = try await Reader(world, "/mbmine/json")
        await reader.wait { $0.text.contains(#""event":"open""#) }
        let digests = world.door.digests
        var text = PublishedText(.delete, of: "job")
        text.publisher = "cron"
        let due = EventLoop.unixMilliseconds + 50
        let message = MailboxMessage(
            id: "aaaaaaaaaaaa", acceptedAt: UnixTime(milliseconds: due),
            expiresAt: UnixTime(milliseconds: due + 60_000), isUrgent: false,
            text: try #require(digests.seal(text, id: "aaaaaaaaaaaa", topic: "mbmine")), isPublished: true,
            delayedBy: digests.token("tk_cron"))
        let put = try await world.door.put(
            message, atAddress: digests.address(world.address), keeping: nil)
        #expect(put == .stored(1))
        world.door.delays.note(due)
        await reader.wait { $0.text.contains("cron.job") }
        #expect(reader.text.contains(#""time":\#(due / 1000),"#))
        #expect(reader.text.contains(#""event":"message_delete""#))
        await world.close()
    }

    /// One that a name stands for is set anew, or taken back, before it comes.
    @Test func whatWaitsIsChangedAndTakenBack() async throws {
        let world = try await world()
        func waiting() async throws -> Int64? {
            try await world.store.deliver(dueAt: 0, within: MailboxBounds()).next
        }
        _ = try await ask(world, "POST /mbmine/job", "now")
        let first = try await ask(world, "POST /mbmine/job", fields: "In: 1h\r\n", "later")["time"]?.integer
        #expect(try await waiting() == first.map { $0 * 1000 } || first != nil)
        let second = try await ask(world, "POST /mbmine/job", fields: "In: 2h\r\n", "later")["time"]?.integer
        let left = try #require(try await waiting())
        #expect(left / 1000 == second)
        #expect(try await texts(world) == ["now"], "what is there stays until the other comes")
        // Another publisher's name is another name.
        _ = try await ask(world, "DELETE /mbmine/job", by: "other")
        #expect(try await waiting() == left)
        _ = try await ask(world, "DELETE /mbmine/job")
        #expect(try await waiting() == nil)
        await world.close()
    }

    // MARK: Names

    @Test func theNewestOfANameIsKeptAndKnownByIt() async throws {
        let world = try await world()
        try await world.send()
        let told = try await ask(world, "POST /mbmine", fields: "X-Sequence-ID: job\r\n", "1 %")
        #expect(told["sequence_id"] == "job")
        _ = try await ask(world, "POST /mbmine", "another")
        _ = try await ask(world, "PUT /mbmine/job", "2 %")
        _ = try await ask(world, "POST /mbmine/job", by: "other", "of another")
        _ = try await ask(world, "POST /", #"{"topic":"mbmine","message":"3 %","sequence_id":"job"}"#)
        let lines = try await poll(world)
        #expect(
            lines.map { $0["message"]?.string } == [BisqContent.bell, "another", "of another", "3 %"])
        let id = try #require(lines[1]["id"]?.string)
        #expect(
            lines.map { $0["sequence_id"]?.string } == [nil, "cron.\(id)", "other.job", "cron.job"])
        // By the id of one that has no name.
        let update = try await ask(world, "POST /mbmine/\(id)", "instead")
        #expect(update["sequence_id"]?.string == id)
        #expect(try await texts(world) == [BisqContent.bell, "of another", "3 %", "instead"])
        await world.close()
    }

    /// Readers that have seen a text are told; those that have not never see it.
    @Test func aDeletionIsToldAndTakesOnlyItsOwn() async throws {
        let world = try await world()
        let id = try await world.send()
        _ = try await ask(world, "POST /mbmine/job", "1 %")
        let told = try await ask(world, "DELETE /mbmine/job")
        #expect(told["event"] == "message_delete" && told["sequence_id"] == "job")
        #expect(told["message"] == nil && told["priority"] == nil && told["tags"] == nil)
        _ = try await ask(world, "DELETE /mbmine/\(id)")
        let lines = try await poll(world)
        #expect(lines.map { $0["event"]?.string } == ["message", "message_delete", "message_delete"])
        #expect(lines[0]["id"]?.string == id, "no publisher deletes what is Bisq's")
        // It is no name that a reader knows a text of Bisq's by.
        #expect(lines[2]["sequence_id"]?.string == "cron.\(id)")
        await world.close()
    }

    @Test(arguments: ["PUT /mbmine/job/clear", "PUT /mbmine/job/read", "GET /mbmine/job/clear"])
    func whatIsClearedStays(line: String) async throws {
        let world = try await world()
        _ = try await ask(world, "POST /mbmine/job", "1 %")
        for _ in 1...3 {
            let told = try await ask(world, line)
            #expect(told["event"] == "message_clear" && told["sequence_id"] == "job")
        }
        #expect(try await texts(world) == ["1 %", "message_clear"])
        // A filter is for messages.
        #expect(try await poll(world, "&title=none").map { $0["event"]?.string } == ["message_clear"])
        await world.close()
    }

    @Test(arguments: [
        ("POST", "/mbmine/a.b"), ("DELETE", "/mbmine"), ("DELETE", "/mbmine/a/b"),
        ("POST", "/mbmine/a/clear"),
        ("DELETE", "/mbmine/json"), ("POST", "/mbmine/ws"),
        ("POST", "/mbmine/" + String(repeating: "a", count: 65)),
    ]) func noOtherPathIsTaken(method: String, path: String) async throws {
        let world = try await world()
        let client = try await HTTPClient(world.endpoint)
        let answer = try #require(
            await client.ask(
                "\(method) \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tk_cron\r\nContent-Length: 0\r\n\r\n"
            ))
        #expect([404, 405].contains(answer.status), "\(answer.status)")
        #expect(try await world.left().isEmpty)
        await world.close()
    }

    // MARK: Clients

    /// As Uptime Kuma 2.5.3 posts it, which sends the address of what it watches as a button.
    @Test func aButtonThatShowsAnAddressIsWhatATapOpens() async throws {
        let world = try await world()
        _ = try await ask(
            world, "POST /",
            #"{"topic":"mbmine","message":"connect ECONNREFUSED","priority":5,"title":"Shop Down [Uptime-Kuma]","tags":["red_circle"],"actions":[{"action":"view","label":"Open Shop","url":"https://shop.example/"}]}"#
        )
        let line = try #require(try await poll(world).first)
        #expect(line["click"] == "https://shop.example/" && line["title"] == "Shop Down [Uptime-Kuma]")
        #expect(line["priority"] == 5 && line["tags"] == .array(["red_circle", "from cron"]))
        await world.close()
    }

    @Test func encodedFieldsAreRead() async throws {
        let world = try await world()
        _ = try await ask(
            world, "POST /mbmine",
            fields: "Title: =?UTF-8?B?R3LDvMOfZQ==?=\r\nTags: =?utf-8?q?=c3=a4,b?=\r\n", "x")
        let line = try #require(try await poll(world).first)
        #expect(line["title"] == "Gr\u{fc}\u{df}e" && line["tags"] == .array(["\u{e4}", "b", "from cron"]))
        await world.close()
    }
}
