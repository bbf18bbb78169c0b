import Doors
import Encodings
import EndpointWorlds
import Gateways
import HTTP1
import JSONCoding
import Lab
import Reactor
import Testing

/// What a Bisq hears when its own app can't be served, and who serves it then.
@EventLoop
@Suite(.serialized) struct StandInTests {
    private let token = String(repeating: "0a", count: 32)
    private var path: String { "/v1/apns/device/\(token)" }

    private func json(_ number: Int) -> String {
        let message = Base64.encode(Array("message number \(number) for a phone".utf8))
        return #"{"encrypted":"\#(message)","isUrgent":true}"#
    }

    private func get(_ number: Int) -> String {
        let message = "BisqMessageiOS|ed3ef74fcb5649ca|" + String(repeating: "QUFB", count: 16 * (1 + number))
        let hex = Hex.encode(Array(message.utf8))
        return "/relay?isAndroid=false&isProduction=true&token=\(Hex.encode(Array(token.utf8)))&msg=\(hex)"
    }

    private func code(_ answer: HTTPResponse?) -> String? {
        answer.flatMap { try? JSON($0.body)["errorCode"]?.string }
    }

    private let blocks = FaultScript([FaultRule(.answer(status: 403, reason: "InvalidProviderToken"))])

    /// A Bisq 2 with another relay goes on to it at 500 and above.
    @Test func withoutCredentialsItIsNeverTheSendersFault() async throws {
        let world = try await RelayWorld {
            $0.disabled = ["bisq1-ios", "bisq2-ios"]
            $0.door.bisq2.android = "nowhere"
        }
        let client = try await world.client()
        let disabled = await client.post(path, json(0))
        #expect(disabled?.status == 503 && code(disabled) == "GatewayDisabled")
        let unknown = await client.post("/v1/fcm/device/" + String(repeating: "t:-_", count: 30), json(0))
        #expect(unknown?.status == 503 && code(unknown) == "UnknownApp")
        let plain = await client.get(get(0))
        #expect(plain?.status == 503 && plain?.text == "GatewayDisabled")
        #expect(world.dispatcher.waiting == 0)
        await world.end()
    }

    @Test func whatIsBlockedForLongSendsBisqTwoElsewhere() async throws {
        let world = try await RelayWorld {
            $0.door.outcomeDeadline = .milliseconds(100)
            $0.door.blockPatience = .milliseconds(300)
        }
        world.apple.faults = blocks
        let client = try await world.client()
        #expect(await client.post(path, json(0))?.status == 200)
        var answer = await client.post(path, json(1))
        var number = 2
        while answer?.status == 200 {
            answer = await client.post(path, json(number))
            number += 1
        }
        #expect(answer?.status == 503 && code(answer) == "InvalidProviderToken")
        let waiting = world.dispatcher.waiting
        // Bisq 1 can't turn elsewhere, and asks once: it is kept.
        #expect(await client.get(get(0))?.text == "success")
        #expect(await client.get(get(1))?.text == "success")
        #expect(world.dispatcher.waiting == waiting + 2)
        await world.end()
    }

    @Test(arguments: [RelayForm.bisq1, .bisq2]) func aStandInServesWhatIsBlockedForLong(form: RelayForm)
        async throws
    {
        let world = try await RelayWorld {
            $0.standIn = form
            $0.door.outcomeDeadline = .seconds(10)
            $0.door.blockPatience = .zero
            if form == .bisq1 {
                $0.door.bisq1.standIn = "stand-in"
            } else {
                $0.door.bisq2.standIn = "stand-in"
            }
        }
        world.apple.faults = blocks
        let client = try await world.client()
        // It learns of it by the first one.
        let first = form == .bisq1 ? await client.get(get(0)) : await client.post(path, json(0))
        #expect(first?.status == 200)
        try await EventLoop.until { world.dispatcher.lanes.contains { $0.block != nil } }
        let second = form == .bisq1 ? await client.get(get(1)) : await client.post(path, json(1))
        #expect(second?.status == 200)
        try await EventLoop.until { !world.relay.book.isEmpty }
        #expect(world.relay.book.map(\.deviceToken) == [token])
        await world.end()
    }

    @Test func whatWasHandedOnIsNotHandedOnAgain() async throws {
        let world = try await RelayWorld {
            $0.standIn = .bisq2
            $0.door.bisq2.ios = "stand-in"
            $0.door.bisq1.ios = "stand-in"
        }
        let client = try await world.client()
        for hops in ["1", "2", "x", "99999999999999999999", "-1"] {
            let answer = await client.post(path, json(0), fields: "onionbell-hops: \(hops)\r\n")
            #expect(answer?.status == 508 && code(answer) == "Loop", "\(hops)")
        }
        let answer = await client.get(get(0), fields: "Onionbell-Hops: 1\r\n")
        #expect(answer?.status == 508 && answer?.text == "Loop")
        // From its sender, and what an app of one's own serves.
        #expect(await client.post(path, json(0), fields: "onionbell-hops: 0\r\n")?.status == 200)
        let google = "/v1/fcm/device/" + String(repeating: "t:-_", count: 30)
        #expect(await client.post(google, json(0), fields: "onionbell-hops: 1\r\n")?.status == 200)
        #expect(world.google.book.count == 1)
        try await EventLoop.until { !world.relay.book.isEmpty }
        #expect(world.relay.book.count == 1)
        await world.end()
    }
}
