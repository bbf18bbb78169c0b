import Foundation
import Lab
import Reactor
import Testing
import Vectors

/// The built program on a machine that sleeps, as its clocks tell it.
@EventLoop
@Suite struct SleptTests {
    /// Google wants the phone spared for ten minutes, the machine sleeps for two hours, and the notification had one.
    @Test func whatLapsesWhileTheMachineSleepsEndsUnsent() async throws {
        let stage = try LoopbackStage()
        let clocks = try ShiftedClocks(in: stage.world.directory.path)
        stage.world.google.faults = FaultScript([
            FaultRule(.answer(status: 429, reason: "QUOTA_EXCEEDED", retryAfter: "600"))
        ])
        try await stage.start(environment: clocks.environment)
        let peer = try await stage.dial()
        var short = request(1, platform: .android)
        short.expiresAt = EventLoop.unixMilliseconds + 3_600_000
        #expect(try await peer.send(short).status == .stored)
        let lasting = request(2, platform: .android)
        #expect(try await peer.send(lasting).status == .stored)
        // A clock that jumps before the program has read the answers would have it wait for ten minutes more.
        try await until { try stage.metrics().contains("reason=\"QUOTA_EXCEEDED\"} 2\n") }
        stage.world.google.faults = FaultScript([])
        #expect(stage.world.google.book.isEmpty)
        // The machine sleeps, and nobody else does.
        stage.world.google.clockOffset = .seconds(7200)
        try clocks.set(.slept, seconds: 7200)
        let ended = "outcome=\"expired\",reason=\"Expired\"} 1\n"
        try await until { try stage.metrics().contains(ended) && !stage.world.google.book.isEmpty }
        #expect(stage.world.google.book.map(\.deviceToken) == [lasting.deviceToken])
        await stage.close()
    }
}
