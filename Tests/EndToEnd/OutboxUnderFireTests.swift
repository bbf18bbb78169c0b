import Client
import Clocks
import Foundation
import JSONCoding
import Lab
import Persistence
import Reactor
import Relay
import Testing
import Vectors
import Wire

/// The built program's outbox when disk, gateway or operator do their worst.
@EventLoop
@Suite(.serialized) struct OutboxUnderFireTests {
    /// Sends until the answer is of another kind.
    private func send(
        from first: Int, by peer: BisqPeer, while status: MobileNotificationResponse.Status,
        atMost: Int = 20_000
    ) async throws -> (stored: [Int], next: Int) {
        var stored: [Int] = []
        for number in first..<first + atMost {
            let answer = try await peer.send(request(number)).status
            if answer == .stored { stored.append(number) }
            guard answer == status else { return (stored, number) }
        }
        return (stored, first + atMost)
    }

    private func outcome(_ number: Int, by peer: BisqPeer) async throws -> MobileNotificationResponse.Status?
    {
        var response = try await peer.send(request(number, awaitsOutcome: true))
        if response.status == .stored { response = try await peer.nextResponse(to: response.requestUid) }
        return response.status
    }

    /// How often each notification was taken by Apple.
    private func pushes(_ stage: LoopbackStage) -> [String: Int] {
        stage.world.apple.book.reduce(into: [:]) { $0[$1.deviceToken, default: 0] += 1 }
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can make a small disk"))
    func aFullDiskIsAnsweredBusyAndMendsItselfWhenThereIsRoom() async throws {
        let disk = try SmallDisk(megabytes: 8)
        defer { disk.remove() }
        let stage = try LoopbackStage(state: disk.path + "/state")
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await outcome(0, by: peer) == .delivered)
        try disk.fill()
        let (stored, busy) = try await send(from: 1, by: peer, while: .stored)
        #expect(try stage.health()["checks"]?["outbox"]?["state"]?.string?.contains("no space") == true)
        #expect(try await peer.send(request(busy)).status == .busy)
        try disk.empty()
        var (_, next) = try await send(from: busy, by: peer, while: .busy, atMost: 1)
        while next > busy { (_, next) = try await send(from: busy, by: peer, while: .busy, atMost: 1) }
        for number in stored + [busy] { #expect(try await outcome(number, by: peer) == .delivered) }
        #expect(try stage.isWell("outbox"))
        #expect(pushes(stage).count == stored.count + 2)
        #expect(pushes(stage).values.allSatisfy { $0 == 1 })
        await stage.close()
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can make a small disk"))
    func aNodeThatIsKilledOnAFullDiskLosesNothing() async throws {
        let disk = try SmallDisk(megabytes: 8)
        defer { disk.remove() }
        let stage = try LoopbackStage(state: disk.path + "/state")
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        let peer = try await stage.dial()
        var (stored, _) = try await send(from: 0, by: peer, while: .stored, atMost: 200)
        try disk.fill()
        let (more, busy) = try await send(from: 200, by: peer, while: .stored)
        stored += more
        await stage.node.kill()
        try disk.empty()
        stage.world.apple.faults = FaultScript()
        try await stage.start()
        let again = try await stage.dial()
        for number in stored + [busy] { #expect(try await outcome(number, by: again) == .delivered) }
        #expect(pushes(stage).count == stored.count + 1)
        await stage.close()
    }

    @Test func aNodeIsStoppedWithinTenSecondsWithEverythingUnfinishedSafe() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        try await stage.start()
        let peer = try await stage.dial()
        let (stored, _) = try await send(from: 0, by: peer, while: .stored, atMost: 300)
        #expect(await stage.node.stop() == .exited(0))
        stage.world.apple.faults = FaultScript()
        try await stage.start()
        let again = try await stage.dial()
        for number in stored { #expect(try await outcome(number, by: again) == .delivered) }
        #expect(pushes(stage).count == 300)
        #expect(pushes(stage).values.allSatisfy { $0 == 1 })
        await stage.close()
    }

    @Test func whatExpiresWhileItWaitsIsToldSo() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([
            FaultRule(.answer(status: 429, reason: "TooManyRequests", retryAfter: "3600"))
        ])
        try await stage.start()
        let peer = try await stage.dial()
        var short = request(1, awaitsOutcome: true)
        short.expiresAt = EventLoop.unixMilliseconds + 5000
        #expect(try await peer.send(short).status == .stored)
        let response = try await peer.nextResponse(to: short.uid)
        #expect(response.status == .expired)
        #expect(response.reason == "Expired")
        #expect(stage.world.apple.book.isEmpty)
        await stage.close()
    }

    /// To 100 devices. What the take-over costs is in `Deploy/tools/bench`.
    @Test func manyThousandWaitingAreTakenOverAndDeliveredInTheirOrder() async throws {
        let stage = try LoopbackStage()
        _ = try stage.world.directory.make("state")
        let outbox = try await OutboxStore(path: stage.world.state + "/outbox.sqlite")
        let count: Int64 = isLong ? 100_000 : 20_000
        for start in stride(from: 1, through: count, by: 10_000) {
            _ = try await outbox.commit((start..<start + 10_000).map { .store(Self.row($0)) })
        }
        await outbox.close()
        try await stage.start()
        let log = stage.node.lines
        #expect(log.contains { $0.contains("outbox.restored waiting=\(count)") })
        try await until { stage.world.apple.book.count >= 3000 }
        await stage.node.kill()
        var last: [String: Int] = [:]
        for push in stage.world.apple.book {
            let text = try JSON(push.body)["encrypted"]?.string.flatMap { Data(base64Encoded: $0) }
            let words = String(decoding: text ?? Data(), as: UTF8.self)
            let number = try #require(Int(words.prefix(8)))
            #expect(last[push.deviceToken, default: -1] < number)
            last[push.deviceToken] = number
        }
        #expect(last.count == 100)
        await stage.world.close()
    }

    /// As evenly spread as keyed digests are.
    private static func digest(_ number: Int64, low: UInt64) -> Relay.Digest {
        Relay.Digest(high: UInt64(number) &* 0x9e37_79b9_7f4a_7c15, low: low)
    }

    private static func row(_ sequence: Int64) -> StoreRequest {
        let digits = String(repeating: "0", count: 8 - "\(sequence)".count) + "\(sequence)"
        let device = sequence % 100
        let now = EventLoop.unixTime
        return StoreRequest(
            notification: Relay.Notification(
                id: NotificationID(high: UInt64(sequence), low: 1),
                lane: LaneID(app: "bisq-remote-ios", host: .production),
                deviceToken: DeviceToken(
                    String(repeating: "0", count: 62) + (device < 10 ? "0" : "") + "\(device)"),
                message: Data((digits + String(repeating: "x", count: 500)).utf8).base64EncodedString(),
                isUrgent: true, hasSound: true, isMutableContent: true, isContentAvailable: true,
                expiresAt: now + .seconds(86_400), acceptedAt: now),
            digests: SubmissionDigests(
                token: digest(device, low: 1),
                identity: digest(sequence, low: 2),
                content: digest(sequence, low: 3)))
    }
}
