import Client
import Clocks
import Doors
import EndpointWorlds
import Foundation
import HTTP1
import Reactor
import Relay
import Testing
import Vectors

import struct Crypto.Secret

@testable import MailboxEndpoint

/// Whose share of the mailboxes' door is whose: what strangers, readers and senders take from each other, and from the disk.
@EventLoop
@Suite(.serialized) struct MailboxSharesTests {
    typealias World = MailboxDoorTests.World
    typealias Reader = MailboxDoorTests.Reader

    private let topic = "upAbCdEfGhIjKl"

    private func bearer(_ token: String) -> String { "Authorization: Bearer \(token)\r\n" }

    private func status(_ world: World, _ target: String, _ token: String?) async throws -> Int? {
        let client = try await HTTPClient(world.endpoint)
        return await client.get(target, fields: token.map(bearer) ?? "")?.status
    }

    private func post(_ world: World, _ path: String, _ body: String, by token: String? = nil) async throws
        -> HTTPResponse?
    {
        let client = try await HTTPClient(world.endpoint)
        return await client.post(path, body, fields: token.map(bearer) ?? "")
    }

    // MARK: The value

    @Test func nobodyTakesWhatIsAnothers() {
        var shares = MailboxShares(rate: 8)
        let (phone, desk) = (Digest(high: 1, low: 1), Digest(high: 1, low: 2))
        func taken(_ owner: MailboxShares.Owner, at now: MonotonicTime = 0) -> Int {
            (0..<100).count { _ in shares.take(by: owner, at: now) }
        }
        #expect(taken(.stranger) == 8)
        #expect(taken(.reader(phone)) == 1, "an eighth")
        #expect(taken(.reader(desk)) == 1)
        #expect(taken(.mailbox(1)) == 1 && taken(.mailbox(2)) == 1)
        #expect(taken(.topics(of: phone)) == 1, "pushes take nothing of the reader's own")
        shares.clean(at: 0)
        #expect(taken(.reader(phone)) == 0, "what is used is not forgotten")
        #expect(taken(.reader(phone), at: 1_000_000_000) == 1)
        shares.clean(at: 2_000_000_000)
        #expect(taken(.stranger, at: 1_000_000_000) == 8)
    }

    /// Whoever uses up all of one kind takes nothing of the other three.
    @Test(arguments: 0..<4) func noKindTakesWhatIsAnothers(first: Int) {
        let owners: [(UInt64) -> MailboxShares.Owner] = [
            { .reader(Digest(high: 1, low: $0)) }, { .mailbox(Int64($0)) },
            { .topics(of: Digest(high: 1, low: $0)) }, { _ in .stranger },
        ]
        var shares = MailboxShares(rate: 8)
        #expect((0..<100).count { shares.take(by: owners[first]($0), at: 0) } == 8)
        for (other, owner) in owners.enumerated() {
            #expect(shares.take(by: owner(1000), at: 0) == (other != first))
        }
    }

    @Test func allReadersTogetherHaveTheRate() {
        var shares = MailboxShares(rate: 80)
        let taken = (0..<20).map { reader in
            (0..<100).count { _ in shares.take(by: .reader(Digest(high: 1, low: reader)), at: 0) }
        }
        #expect(taken == [Int](repeating: 10, count: 8) + [Int](repeating: 0, count: 12))
    }

    // MARK: At the door

    /// However many ask without a right, those who have one are answered.
    @Test func strangersTakeNoRequestOfThoseWhoAreKnown() async throws {
        let world = try await World { $0.rate = 8 }
        let reader = try await Reader(world, "/\(topic)/json")
        await reader.wait { $0.text.contains("open") }
        let stranger = try await HTTPClient(world.endpoint)
        var statuses: Set<Int> = []
        // So many within a second are refused, however long that takes here.
        var number = 0
        while !statuses.contains(429) || number < 40 {
            defer { number += 1 }
            let answer =
                switch number % 4 {
                case 0: await stranger.get("/mbmine/json?poll=1", fields: bearer("tk_\(number)"))
                case 1: await stranger.get("/mbguess\(number)/json", fields: "")
                case 2: await stranger.post("/upguessguess\(number)?up=1", "x")
                case _: await stranger.post("/v1/replies/\(channel)", "x", fields: bearer("mb1:\(number)"))
                }
            statuses.insert(answer?.status ?? 0)
        }
        #expect(try await status(world, "/mbmine/json?poll=1", "tk_desk") == 200)
        #expect(try await status(world, "/mbopen/json?poll=1", nil) == 200)
        #expect(try await post(world, "/\(topic)?up=1", "x")?.status == 200)
        #expect(try await post(world, "/v1/replies/\(channel)", "x", by: world.address)?.status == 200)
        await world.close()
        withExtendedLifetime(reader) {}
    }

    @Test func oneReaderTakesNoRequestOfAnother() async throws {
        let world = try await World { $0.rate = 16 }
        let phone = try await HTTPClient(world.endpoint)
        var statuses: [Int] = []
        while statuses.last != 429 {
            statuses.append(await phone.get("/mbmine/auth", fields: bearer("tk_phone"))?.status ?? 0)
        }
        #expect(statuses.first == 200, "\(statuses)")
        #expect(try await status(world, "/mbmine/auth", "tk_desk") == 200)
        await world.close()
    }

    // MARK: Places of strangers

    /// Silent ones keep nobody out.
    @Test func aStrangerTooManyTakesThePlaceOfTheOldest() async throws {
        let world = try await World()
        let phone = try await Reader(world, "/mbopen,mbmine/json")
        await phone.wait { $0.text.contains("open") }
        var readers: [Reader] = []
        for _ in 0..<MailboxDoor.mostReadings + 2 {
            let reader = try await Reader(world, "/mbopen/json", token: nil)
            await reader.wait { $0.text.contains("open") }
            #expect(reader.text.contains("HTTP/1.1 200"))
            readers.append(reader)
        }
        for reader in readers[..<2] { await reader.wait { $0.hasEnded } }
        #expect(readers.map(\.hasEnded) == [true, true] + [Bool](repeating: false, count: 10))
        #expect(!phone.hasEnded && world.door.openReadings == MailboxDoor.mostReadings + 1)
        await world.close()
    }

    /// Whoever holds ten by one circuit makes room for the others, and for itself.
    @Test func amongStrangersTheOneWithMostMakesRoom() async throws {
        var told = CircuitsSettings()
        told.knowsCircuits = true
        let world = try await World(circuits: Circuits(settings: told))
        func read(_ circuit: Int) async throws -> Reader {
            let reader = try await Reader(
                world, "/mbopen/json", token: nil,
                after: "PROXY TCP6 fc00:dead:beef:4dad::0:\(circuit) ::1 \(circuit) 80\r\n")
            await reader.wait { $0.text.contains(#""event":"open""#) }
            return reader
        }
        let honest = try await read(7)
        var greedy: [Reader] = []
        for _ in 0..<MailboxDoor.mostReadings + 3 { greedy.append(try await read(8)) }
        for reader in greedy[..<4] { await reader.wait { $0.hasEnded } }
        #expect(greedy.count(where: \.hasEnded) == 4 && !honest.hasEnded)
        let second = try await read(9)
        await greedy[4].wait { $0.hasEnded }
        #expect(greedy.count(where: \.hasEnded) == 5 && !honest.hasEnded && !second.hasEnded)
        await world.close()
    }

    private var channel: String { String(repeating: "c", count: 32) }

    // MARK: Guessing

    /// Whether a mailbox, a token or a topic is there shows in no byte of an answer, and each guess counts against the
    /// circuit.
    @Test func aGuessThatIsNearlyRightIsAnsweredAsAnyOther() async throws {
        let world = try await World()
        let reader = try await Reader(world, "/\(topic)/json", token: "tk_desk")
        await reader.wait { $0.text.contains("open") }
        let post = "POST /v1/replies/\(channel) HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
        var nearly = world.address
        nearly.removeLast()
        let groups: [[(String, String?)]] = [
            // Topics, without a token and with one of another mailbox.
            [("GET /mbmine/json", nil), ("GET /mbnone/json", nil), ("GET /mbmin/json", nil)],
            [("GET /mbopen/auth", "tk_nobody"), ("GET /mbmine/auth", "tk_phon"), ("GET /mbnone/auth", "x")],
            [("GET /\(topic)/json", "tk_phone"), ("GET /mbnone/json", "tk_phone")],
            [("GET /\(topic)/auth", nil), ("GET /upMnOpQrStUvWx/auth", nil)],
            // The user of another one.
            [
                ("GET /mbmine/auth?auth=\(basic("desk", "tk_phone"))", nil),
                ("GET /mbmine/auth?auth=\(basic("nobody", "tk_phone"))", nil),
                ("GET /mbmine/auth?auth=\(basic("phone", "tk_nobody"))", nil),
            ],
            // Addresses.
            [(post, nearly + "b"), (post, "mb1:" + String(repeating: "z", count: 96)), (post, "tk_phone")],
        ]
        let client = try await HTTPClient(world.endpoint)
        let before = world.server.circuits.counters.strikes
        for group in groups {
            var answers: Set<String> = []
            for (line, token) in group {
                let isPost = line.hasPrefix("POST")
                let head = isPost ? line : "\(line) HTTP/1.1\r\nHost: x\r\n"
                let answer = try #require(
                    await client.ask(head + (token.map(bearer) ?? "") + "\r\n" + (isPost ? "x" : "")))
                answers.insert(
                    "\(answer.status) \(answer.fields) \(String(decoding: answer.body, as: UTF8.self))")
            }
            #expect(answers.count == 1 && answers.first?.hasPrefix("40") == true, "\(answers)")
        }
        let guesses = groups.reduce(0) { $0 + $1.count }
        #expect(world.server.circuits.counters.strikes - before == guesses)
        await world.close()
    }

    private func basic(_ user: String, _ token: String) -> String {
        Data("Basic \(Data("\(user):\(token)".utf8).base64EncodedString())".utf8).base64EncodedString()
    }

    /// Topics, addresses and tokens are looked up by digests under the node's key: how much of a guess is right decides
    /// nothing of what is compared, so the time of it tells nothing.
    @Test func whatIsComparedHasNothingOfWhatWasNearlyRight() {
        let key = Secret((0..<32).map { UInt8($0) })
        let (digests, other) = (
            MailboxDigests(key: key), MailboxDigests(key: Secret([UInt8](repeating: 7, count: 32)))
        )
        let kinds = [digests.topic, digests.address, digests.token, digests.channel]
        for (number, digest) in kinds.enumerated() {
            let right = MailboxDigests.newTopic()
            let known = digest(right)
            for length in 0..<right.utf8.count {
                let guess = digest(
                    right.prefix(length) + String(repeating: "~", count: right.utf8.count - length))
                let same = (known.high ^ guess.high).leadingZeroBitCount
                // By chance once in 2^32.
                #expect(same < 32, "\(length) characters are right")
                let differing =
                    (known.high ^ guess.high).nonzeroBitCount + (known.low ^ guess.low).nonzeroBitCount
                #expect((20...108).contains(differing))
            }
            // Nobody without the key can choose what is compared; and no kind is another.
            #expect(known != [other.topic, other.address, other.token, other.channel][number](right))
            #expect(kinds.indices.count { kinds[$0](right) == known } == 1)
        }
    }

    // MARK: A full store

    /// What can't be kept is refused, what lies there is read, and it goes on when there is room.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root may mount a file system"))
    func onAFullDiskNothingIsPromised() async throws {
        let small = try SmallDisk(megabytes: 4)
        defer { small.remove() }
        let world = try await World(in: small.path)
        let first = try await world.send()
        let reader = try await Reader(world, "/\(topic)/json")
        await reader.wait { $0.text.contains("open") }
        try small.fill()
        await #expect(throws: OutboxError.self) {
            for _ in 0..<400 { try await world.send(padding: 4000) }
        }
        let push = try await post(world, "/\(topic)?up=1", String(repeating: "x", count: 4096))
        #expect(push?.status == 500 && push?.text.contains("50001") == true)
        let reply = try await post(
            world, "/v1/replies/\(channel)", String(repeating: "y", count: 2048), by: world.address)
        #expect(reply?.status == 500 && reply?.text.contains("50001") == true)
        let poll = try await Reader(world, "/mbmine/json?poll=1")
        await poll.wait { $0.hasEnded }
        #expect(poll.text.contains(first) && poll.messages.first == "text 1")
        try small.empty()
        #expect(try await post(world, "/\(topic)?up=1", "x")?.status == 200)
        #expect(try await post(world, "/v1/replies/\(channel)", "y", by: world.address)?.status == 200)
        try await world.send()
        #expect(try await world.left().last == "text \(world.sent)")
        await world.close()
    }
}
