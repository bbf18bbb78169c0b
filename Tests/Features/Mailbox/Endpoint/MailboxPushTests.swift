import Doors
import EndpointWorlds
import Foundation
import HTTP1
import JSONCoding
import Reactor
import Relay
import Testing

@testable import MailboxEndpoint

/// The mailboxes' door as a provider of UnifiedPush.
@EventLoop
@Suite(.serialized) struct MailboxPushTests {
    typealias World = MailboxDoorTests.World
    typealias Reader = MailboxDoorTests.Reader

    private let topic = "upAbCdEfGhIjKl"

    private func client(_ world: World) async throws -> HTTPClient { try await HTTPClient(world.endpoint) }

    /// A reader that has subscribed.
    private func subscribe(
        _ world: World, _ query: String = "?since=all", token: String = "tk_phone"
    ) async throws -> Reader {
        let reader = try await Reader(world, "/\(topic)/json\(query)", token: token)
        await reader.wait { $0.text.contains("open") }
        return reader
    }

    private func lines(_ reader: Reader) -> [JSON] {
        reader.text.split(separator: "\n").filter { $0.contains(#""event":"message""#) }.compactMap {
            // A chunk's length stands before it.
            try? JSON(Array($0[($0.firstIndex(of: "{") ?? $0.startIndex)...].utf8))
        }
    }

    @Test func serversFindThatItIsOne() async throws {
        let world = try await World()
        let client = try await client(world)
        #expect(await client.get("/\(topic)?up=1")?.text == "{\"unifiedpush\":{\"version\":1}}\n")
        #expect(
            await client.get("/_matrix/push/v1/notify")?.text
                == "{\"unifiedpush\":{\"gateway\":\"matrix\"}}\n")
        #expect(await client.ask("DELETE /\(topic) HTTP/1.1\r\nHost: x\r\n\r\n")?.status == 405)
        await world.close()
    }

    @Test func whatIsPushedComesAsItIs() async throws {
        let world = try await World()
        let client = try await client(world)
        let early = try #require(await client.post("/\(topic)?up=1", "too early"))
        #expect(early.status == 507 && early.text.contains("50701"))
        let reader = try await subscribe(world)
        let answer = try #require(
            await client.post("/\(topic)?up=1", "Grüße", fields: "TTL: 60\r\nUrgency: high\r\n"))
        #expect(answer.status == 201)
        let told = try JSON(answer.body)
        #expect(told["message"]?.string == "Grüße" && told["event"]?.string == "message")
        await reader.wait { self.lines($0).count == 1 }
        let line = try #require(lines(reader).first)
        #expect(line["message"]?.string == "Grüße" && line["id"]?.string == told["id"]?.string)
        #expect(line["priority"] == .integer(4) && line["topic"]?.string == topic)
        #expect(line["title"] == nil && line["encoding"] == nil)
        let bytes: [UInt8] = [0, 1, 0xFF, 0x80]
        let head = "POST /\(topic)?up=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
        #expect(await client.ask(Array(head.utf8) + bytes)?.status == 200)
        await reader.wait { self.lines($0).count == 2 }
        #expect(lines(reader).last?["encoding"]?.string == "base64")
        #expect(lines(reader).last?["message"]?.string == Data(bytes).base64EncodedString())
        await world.close()
    }

    /// A line is a message.
    @Test func asTextAPushIsOneLine() async throws {
        let world = try await World()
        let reader = try await Reader(world, "/\(topic)/raw")
        await reader.wait { $0.text.contains("\r\n\r\n1\r\n") }
        let client = try await client(world)
        #expect(await client.post("/\(topic)?up=1", "one\ntwo\r\nthree")?.status == 200)
        await reader.wait { $0.text.contains("three") }
        #expect(reader.text.contains("\r\none two  three\n\r\n"), "\(reader.text)")
        await world.close()
    }

    @Test func aTopicIsItsReadersAlone() async throws {
        let world = try await World()
        let client = try await client(world)
        func auth(_ token: String?) async -> Int? {
            await client.get(
                "/\(topic)/auth", fields: token.map { "Authorization: Bearer \($0)\r\n" } ?? "")?.status
        }
        #expect(await auth("tk_phone") == 200)
        #expect(await auth(nil) == 403)
        #expect(await auth("tk_nobody") == 401)
        #expect(await client.post("/\(topic)?up=1", "x")?.status == 507, "to be asked for makes none")
        _ = try await subscribe(world)
        #expect(await auth("tk_desk") == 403)
        #expect(await client.get("/\(topic)/json?poll=1")?.status == 403)
        #expect(await client.post("/\(topic)?up=1", "x")?.status == 200)
        // Together with a mailbox, in one request, as the app asks.
        let second = "upMnOpQrStUvWx"
        let both = try await Reader(world, "/mbmine,\(second),\(topic)/json")
        await both.wait { $0.text.contains("open") }
        #expect(await client.post("/\(second)?up=1", "x")?.status == 200)
        await world.close()
    }

    @Test(arguments: [
        ("TTL: x\r\n", 400), ("TTL: -1\r\n", 400), ("Urgency: loud\r\n", 400), ("Topic: a b\r\n", 400),
        ("Topic: \(String(repeating: "x", count: 33))\r\n", 400), ("TTL: 99999999999999999999\r\n", 201),
        ("TTL: 0\r\nUrgency: very-low\r\nTopic: x\r\n", 201),
    ])
    func fieldsAreThoseOfWebPush(fields: String, status: Int) async throws {
        let world = try await World()
        _ = try await subscribe(world)
        let client = try await client(world)
        #expect(await client.post("/\(topic)?up=1", "x", fields: fields)?.status == status)
        await world.close()
    }

    @Test func boundsHold() async throws {
        let world = try await World()
        _ = try await subscribe(world)
        let client = try await client(world)
        #expect(
            await client.post("/\(topic)?up=1", String(repeating: "x", count: 4096))?.status == 200)
        #expect(
            await client.post("/\(topic)?up=1", String(repeating: "x", count: 4097))?.status == 413)
        // Sixty at once, and one a second from then on, however slow the machine is.
        var status = 200
        var taken = 0
        while status == 200 {
            status = try #require(await client.post("/\(topic)?up=1", "x")).status
            taken += status == 200 ? 1 : 0
        }
        #expect(status == 429 && taken >= 58, "\(taken)")
        await world.close()
    }

    @Test func aPushReplacesTheOneBeforeOfItsTopic() async throws {
        let world = try await World()
        _ = try await subscribe(world, "?poll=1")
        let client = try await client(world)
        for (text, field) in [("1", "a"), ("2", "b"), ("3", "a")] {
            _ = await client.post("/\(topic)?up=1", text, fields: "Topic: \(field)\r\n")
        }
        let reader = try await Reader(world, "/\(topic)/json?poll=1")
        await reader.wait { $0.hasEnded }
        #expect(lines(reader).map { $0["message"]?.string } == ["2", "3"])
        await world.close()
    }

    @Test func matrixServersHearWhoIsGone() async throws {
        let world = try await World()
        let client = try await client(world)
        func push(_ key: String) async -> HTTPResponse? {
            await client.post(
                "/_matrix/push/v1/notify", #"{"notification":{"devices":[{"pushkey":"\#(key)"}]}}"#)
        }
        let key = "http://x.onion:8030/\(topic)?up=1"
        // Not yet: its reader may be on its way.
        for _ in 1...2 {
            let early = await push(key)
            #expect(early?.status == 507 && early?.text.contains("50701") == true)
        }
        let reader = try await subscribe(world)
        #expect(await push(key)?.text == "{\"rejected\":[]}\n")
        await reader.wait { self.lines($0).count == 1 }
        #expect(lines(reader).first?["message"]?.string?.contains("pushkey") == true)
        for bad in ["", "x", "http://x/?up=1"] {
            #expect(await push(bad)?.text == "{\"rejected\":[\"\(bad)\"]}\n")
        }
        #expect(await client.post("/_matrix/push/v1/notify", "{}")?.status == 400)
        await world.close()
    }

    /// A flood of topics costs its own reader the oldest, and nobody else.
    @Test func ofTooManyTopicsTheOldestThatNobodyReadsGoes() async throws {
        let world = try await World()
        let first = try await subscribe(world)
        let client = try await client(world)
        for number in 0...Mailbox.mostPushTopics {
            let digits = String(number)
            let name = "up" + String(repeating: "x", count: 12 - digits.count) + digits
            let reader = try await Reader(world, "/\(name)/json?poll=1")
            await reader.wait { $0.hasEnded }
        }
        #expect(await client.post("/\(topic)?up=1", "x")?.status == 200, "it is read")
        #expect(await client.post("/upxxxxxxxxxxx0?up=1", "x")?.status == 507, "the oldest")
        #expect(await client.post("/upxxxxxxxxxx50?up=1", "x")?.status == 200)
        await world.close()
        withExtendedLifetime(first) {}
    }

    /// Each of two new ones would take the other's place.
    @Test func whatDoesNotFitIsRefusedOnce() async throws {
        let world = try await World()
        let names = (10..<10 + Mailbox.mostPushTopics - 1).map { "upxxxxxxxxxx\($0)" }
        let held = try await Reader(world, "/\(names.joined(separator: ","))/json")
        await held.wait { $0.text.contains("open") }
        let two = try await Reader(world, "/upyyyyyyyyyyy1,upyyyyyyyyyyy2/json?poll=1")
        await two.wait { $0.text.contains("\r\n\r\n") }
        #expect(!two.text.contains("200 OK"))
        let one = try await Reader(world, "/upyyyyyyyyyyy3/json?poll=1")
        await one.wait { $0.hasEnded }
        #expect(one.text.contains("200 OK"))
        await world.close()
        withExtendedLifetime(held) {}
    }
}
