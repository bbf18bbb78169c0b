import EndpointWorlds
import HTTP1
import Lab
import Reactor
import Relay
import Testing

/// What the node promises to those who send over HTTP.
@EventLoop
@Suite(.serialized) struct HTTPRelayTests {
    private let token = String(repeating: "0a", count: 32)
    private static let accepted = #"{"wasAccepted":true,"isUnregistered":false}"#

    private func get(
        _ number: Int = 0, android: Bool = false, token: String? = nil, more: String = ""
    ) -> String {
        let ciphertext = String(repeating: "QUFB", count: 16 * (1 + number))
        let message = "BisqMessage\(android ? "Android" : "iOS")|0123456789abcdef|\(ciphertext)"
        let hex = message.utf8.map { String($0, radix: 16) }.joined()
        return "/relay?isAndroid=\(android)&token=\(token ?? self.token)&msg=\(hex)\(more)"
    }

    private func json(_ number: Int = 0, urgent: Bool = true, extra: String = "") -> String {
        #"{"encrypted":"\#(String(repeating: "QUJD", count: 12 + number))","isUrgent":\#(urgent)\#(extra)}"#
    }

    private var path: String { "/v1/apns/device/\(token)" }

    @Test func twoEqualGetsWithinADayAreOneNotification() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        for _ in 0..<3 { #expect(await client.get(get())?.text == "success") }
        _ = await world.pushes(1)
        #expect(await client.get(get())?.text == "success")
        #expect(await client.get(get(1))?.text == "success")
        let pushes = await world.pushes(2)
        #expect(pushes.count == 2)
        #expect(pushes[0].headers["apns-id"] != pushes[1].headers["apns-id"])
        #expect(world.dispatcher.stored == 2)
        await world.end()
    }

    /// Sound, urgency and form say nothing of which notification it is: each is encrypted anew, so the text does.
    @Test func theSameTextWithOtherFlagsIsTheSameNotification() async throws {
        let world = try await RelayWorld { $0.door.bisq2.ios = "bisq1-ios" }
        let client = try await world.client()
        #expect(await client.get(get())?.text == "success")
        _ = await world.pushes(1)
        for flags in ["&snd=true", "&mutableContent=true", "&isContentAvailable=false"] {
            #expect(await client.get(get(more: flags))?.text == "success", "\(flags)")
        }
        let message = "BisqMessageiOS|0123456789abcdef|\(String(repeating: "QUFB", count: 16))"
        for isUrgent in [true, false] {
            let body = #"{"encrypted":"\#(message)","isUrgent":\#(isUrgent)}"#
            #expect(await client.post(path, body)?.text == Self.accepted)
        }
        #expect(await client.get(get(1))?.text == "success")
        #expect(await world.pushes(2).count == 2 && world.apple.book.count == 2)
        await world.end()
    }

    @Test func twoEqualPostsAreOneNotificationAndBothHearOfItsEnd() async throws {
        let world = try await RelayWorld { $0.door.outcomeDeadline = .seconds(30) }
        world.apple.faults = FaultScript([FaultRule(.delay(.milliseconds(100)), times: 1)])
        let first = try await world.client()
        let second = try await world.client()
        async let one = first.post(path, json())
        async let two = second.post(path, json())
        #expect(await one?.text == Self.accepted)
        #expect(await two?.text == Self.accepted)
        #expect(await first.post(path, json())?.text == Self.accepted)
        #expect(world.apple.book.count == 1)
        await world.end()
    }

    /// Few of them are told the end; to the others it is stored, and nobody waits for ever.
    @Test func everyOneOfManyEqualPostsIsAnswered() async throws {
        let world = try await RelayWorld { $0.door.outcomeDeadline = .seconds(1) }
        world.apple.faults = FaultScript([FaultRule(.delay(.milliseconds(500)), times: 1)])
        var clients: [HTTPClient] = []
        for _ in 0..<30 {
            let client = try await world.client()
            clients.append(client)
            let body = json()
            client.send(
                "POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
        for client in clients { #expect(await client.wait(for: 1).map(\.text) == [Self.accepted]) }
        #expect(world.apple.book.count == 1)
        await world.end()
    }

    @Test func bothGenerationsOfPhonesAreServedAtOnceByTheirOwnApps() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        #expect(await client.get(get())?.status == 200)
        #expect(await client.post(path, json())?.status == 200)
        #expect(await client.get(get(more: "&isProduction=false"))?.status == 200)
        let topics = await world.pushes(3).map { $0.headers["apns-topic"] }
        #expect(Set(topics) == [RelayWorld.bisq1Topic, RelayWorld.bisq2Topic])
        #expect(world.apple.book.count == 2)
        #expect(world.sandbox.book.map { $0.headers["apns-topic"] } == [RelayWorld.bisq1Topic])
        await world.end()
    }

    @Test func aTokenOverItsRateIsTold429AndWhenToComeAgain() async throws {
        let world = try await RelayWorld {
            $0.limits.tokenRate = 0.1
            $0.limits.tokenBurst = 2
        }
        let client = try await world.client()
        // Whoever never sends again is stored, and goes out at the rate.
        for number in 0..<3 { #expect(await client.get(get(number))?.status == 200) }
        // Another app's phone is another device.
        for number in 0..<2 { #expect(await client.post(path, json(number))?.status == 200) }
        let post = try #require(await client.post(path, json(2)))
        #expect(post.status == 429)
        // Half of the rate is kept for senders who are new to the device.
        #expect(post.fields["retry-after"].flatMap { Int($0) }.map { (1...20).contains($0) } == true)
        #expect(post.text == #"{"wasAccepted":false,"errorCode":"Busy","isUnregistered":false}"#)
        #expect(await client.get(get(2, token: String(repeating: "0b", count: 32)))?.status == 200)
        await world.end()
    }

    @Test func aNodeThatCanStoreNothingSays503AndWhenToComeAgain() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        await world.outbox.setFault(.full)
        let get = try #require(await client.get(get()))
        #expect(get.status == 503)
        #expect(get.fields["retry-after"] == "5")
        let post = try #require(await client.post(path, json()))
        #expect(post.status == 503)
        #expect(post.fields["retry-after"] == "5")
        #expect(post.text == #"{"wasAccepted":false,"errorCode":"Busy","isUnregistered":false}"#)
        await world.outbox.setFault(nil)
        #expect(await client.get(self.get())?.status == 200)
        await world.end()
    }

    @Test func aNodeThatIsFullSays503() async throws {
        let world = try await RelayWorld { $0.limits.waiting = 1 }
        world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let client = try await world.client()
        #expect(await client.get(get())?.status == 200)
        #expect(await client.get(get(1))?.status == 503)
        await world.end()
    }

    @Test func aDeadTokenIsToldAtOnceFromThenOn() async throws {
        let world = try await RelayWorld { $0.door.outcomeDeadline = .seconds(30) }
        world.apple.faults = FaultScript([
            FaultRule(.answer(status: 410, reason: "Unregistered", timestamp: 1_795_000_000_000))
        ])
        let client = try await world.client()
        let dead =
            #"{"wasAccepted":false,"errorCode":"Unregistered","#
            + #""errorMessage":"Token is invalid as of 2026-11-18T11:06:40.000Z","isUnregistered":true}"#
        #expect(await client.post(path, json())?.text == dead)
        let requests = world.apple.figures.requests
        // An equal one hears of the first's end, another one of the token's.
        for number in 0..<3 {
            let answer = await client.post(path, json(number))
            #expect(answer?.status == 400)
            #expect(answer?.text == dead)
        }
        #expect(world.apple.figures.requests == requests)
        #expect(await client.get(get())?.status == 200)
        await world.end()
    }

    @Test func whoIsNotHeardOfInTimeIsToldThatTheNodeHasIt() async throws {
        let world = try await RelayWorld { $0.door.outcomeDeadline = .milliseconds(200) }
        world.google.faults = FaultScript([FaultRule(.delay(.seconds(20)), times: 1)])
        let client = try await world.client()
        let answer = await client.post("/v1/fcm/device/\(token)", json())
        #expect(answer?.text == Self.accepted)
        #expect(world.dispatcher.waiting == 1)
        #expect(await world.pushes(1).count == 1)
        await world.end()
    }

    /// Where Bisq's relay answers 500 and forgets the notification, this node keeps and delivers it.
    @Test func aGatewayThatCannotBeReachedCostsNoNotification() async throws {
        let world = try await RelayWorld { $0.door.outcomeDeadline = .milliseconds(100) }
        world.apple.faults = FaultScript([FaultRule(.closeConnection(.beforeDelivery), times: 2)])
        let client = try await world.client()
        #expect(await client.post(path, json())?.text == Self.accepted)
        #expect(await world.pushes(1).count == 1)
        await world.end()
    }

    /// Whoever heard of a refusal would send it to another relay as well.
    @Test func whatWaitsForTheOperatorIsKept() async throws {
        // The first hears at once that it is kept. Those behind it have not been tried, and hear at the deadline.
        let world = try await RelayWorld { $0.door.outcomeDeadline = .milliseconds(500) }
        world.apple.faults = FaultScript([FaultRule(.answer(status: 403, reason: "InvalidProviderToken"))])
        let client = try await world.client()
        for number in 0..<3 {
            let answer = await client.post(path, json(number))
            #expect(answer?.status == 200 && answer?.text == Self.accepted)
        }
        #expect(await client.get(get())?.text == "success")
        #expect(world.dispatcher.waiting == 4)
        await world.end()
    }

    @Test func aBackgroundPushIsOneByApplesRules() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        #expect(await client.post(path, json(urgent: false))?.text == Self.accepted)
        let push = await world.pushes(1)[0]
        #expect(push.headers["apns-push-type"] == "background")
        #expect(push.headers["apns-priority"] == "5")
        let message = String(repeating: "QUJD", count: 12)
        #expect(
            String(decoding: push.body, as: UTF8.self)
                == #"{"encrypted":"\#(message)","aps":{"content-available":1}}"#)
        await world.end()
    }

    @Test func refusalsOfOursBearOurWords() async throws {
        let world = try await RelayWorld()
        let client = try await world.client()
        func word(_ path: String, _ body: String) async -> String? {
            guard let answer = await client.post(path, body), answer.status == 400 else { return nil }
            let prefix = #"{"wasAccepted":false,"errorCode":""#
            #expect(answer.text.hasPrefix(prefix))
            // The gateway was not asked, so nothing is known of the phone.
            #expect(answer.text.hasSuffix(#"","isUnregistered":false}"#))
            return answer.text.dropFirst(prefix.count).split(separator: "\"").first.map(String.init)
        }
        #expect(await word(path, "{}") == "BadMessage")
        #expect(await word(path, #"{"encrypted":""}"#) == "BadMessage")
        #expect(await word(path, #"{"encrypted":"hello"}"#) == "BadMessage")
        #expect(await word("/v1/apns/device/xyz", json()) == "BadDeviceToken")
        for path in ["/v1/apns", "/v1/fcm"] {
            #expect(await word(path, json()) == "BadMessage")
            for token in [#""""#, "null", "7", "[]"] {
                #expect(await word(path, json(extra: #","deviceToken":\#(token)"#)) == "BadMessage")
            }
        }
        // Of an alias that is not in the book, and of a service that this node has not.
        let alias = "al1:" + String(repeating: "a", count: 96)
        #expect(await word("/v1/fcm/device/\(alias)", json()) == "BadDeviceToken")
        let foreign = await client.post(
            "/v1/fcm/device/nt1:topic-of-thirty-two-characters", json())
        #expect(foreign?.status == 503)
        #expect(
            foreign?.text == #"{"wasAccepted":false,"errorCode":"UnknownApp","isUnregistered":false}"#)
        #expect(await client.get(get(token: "xyz"))?.text == "BadDeviceToken")
        #expect(world.dispatcher.waiting == 0)
        await world.end()
    }

    @Test func aNodeThatStopsAnswersWhatItTook() async throws {
        let world = try await RelayWorld { $0.door.outcomeDeadline = .milliseconds(300) }
        world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let waiting = try await world.client()
        let idle = try await world.client()
        #expect(await idle.get("/relay")?.status == 400)
        async let answer = waiting.post(path, json())
        try await EventLoop.until { world.dispatcher.stored > 0 }
        async let closed: Void = world.server.close()
        #expect(await answer?.text == Self.accepted)
        await closed
        await waiting.waitForEnd()
        await idle.waitForEnd()
        await #expect(throws: (any Error).self) { try await world.client() }
        await world.end()
    }
}
