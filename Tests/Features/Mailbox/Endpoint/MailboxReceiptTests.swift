import Doors
import EndpointWorlds
import Foundation
import HTTP1
import JSONCoding
import Persistence
import Reactor
import Relay
import Testing

@testable import MailboxEndpoint

/// What readers acknowledge: what they were sent, and nothing else.
@EventLoop
@Suite(.serialized) struct MailboxReceiptTests {
    typealias World = MailboxDoorTests.World
    typealias Reader = MailboxDoorTests.Reader

    private let sockets = MailboxSocketTests()

    /// A world whose phone reads one more mailbox, its third; returns how it is written to.
    private func world() async throws -> (World, address: String) {
        let world = try await World()
        let address = "mb1:" + String(repeating: "c", count: 96)
        let digests = world.door.digests
        do {
            let file = try RegistrationFile(path: world.path + "/outbox.sqlite", isReadOnly: false)
            let mailbox = Mailbox(
                name: "late", show: .bell, isOpen: false, topic: digests.topic("mblate"),
                readers: [Mailbox.Reader(name: "phone", token: digests.token("tk_phone"))])
            #expect(try file.add(mailbox, address: digests.address(address), addedAt: 1))
        }
        world.door.use(try #require(try await world.store.all(unless: nil)).mailboxes)
        return (world, address)
    }

    private func left(_ world: World, in mailbox: Int64) async throws -> [String] {
        try await world.store.messages(
            behind: [MailboxPlace(mailbox: mailbox, number: 0)], at: 0, limit: 1000
        ).map(\.message.text)
    }

    private func poll(
        _ world: World, _ query: String, of topics: String = "mbmine", token: String = "tk_phone"
    ) async throws -> [String] {
        let reader = try await Reader(world, "/\(topics)/json?poll=1\(query)", token: token)
        await reader.wait { $0.hasEnded }
        return reader.messages
    }

    private func socket(_ world: World, _ target: String) async throws -> Reader {
        let reader = try await Reader(world, target, more: MailboxSocketTests.handshake)
        await reader.wait { $0.text.contains("open") }
        return reader
    }

    /// Answers the last ping, and returns when the door has taken that.
    private func pong(_ reader: Reader, to count: Int) async {
        await reader.wait { self.sockets.pings($0).count == count }
        sockets.say(.pong(sockets.pings(reader)[count - 1]), reader)
        sockets.say(.ping([7]), reader)
        await reader.wait { self.sockets.messages($0).contains(.pong([7])) }
    }

    /// A line that dies loses nothing: the reader asks for what came after the last that it has seen.
    @Test func sinceItsLastOneAReaderGetsTheRestAndAcknowledges() async throws {
        let world = try await World()
        var ids: [String] = []
        for _ in 1...3 { ids.append(try await world.send()) }
        let first = try await Reader(world, "/mbmine/json?since=all")
        await first.wait { $0.messages.count == 3 }
        #expect(first.messages == ["text 1", "text 2", "text 3"])
        first.close()
        try await world.ended()
        #expect(try await world.left().count == 3)
        let again = try await Reader(world, "/mbmine/json?since=\(ids[0])")
        await again.wait { $0.messages.count == 2 }
        #expect(again.messages == ["text 2", "text 3"])
        again.close()
        try await world.ended()
        #expect(try await world.left().count == 3, "the desk has not seen them")
        let desk = try await Reader(world, "/mbmine/json?poll=1", token: "tk_desk")
        await desk.wait { $0.hasEnded }
        let fourth = try await world.send()
        // Whoever leaves some out acknowledges none.
        let filtered = try await Reader(world, "/mbmine/json?poll=1&since=\(ids[2])&p=4", token: "tk_desk")
        await filtered.wait { $0.hasEnded }
        let phone = try await Reader(world, "/mbmine/json?poll=1&since=\(ids[2])")
        await phone.wait { $0.hasEnded }
        #expect(phone.messages == ["text 4"])
        #expect(try await world.left().count == 4, "the desk has not said so")
        let more = try await Reader(world, "/mbmine/json?poll=1&since=\(ids[2])", token: "tk_desk")
        await more.wait { $0.hasEnded }
        #expect(more.messages == ["text 4"])
        let left = try await world.left()
        #expect(left == ["text 4"])
        for token in ["tk_phone", "tk_desk"] {
            let last = try await Reader(world, "/mbmine/json?poll=1&since=\(fourth)", token: token)
            await last.wait { $0.hasEnded }
        }
        #expect(try await world.left().isEmpty)
        await world.close()
    }

    /// The app has one connection for a server, and its phone was added to the second mailbox later.
    @Test func aPongAcknowledgesWhatItsConnectionBrought() async throws {
        let (world, late) = try await world()
        try await world.send()
        for _ in 2...3 { try await world.send(to: late) }
        let newest = try await world.send()
        let reader = try await socket(world, "/mbmine,mblate/ws?since=\(newest)")
        let last = try await world.send()
        await pong(reader, to: 1)
        // The desk is the other reader of the first one; of the late one the phone is the only one.
        for since in ["all", last] {
            _ = try await poll(world, "&since=\(since)", token: "tk_desk")
        }
        while try await left(world, in: 1).contains("text 5") { try Task.checkCancellation() }
        #expect(try await left(world, in: 1) == ["text 1", "text 4"])
        #expect(try await left(world, in: 3) == ["text 2", "text 3"])
        #expect(try await poll(world, "&since=all", of: "mblate") == ["text 2", "text 3"])
        await world.close()
    }

    /// Whoever begins behind what lies there has not seen it.
    @Test(arguments: ["none", "latest", "9999999999", "all"]) func whatWasNotAskedForStays(since: String)
        async throws
    {
        let (world, late) = try await world()
        for _ in 1...2 { try await world.send(to: late) }
        let reader = try await socket(world, "/mblate/ws?since=\(since)")
        try await world.send(to: late)
        let count = ["latest": 2, "all": 3][since] ?? 1
        await pong(reader, to: count)
        let unseen = ["text 1", "text 2"].prefix(3 - count)
        var found: [String] = []
        repeat {
            try Task.checkCancellation()
            found = try await left(world, in: 3)
        } while found.count > unseen.count
        #expect(found == Array(unseen))
        // It reads them later, and by the last of them it says that it has them.
        reader.close()
        try await world.ended()
        #expect(try await poll(world, "", of: "mblate") == found)
        if !found.isEmpty {
            let id = MailboxMessage.id(of: NotificationID(high: UInt64(found.count), low: 0))
            #expect(try await poll(world, "&since=\(id)", of: "mblate") == [])
            #expect(try await left(world, in: 3) == [])
        }
        await world.close()
    }

    /// The app comes without an id, is sent one message, and comes back with it.
    @Test func ofFourMessagesTheOneThatWasSentIsAcknowledged() async throws {
        let (world, late) = try await world()
        for _ in 1...3 { try await world.send(to: late) }
        let reader = try await Reader(world, "/mblate/json?since=none")
        await reader.wait { $0.text.contains("open") }
        let last = try await world.send(to: late)
        await reader.wait { $0.messages == ["text 4"] }
        reader.close()
        #expect(try await poll(world, "&since=\(last)", of: "mblate") == [])
        #expect(try await left(world, in: 3) == ["text 1", "text 2", "text 3"])
        await world.close()
    }

    /// An id that was not the last one, or that this reader was never sent, says where to begin.
    @Test func anotherIDIsAQuestion() async throws {
        let (world, late) = try await world()
        var ids: [String] = []
        for _ in 1...3 { ids.append(try await world.send(to: late)) }
        #expect(try await poll(world, "&since=\(ids[1])", of: "mblate") == ["text 3"])
        #expect(try await left(world, in: 3).count == 3)
        #expect(try await poll(world, "&since=all", of: "mblate").count == 3)
        #expect(try await poll(world, "&since=\(ids[0])", of: "mblate") == ["text 2", "text 3"])
        #expect(try await left(world, in: 3).count == 3)
        #expect(try await poll(world, "&since=\(ids[2])", of: "mblate") == [])
        #expect(try await left(world, in: 3) == [])
        await world.close()
    }

    /// A text that its reader had last is replaced, or has expired: the reader goes on behind it, and has what came before.
    @Test(arguments: ["", "&priority=1,2,3,4,5"]) func aReplacedTextKeepsItsPlace(filter: String) async throws
    {
        let world = try await World()
        try await world.publish(by: "cron", to: "mine")
        try await world.send()
        func publish() async throws -> String {
            let client = try await HTTPClient(world.endpoint)
            let answer = try #require(
                await client.post("/mbmine/job", "x", fields: "Authorization: Bearer tk_cron\r\n"))
            return try #require(try JSON(answer.body)["id"]?.string)
        }
        func lines(_ since: String) async throws -> Int {
            let reader = try await Reader(world, "/mbmine/json?poll=1&since=\(since)\(filter)")
            await reader.wait { $0.hasEnded }
            return reader.count(#""event":"message""#)
        }
        let old = try await publish()
        #expect(try await lines("all") == 2)
        let new = try await publish()
        #expect(try await lines(old) == 1, "the new one")
        let third = try await publish()
        #expect(try await lines(new) == 1)
        _ = try await poll(world, "&since=all", token: "tk_desk")
        let newest = try await publish()
        #expect(try await lines(third) == 1)
        #expect(try await lines(newest) == 0)
        let reader = try #require(try await world.store.all(unless: nil)?.mailboxes[0].readers.first)
        let start = try await world.store.begin(
            .message("neverwasthis"), of: [MailboxClient(1, reader: reader.number)], at: 0
        ).starts[0]
        #expect((start.place.number > 1) == filter.isEmpty, "all that came before is acknowledged")
        await world.close()
    }

    /// The books outlive the node.
    @Test func aReaderAcknowledgesAlsoAfterARestart() async throws {
        let (world, late) = try await world()
        for _ in 1...2 { try await world.send(to: late) }
        let reader = try await Reader(world, "/mblate/json?since=all")
        await reader.wait { $0.messages.count == 2 }
        let third = try await world.send(to: late)
        await reader.wait { $0.messages.count == 3 }
        await world.door.close()
        let mailboxes = try #require(try await world.store.all(unless: nil)).mailboxes
        let again = MailboxDoor(
            settings: MailboxDoorSettings(), store: world.store, digests: world.door.digests,
            replies: world.door.replies)
        again.use(mailboxes)
        let granted: [MailboxDirectory.Granted] = mailboxes.suffix(1).map {
            (mailbox: $0, reader: $0.readers.first)
        }
        let starts = try await again.begin(.message(third), of: granted, filtered: false)
        #expect(starts.map(\.place.number) == [3])
        #expect(try await left(world, in: 3) == [])
        await again.close()
        await world.close()
    }
}

extension MailboxDoorTests.World {
    /// Returns when the door knows that no connection is open.
    func ended() async throws { try await EventLoop.until { self.door.openReadings == 0 } }
}
