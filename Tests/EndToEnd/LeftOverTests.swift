import Clocks
import Foundation
import JSONCoding
import Lab
import Persistence
import Reactor
import Relay
import Testing

/// What waits for an app that the settings name no more.
@EventLoop
@Suite struct LeftOverTests {
    /// A phone of Google's: nobody knows that any more, and nobody takes it for Apple's.
    @Test func aLaneThatIsLeftOverIsToldAsSuch() async throws {
        let stage = try LoopbackStage()
        _ = try stage.world.directory.make("state")
        let outbox = try await OutboxStore(path: stage.world.state + "/outbox.sqlite")
        let now = EventLoop.unixTime
        let row = StoreRequest(
            notification: Relay.Notification(
                id: NotificationID(high: 1, low: 1), lane: LaneID(app: "old-android", host: .production),
                deviceToken: DeviceToken(String(repeating: "o", count: 40)),
                message: Data(String(repeating: "x", count: 60).utf8).base64EncodedString(), isUrgent: true,
                hasSound: true, isMutableContent: true, isContentAvailable: true,
                expiresAt: now + .seconds(86_400),
                acceptedAt: now),
            digests: SubmissionDigests(
                token: Digest(high: 1, low: 1), identity: Digest(high: 1, low: 2),
                content: Digest(high: 1, low: 3)))
        _ = try await outbox.commit([.store(row)])
        await outbox.close()
        try await stage.start()
        let status = try run([program, "status", "--json", "--config", stage.configuration])
        let lanes = try #require(try JSON(Array(status.output.utf8))["gateways"]?.array)
        let services = Dictionary(
            uniqueKeysWithValues: lanes.map {
                ("\($0["app"]?.string ?? "").\($0["environment"]?.string ?? "")", $0["service"])
            })
        #expect(services["bisq-remote-ios.production"]??.string == "apns")
        #expect(services["bisq-remote-android.production"]??.string == "fcm")
        #expect(services["old-android.production"] == .some(.some(.null)))
        let check = try stage.health()["checks"]?["old-android"]
        #expect(check?["state"]?.string == "1 wait for an app that the settings do not name")
        #expect(check?["advice"]?.string?.contains("outbox move --app old-android --to") == true)
        // With the words of the advice it goes to Google, whose app has its phones now.
        let moved = try run([
            program, "outbox", "move", "--app", "old-android", "--to", "bisq-remote-android", "--config",
            stage.configuration,
        ])
        #expect(moved.output == "1 moved\n", "\(moved)")
        try await until { !stage.world.google.book.isEmpty }
        #expect(stage.world.google.book.count == 1)
        await stage.close()
    }
}
