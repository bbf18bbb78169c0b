import Foundation
import Lab
import Reactor
import Testing

/// The built program is stopped while a gateway takes its time.
@EventLoop
@Suite struct SlowAnswerTests {
    /// Google's answer comes 4.5 seconds after the request, which was given up 3 seconds after SIGTERM: the next process
    /// sent it again, and Android shows it twice.
    @Test func anAndroidPhoneDoesNotRingTwiceWhenGoogleIsSlowAtAStop() async throws {
        let stage = try LoopbackStage()
        stage.world.google.faults = FaultScript([FaultRule(.delay(.milliseconds(4500)))])
        try await stage.start()
        let peer = try await stage.dial()
        #expect(try await peer.send(request(1, platform: .android, awaitsOutcome: true)).status == .stored)
        try await until { !stage.world.google.book.isEmpty }
        await stage.node.stop()
        #expect(stage.node.exit == .exited(0))
        stage.world.google.faults = FaultScript()
        try await stage.start()
        let again = try await stage.dial()
        // The end was written down: a repetition hears it, and nothing is sent for it.
        #expect(
            try await again.send(request(1, platform: .android, awaitsOutcome: true)).status == .delivered)
        // Whatever the start would have sent comes before this one.
        let second = request(2, platform: .android, awaitsOutcome: true)
        #expect(try await again.outcome(of: second).status == .delivered)
        #expect(stage.world.google.book.count == 2)
        await stage.close()
    }
}
