import EndpointWorlds
import Lab
import Reactor
import Testing

@testable import WebPushIn

@EventLoop
@Suite(.serialized) struct WebPushRefusalTests {
    private let token = String(repeating: "0a", count: 32)

    private func push(path: String? = nil) -> [UInt8] {
        let path = path ?? "/relay-to/production/\(token)/x"
        let head =
            "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Encoding: aes128gcm\r\nContent-Length: 200\r\n\r\n"
        return Array(head.utf8) + Array(repeating: 0, count: 200)
    }

    /// A refusal that may be the settings' is forgotten: the sender comes again, as it was told to, with the same bytes.
    @Test func whatWasMendedIsTakenWhenTheSameBytesComeAgain() async throws {
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .seconds(30) }
        let wrongTopic = FaultRule(.answer(status: 400, reason: "DeviceTokenNotForTopic"), times: 1)
        world.apple.faults = FaultScript([wrongTopic])
        let client = try await world.client()
        let refused = await client.ask(push())
        #expect(refused?.status == 502 && refused?.fields["retry-after"] != nil)
        try #require(await client.ask(push())?.status == 201)
        #expect(await world.pushes(1).count == 1 && world.apple.figures.requests == 2)
        // So is Google's trouble, whatever its word.
        let google = push(path: "/relay-to/fcm/" + String(repeating: "t:-_", count: 30) + "/x")
        world.google.faults = FaultScript([
            FaultRule(
                .text(
                    status: 400,
                    #"{"error":{"code":400,"message":"Precondition check failed.","status":"FAILED_PRECONDITION"}}"#
                ),
                times: 1)
        ])
        let failed = await client.ask(google)
        #expect(failed?.status == 502 && failed?.fields["retry-after"] != nil)
        try #require(await client.ask(google)?.status == 201)
        #expect(await world.pushes(2).count == 2 && world.google.figures.requests == 2)
        // As for Bisq's clients.
        let body = #"{"encrypted":"\#(String(repeating: "QUJD", count: 12))","isUrgent":true}"#
        let path = "/v1/apns/device/\(token)"
        world.apple.faults = FaultScript([wrongTopic])
        #expect(await client.post(path, body)?.status == 400)
        try #require(await client.post(path, body)?.status == 200)
        #expect(await world.pushes(3).count == 3 && world.apple.figures.requests == 4)
        await world.end()
    }
}
