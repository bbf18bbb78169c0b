import Clocks
import Foundation
import Lab
import Persistence
import Reactor
import Relay
import Testing
import Vectors

/// The built program after a day in which no process saw the clock.
@EventLoop
@Suite struct DoubtedClockTests {
    private static let hour = Duration.seconds(3600)

    /// Over for an hour, if the clock is right.
    private static func over() -> StoreRequest {
        let now = EventLoop.unixTime
        return StoreRequest(
            notification: Relay.Notification(
                id: NotificationID(high: 1, low: 1),
                lane: LaneID(app: "bisq-remote-android", host: .production),
                deviceToken: DeviceToken(String(repeating: "o", count: 40)),
                message: Data(String(repeating: "x", count: 60).utf8).base64EncodedString(),
                isUrgent: true, hasSound: true, isMutableContent: true, isContentAvailable: true,
                expiresAt: now - hour, acceptedAt: now - hour * 26),
            digests: SubmissionDigests(
                token: Digest(high: 1, low: 1), identity: Digest(high: 1, low: 2),
                content: Digest(high: 1, low: 3)))
    }

    private func commits(of stage: LoopbackStage) throws -> Substring? {
        try stage.metrics().split(separator: "\n").first {
            $0.hasPrefix("onionbell_commits_total{result=\"ok\"}")
        }
    }

    /// By standing alone it would be believed after ten minutes.
    @Test func whatIsOverEndsOnceGoogleHasToldTheTime() async throws {
        let stage = try LoopbackStage()
        _ = try stage.world.directory.make("state")
        let outbox = try await OutboxStore(path: stage.world.state + "/outbox.sqlite")
        let trusted = EventLoop.unixTime - Self.hour * 25
        _ = try await outbox.commit([.store(Self.over()), .clock(ClockRecord(trusted: trusted))])
        await outbox.close()
        let clocks = try ShiftedClocks(in: stage.world.directory.path)
        try await stage.start(environment: clocks.environment)
        // Each time is longer than a housekeeping takes to come, which would end it, and which commits something in any
        // case. The first commit may still be the start's.
        for seconds in [20, 40] {
            let before = try #require(try commits(of: stage))
            stage.world.google.clockOffset = .seconds(seconds)
            try clocks.set(.held, seconds: seconds)
            try await until { try commits(of: stage) != before }
        }
        #expect(try !stage.metrics().contains("outcome=\"expired\",reason=\"Expired\"} 1\n"))
        let peer = try await stage.dial()
        #expect(try await peer.send(request(2, platform: .android)).status == .stored)
        try await until { try stage.metrics().contains("outcome=\"expired\",reason=\"Expired\"} 1\n") }
        #expect(stage.world.google.book.count == 1)
        await stage.close()
    }
}
