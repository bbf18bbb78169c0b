import Crypto
import Encodings
import EndpointWorlds
import Foundation
import HTTP1
import Lab
import PushEndpoints
import Reactor
import Relay
import Testing

@testable import Gorush

/// What the door adds to gorush: the commit before the answer, a secret, and no broadcasts that nobody allowed.
@EventLoop
@Suite(.serialized) struct GorushDoorTests {
    private static let token = String(repeating: "7f", count: 32)
    private static let body = Data(
        #"{"notifications":[{"tokens":["\#(token)"],"platform":1,"message":"m"}]} and more"#.utf8)
    private static let nothing = #"{"counts":0,"logs":[],"success":"ok"}"#

    @Test func bothPathsAndTheHealthCheckAreServed() async throws {
        let world = try await StatusIMWorld()
        #expect(await world.push(Self.body)?.text == #"{"counts":1,"logs":[],"success":"ok"}"#)
        #expect(await world.push(Self.body, path: "//api/push")?.status == 200)
        let client = try await world.client()
        let health = await client.get("/healthz")
        #expect(health?.status == 200)
        #expect(health?.body == [])
        #expect(await client.get("/api/push")?.status == 404)
        #expect(await world.relay.pushes(2).count == 2, "the same words twice are two pushes")
        await world.end()
    }

    @Test func nothingIsAnsweredAsTakenThatIsNotStored() async throws {
        let world = try await StatusIMWorld()
        await world.relay.outbox.setFault(.full)
        let answer = try #require(await world.push(Self.body))
        #expect(answer.status == 200)
        #expect(answer.text.contains("max capacity reached"))
        #expect(!answer.text.contains(Self.token), "tokens are masked")
        await world.relay.outbox.setFault(nil)
        #expect(world.relay.apple.book.isEmpty && world.relay.sandbox.book.isEmpty)
        await world.end()
    }

    @Test func aBroadcastIsRefusedUnlessTheOperatorAllowsIt() async throws {
        let world = try await StatusIMWorld()
        for target in [#""topic":"/topics/all""#, #""condition":"'a' in topics""#] {
            let answer = await world.push(
                Data(#"{"notifications":[{"platform":2,"message":"m",\#(target)}]}"#.utf8))
            #expect(answer?.status == 200)
            #expect(answer?.text.contains("broadcasts to topics are not allowed here") == true)
        }
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
    }

    @Test func theSecretIsAskedForInTheFormsThatClientsHave() async throws {
        let world = try await StatusIMWorld { $0.gorush.secret = Secret(Array("open sesame".utf8)) }
        let basic = Base64.encode(Array("x:open sesame".utf8))
        for good in ["Bearer open sesame", "Basic \(basic)"] {
            #expect(await world.push(Self.body, fields: "Authorization: \(good)\r\n")?.status == 200)
        }
        for bad in [
            "", "Authorization: Bearer open\r\n", "Authorization: Basic eA==\r\n", "Authorization: x\r\n",
        ] {
            #expect(await world.push(Self.body, fields: bad)?.status == 401)
        }
        await world.end()
    }

    /// Without a secret a page in a browser must not push: it can ask this machine under a name of its own, or by a form.
    @Test func onThisMachineProgramsMayPushAndPagesMayNot() async throws {
        let world = try await StatusIMWorld { $0.gorush.isLocal = true }
        let type = "Content-Type: application/json\r\n"
        for host in ["localhost", "127.0.0.1:8088", "[::1]:8088"] {
            #expect(await world.push(Self.body, host: host)?.status == 200)
            #expect(await world.push(Self.body, host: host, fields: type)?.status == 200)
        }
        #expect(
            await world.push(Self.body, host: "localhost", fields: "Origin: http://localhost:8088\r\n")?
                .status
                == 200)
        for host in ["evil.example", "evil.onion", "localhost.evil.example", "127.0.0.1.evil.example"] {
            #expect(await world.push(Self.body, host: host, fields: type)?.status == 403)
        }
        for fields in [
            "Content-Type: text/plain\r\n", "Origin: https://evil.example\r\n", "Origin: null\r\n",
            "Origin: http://localhost.evil.example\r\n",
        ] {
            #expect(await world.push(Self.body, host: "localhost", fields: fields)?.status == 403)
        }
        await world.end()
    }

    @Test func appsAreChosenByTopic() async throws {
        let world = try await StatusIMWorld()
        let other = Data(
            #"{"notifications":[{"tokens":["\#(Self.token)"],"platform":1,"message":"m","topic":"com.other"}]}"#
                .utf8)
        let answer = await world.push(other)
        #expect(answer?.text.contains("UnknownApp") == true)
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
    }

    @Test(arguments: [
        (#""push_type":"a\r\nb""#, "InvalidPushType"), (#""apns_id":"ü""#, "BadMessageId"),
        (#""collapse_id":"\#(String(repeating: "c", count: 65))""#, "BadCollapseId"),
        (#""topic":"im.status.ethereum.a\nb""#, "BadTopic"),
        (#""topic":"im.status.ethereum.\#(String(repeating: "t", count: 46))""#, "BadTopic"),
        (#""message":"\#(String(repeating: "m", count: 4096))""#, "MessageTooLarge"),
        (#""tokens":["../../x"]"#, "BadDeviceToken"),
    ])
    func whatWouldSpoilTheRequestToAppleIsToldAndNotSent(members: String, reason: String) async throws {
        let world = try await StatusIMWorld()
        let tokens = members.contains("tokens") ? "" : #""tokens":["\#(Self.token)"],"#
        let answer = await world.push(Data(#"{"notifications":[{\#(tokens)"platform":1,\#(members)}]}"#.utf8))
        #expect(answer?.text.contains("\"error\":\"\(reason)\"") == true)
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
    }

    private func request(_ members: String, tokens: [String]) -> Data {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        return Data("{\"notifications\":[{\"tokens\":[\(list)],\(members)}]}".utf8)
    }

    /// Each failure repeats the message.
    @Test func anAnswerListsAsManyFailuresAsItHasRoomFor() async throws {
        let world = try await StatusIMWorld()
        let message = String(repeating: "m", count: 60_000)
        let answer = try #require(
            await world.push(
                request("\"platform\":1,\"message\":\"\(message)\"", tokens: Array(repeating: "x", count: 60))
            ))
        #expect(answer.body.count <= 1 << 20 + 64)
        #expect(answer.text.hasPrefix("{\"counts\":60,"))
        #expect(answer.text.components(separatedBy: "failed-push").count - 1 == 17)
        _ = try world.json(answer.body)
        await world.end()
    }

    /// The loop has other things to do in between.
    @Test func aLongListOfTokensTakesManyTurns() async throws {
        let world = try await StatusIMWorld()
        var most = 0
        var before = 0
        var sampler: Reactor.Timer?
        sampler = Reactor.Timer {
            let waiting = world.relay.dispatcher.waiting
            most = max(most, waiting - before)
            before = waiting
            sampler?.start(after: .zero)
        }
        sampler?.start(after: .zero)
        let tokens = (0..<1000).map { String(repeating: "7f", count: 30) + String($0 + 1000) }
        let answer = await world.push(request("\"platform\":1,\"message\":\"m\"", tokens: tokens))
        #expect(answer?.text == #"{"counts":1000,"logs":[],"success":"ok"}"#)
        #expect((1...48).contains(most), "\(most) in one turn")
        sampler?.stop()
        sampler = nil
        _ = await world.relay.pushes(1000)
        await world.end()
    }

    @Test(arguments: [1, 2])
    func aRequestWithTooManyTokensIsRefusedAsAWhole(platform: Int) async throws {
        let world = try await StatusIMWorld()
        let tokens = Array(repeating: String(repeating: "7f", count: 32), count: 1001)
        let answer = await world.push(request("\"platform\":\(platform),\"message\":\"m\"", tokens: tokens))
        #expect(answer?.status == 400)
        #expect(answer?.text == #"{"code":400,"message":"Number of tokens(1001) over limit(1000)"}"#)
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
    }

    /// What Google doesn't count against its limit is sent to each phone all the same.
    @Test func allOfAMessageToGoogleIsBounded() async throws {
        let world = try await StatusIMWorld()
        let token = String(repeating: "t", count: 40)
        for (length, isTaken) in [(16_000, true), (17_000, false)] {
            let link = String(repeating: "l", count: length)
            let members = #""platform":2,"webpush":{"fcm_options":{"link":"\#(link)"}}"#
            let answer = await world.push(request(members, tokens: [token]))
            #expect(answer?.text.contains("MessageTooLarge") == !isTaken)
        }
        #expect(await world.relay.pushes(1).count == 1)
        await world.end()
    }

    /// A sender may name any topic of the app's, also one that Apple doesn't let the operator push to.
    @Test func aTopicThatAppleRefusesHoldsUpNobodyElse() async throws {
        let world = try await StatusIMWorld { $0.gorush.waits = true }
        let topics = #""platform":1,"message":"m","topic":"im.fqixvywn"#
        let refused = await world.push(request(topics + #".voip","push_type":"voip""#, tokens: [Self.token]))
        #expect(refused?.text.contains(#""error":"TopicDisallowed""#) == true)
        let taken = await world.push(request(topics + "\"", tokens: [Self.token]))
        #expect(taken?.text == #"{"counts":2,"logs":[],"success":"ok"}"#)
        #expect(world.relay.sandbox.book.count == 1)
        #expect(world.relay.dispatcher.lanes.allSatisfy { $0.block == nil })
        await world.end()
    }

    /// An answer that waits for the gateways ends long before a push does that can't be delivered.
    @Test func nothingOfARequestIsKeptThatItsPushesDoNotNeed() async throws {
        let world = try await StatusIMWorld {
            $0.gorush.waits = true
            $0.gorush.outcomeDeadline = .milliseconds(1)
        }
        world.relay.sandbox.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let image = String(repeating: "i", count: 200_000)
        func pushAll() async {
            for _ in 0..<50 {
                let members = #""platform":1,"message":"m","image":"\#(image)""#
                #expect(await world.push(request(members, tokens: [Self.token]))?.status == 200)
            }
        }
        await pushAll()
        let before = Heap.allocatedBytes
        await pushAll()
        #expect(Heap.allocatedBytes - before < 2_000_000)
        #expect(world.relay.dispatcher.waiting == 100)
        await world.end()
    }
}
