import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Wire

/// Device tokens that the gateway doesn't want, in the built program.
@EventLoop
@Suite struct DeadTokenTests {
    @Test func aDeadTokenIsRefusedAtOnceAlsoAfterAKill() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([
            FaultRule(.answer(status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000))
        ])
        try await stage.start()
        var peer = try await stage.dial()
        let first = request(1, awaitsOutcome: true)
        #expect(try await peer.send(first).status == .stored)
        #expect(try await peer.nextResponse(to: first.uid).status == .tokenDead)
        for round in 0..<2 {
            var other = first
            other.uid = "another-\(round)"
            let response = try await peer.send(other)
            #expect(response.status == .tokenDead)
            #expect(response.reason == "Unregistered")
            guard round == 0 else { break }
            await stage.node.kill()
            try await stage.start()
            peer = try await stage.dial()
        }
        #expect(stage.world.apple.figures.requests == 1)
        await stage.close()
    }

    @Test func manyBadTokensInARowAlarmTheOperatorAndKillNoToken() async throws {
        let stage = try LoopbackStage()
        stage.world.apple.faults = FaultScript([FaultRule(.answer(status: 400, reason: "BadDeviceToken"))])
        try await stage.start()
        let peer = try await stage.dial()
        for number in 1...20 {
            #expect(try stage.isWell("bisq-remote-ios"))
            let response = try await peer.send(request(number, awaitsOutcome: true))
            #expect(response.status == .stored)
            #expect(try await peer.nextResponse(to: response.requestUid).reason == "BadDeviceToken")
        }
        let check = try stage.health()["checks"]?["bisq-remote-ios"]
        #expect(check?["ok"]?.bool == false)
        #expect(check?["state"]?.string?.contains("20 device tokens refused in a row") == true)
        // The log has a thread of its own.
        await stage.logged("gateway.tokens_refused")
        #expect(stage.node.lines.contains { $0.contains("gateway.tokens_refused") })
        stage.world.apple.faults = FaultScript()
        var again = request(1, awaitsOutcome: true)
        again.uid = "again"
        #expect(try await peer.outcome(of: again).status == .delivered)
        #expect(try stage.isWell("bisq-remote-ios"))
        await stage.close()
    }
}
