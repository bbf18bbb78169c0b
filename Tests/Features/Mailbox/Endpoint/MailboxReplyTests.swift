import Client
import Crypto
import Dispatching
import Doors
import Encodings
import Foundation
import HTTP1
import Logging
import MailboxClients
import Persistence
import Reactor
import Relay
import Testing
import Vectors
import Wire

@testable import MailboxEndpoint

/// The way back at the mailboxes' door and in the peers' protocol, with the real store.
@EventLoop
@Suite(.serialized) struct MailboxReplyTests {
    typealias World = MailboxDoorTests.World

    private let channel = String(repeating: "c", count: 32)

    private func ask(
        _ world: World, _ method: String, channel: String? = nil, query: String? = nil,
        authorization: String?, body: [UInt8] = []
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(
            method: method, path: "/v1/replies/\(channel ?? self.channel)", query: query, body: body,
            isKeptAlive: false)
        if let authorization { request.fields.append("Authorization", authorization) }
        return try await HTTPExchange.answer(
            to: request, host: "x.onion", by: .direct(world.endpoint), deadline: .seconds(20))
    }

    private func post(
        _ world: World, _ sealed: [UInt8], in channel: String? = nil, by address: String? = nil
    ) async throws -> Int {
        try await ask(
            world, "POST", channel: channel, authorization: "Bearer \(address ?? world.address)", body: sealed
        ).status
    }

    private func fetch(
        _ world: World, acknowledging number: Int64 = 0, waiting seconds: Int = 0,
        in channel: String? = nil, by address: String? = nil
    ) async throws -> [(number: Int64, sealed: [UInt8])]? {
        ReplyCalls.replies(
            in: try await ask(
                world, "GET", channel: channel, query: "acknowledge=\(number)&wait=\(seconds)",
                authorization: "Bearer \(address ?? world.address)"))
    }

    @Test func aReplyIsHeldUntilItIsAcknowledged() async throws {
        let world = try await World()
        #expect(try await fetch(world)?.isEmpty == true)
        for sealed: [UInt8] in [[1, 255], [1, 255], [2]] {
            #expect(try await post(world, sealed) == 200)
        }
        let found = try #require(try await fetch(world))
        #expect(found.map(\.sealed) == [[1, 255], [2]])
        #expect(try await fetch(world)?.count == 2, "to be fetched is not to be acknowledged")
        #expect(try await fetch(world, acknowledging: found[0].number)?.map(\.sealed) == [[2]])
        #expect(try await fetch(world, in: String(repeating: "d", count: 32))?.isEmpty == true)
        #expect(try await fetch(world, by: world.openAddress)?.isEmpty == true, "another mailbox's")
        #expect(try await fetch(world, acknowledging: found[1].number)?.isEmpty == true)
        await world.close()
    }

    @Test func whoWaitsGetsWhatComesAtOnce() async throws {
        let world = try await World()
        let waiting = Task { try await fetch(world, waiting: 60)?.map(\.sealed) }
        let another = Task {
            try await fetch(world, waiting: 60, in: String(repeating: "d", count: 32))?.map(\.sealed)
        }
        try await EventLoop.until { world.server.counters.requests == 2 }
        #expect(try await post(world, [1]) == 200)
        #expect(try await waiting.value == [[1]])
        // The other one is told that there is nothing when the door closes.
        await world.door.close()
        #expect(try await another.value == [])
        await world.close()
    }

    @Test func withoutTheMailboxesAddressThereIsNothing() async throws {
        let world = try await World()
        for authorization in [
            nil, "Bearer tk_phone", "Bearer mbmine", "Bearer " + world.address.dropLast(), "Basic !",
        ] {
            for (method, body) in [("GET", [] as [UInt8]), ("POST", [1])] {
                let answer = try await ask(world, method, authorization: authorization, body: body)
                #expect(answer.status == 401, "\(authorization ?? "nothing")")
            }
        }
        let basic = "Basic " + Base64.encode(Array(":\(world.address)".utf8))
        #expect(try await ask(world, "POST", authorization: basic, body: [1]).status == 200)
        await world.close()
    }

    @Test func whatHasAnotherFormIsRefused() async throws {
        let world = try await World()
        let good = "Bearer \(world.address)"
        let longest = [UInt8](repeating: 1, count: MailboxReply.longest)
        #expect(try await post(world, longest) == 200)
        #expect(try await post(world, longest + [1]) == 413)
        #expect(try await post(world, []) == 400)
        for query in ["wait=-1", "wait=x", "acknowledge=1e3", "acknowledge=", "wait=1234567890123456789"] {
            #expect(try await ask(world, "GET", query: query, authorization: good).status == 400, "\(query)")
        }
        #expect(try await ask(world, "DELETE", authorization: good).status == 405)
        #expect(try await ask(world, "OPTIONS", authorization: nil).status == 200)
        for channel in ["c", channel + "c", String(repeating: "!", count: 32)] {
            let status = try await post(world, [1], in: channel)
            #expect([401, 404].contains(status), "\(channel): \(status)")
        }
        await world.close()
    }

    @Test func aChannelHoldsSixteenAndTheNextIsRefused() async throws {
        let world = try await World()
        for number in 0..<16 { #expect(try await post(world, [UInt8(number)]) == 200) }
        #expect(try await post(world, [16]) == 507)
        #expect(try await post(world, [0]) == 200, "it is held already")
        #expect(try await fetch(world)?.count == 16)
        await world.close()
    }

    @Test func ofNineThatWaitAtOneMailboxTheOldestGoes() async throws {
        let world = try await World()
        let targets = try (0..<9).map { number in
            try #require(
                ReplyBoard.ChannelAddress(
                    channel: String(repeating: "\(number)", count: 32), address: world.address))
        }
        let board = world.door.replies
        var ended: [Int] = []
        var waits: [Task<Void, Error>] = []
        for (number, target) in targets.enumerated() {
            waits.append(
                Task {
                    _ = try await board.replies(at: target, acknowledging: 0, waiting: .seconds(60))
                    ended.append(number)
                })
            // It has begun by then.
            await EventLoop.nextTurn()
        }
        try await waits[0].value
        #expect(ended == [0])
        board.close()
        for wait in waits { try await wait.value }
        await world.close()
    }

    /// Many come in one turn of the loop, before any of those that have to go has gone.
    @Test func ofABurstAtOneMailboxEightWait() async throws {
        let world = try await World()
        let target = try #require(ReplyBoard.ChannelAddress(channel: channel, address: world.address))
        let board = world.door.replies
        var ended = 0
        let waits = (0..<20).map { _ in
            Task {
                _ = try await board.replies(at: target, acknowledging: 0, waiting: .seconds(60))
                ended += 1
            }
        }
        try await EventLoop.until { ended == 12 }
        // Nobody follows them.
        for _ in 0..<3 { await EventLoop.nextTurn() }
        #expect(ended == 12)
        board.close()
        for wait in waits { try await wait.value }
        #expect(ended == 20)
        await world.close()
    }

    /// Two phones that share a key, and one agent.
    @Test func aPhoneAcknowledgesNoAnswerOfAnother() async throws {
        let world = try await World()
        let token = try PairingToken(
            platform: .android, descriptor: "", key: "0123456789abcdef0123456789ABCDEF",
            deviceToken: world.address)
        let agent = ReplyAgent(token, kinds: [], window: ReplyWindow(since: 0))
        let now = EventLoop.unixMilliseconds
        for counter in [now, now + 1] {
            let reply = try #require(PhoneReply(counter: counter, sentAt: now, kind: "stop", text: ""))
            let (sealed, channel) = try #require(agent.sealed(.done, to: reply, at: now))
            #expect(try await post(world, sealed, in: channel.id) == 200)
        }
        for counter in [now + 1, now] {
            let channel = ReplyChannel(.toPhone(answering: counter), of: token)
            let found = try #require(try await fetch(world, in: channel.id))
            #expect(
                try found.map { ReplyAgent.Answer(try channel.open($0.sealed), to: counter) } == [.done],
                "\(counter - now)")
            let last = try #require(found.last?.number)
            #expect(try await fetch(world, acknowledging: last, in: channel.id)?.isEmpty == true)
        }
        await world.close()
    }

    // MARK: Peers

    private func peers(_ world: World, board: Bool = true) async throws -> (PeerDoor, BisqPeer) {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-replies-\(UUID().uuidString)"
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let app = App(name: "android", service: SampleService.android, isEnabled: true)
        let dispatcher = Dispatcher(
            pipeline: Pipeline(
                validator: Validator(apps: [app], defaultIOS: "", defaultAndroid: "android"),
                limits: Admission.Limits()), outbox: try await OutboxStore(path: path),
            digester: SubmissionDigester(key: Secret([1])), log: log)
        let door = PeerDoor(
            settings: PeerDoorSettings(), dispatcher: dispatcher, replies: board ? world.door.replies : nil)
        let endpoint = try door.open(on: .host("127.0.0.1", port: 0))
        return (door, try await BisqPeer.dial(.direct(endpoint), network: .mainnet))
    }

    private func request(_ uid: String, _ sealed: [UInt8], by address: String) -> MobileReplyRequest {
        var request = MobileReplyRequest()
        (request.uid, request.channel, request.mailbox, request.sealed) = (uid, channel, address, sealed)
        return request
    }

    private func fetch(
        _ uid: String, by address: String, acknowledging number: Int64 = 0, waiting: Int64 = 0
    ) -> MobileReplyFetch {
        var fetch = MobileReplyFetch()
        (fetch.uid, fetch.channel, fetch.mailbox) = (uid, channel, address)
        (fetch.acknowledged, fetch.waitMilliseconds) = (number, waiting)
        return fetch
    }

    @Test func peersLeaveAndFetchRepliesEachWayAcknowledged() async throws {
        let world = try await World()
        let (door, peer) = try await peers(world)
        async let waiting = peer.replies(to: fetch("f", by: world.address, waiting: 60_000))
        #expect(
            try await peer.post(request("p", [1, 2], by: world.address))
                == MobileNotificationResponse(requestUid: "p", status: .stored))
        let replies = try await waiting
        #expect(replies.requestUid == "f" && replies.replies.map(\.sealed) == [[1, 2]])
        // One door's are the other's.
        #expect(try await fetch(world)?.map(\.sealed) == [[1, 2]])
        let last = try #require(replies.replies.last?.number)
        let rest = try await peer.replies(to: fetch("g", by: world.address, acknowledging: last))
        #expect(rest == MobileReplies(requestUid: "g"))
        peer.close()
        await door.close()
        await world.close()
    }

    @Test func peersAreRefusedByTheirReason() async throws {
        let world = try await World()
        let (door, peer) = try await peers(world)
        let nobody = "mb1:" + String(repeating: "z", count: 96)
        let tooLong = [UInt8](repeating: 1, count: MailboxReply.longest + 1)
        for (uid, sealed, address, reason) in [
            ("1", [1], nobody, "NoSuchMailbox"), ("2", [], world.address, "BadMessage"),
            ("3", tooLong, world.address, "BadMessage"), ("4", [1], "", "BadMessage"),
        ] as [(String, [UInt8], String, String)] {
            #expect(
                try await peer.post(request(uid, sealed, by: address))
                    == MobileNotificationResponse(requestUid: uid, status: .refused, reason: reason))
        }
        #expect(
            try await peer.replies(to: fetch("5", by: nobody, waiting: 60_000))
                == MobileReplies(requestUid: "5", reason: "NoSuchMailbox"))
        for number in 0..<16 {
            let response = try await peer.post(request("s\(number)", [UInt8(number)], by: world.address))
            #expect(response.status == .stored)
        }
        let full = try await peer.post(request("6", [99], by: world.address))
        #expect(full.status == .busy && full.reason == "Busy" && full.retryAfterMilliseconds == 60_000)
        peer.close()
        let (plain, stranger) = try await peers(world, board: false)
        #expect(
            try await stranger.post(request("7", [1], by: world.address))
                == MobileNotificationResponse(requestUid: "7", status: .refused, reason: "GatewayDisabled"))
        stranger.close()
        await plain.close()
        await door.close()
        await world.close()
    }
}
