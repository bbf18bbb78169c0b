import Foundation
import Lab
import Reactor
import Testing

/// `/healthz` of the built program turns red within a minute when something holds the node up.
@EventLoop
@Suite struct RedHealthTests {
    /// As if one input took the loop so long.
    @Test func aLoopThatWasHeldUpIsRed() async throws {
        let stage = try LoopbackStage()
        try await stage.start()
        #expect(try stage.isWell("loop"))
        try stage.signal(SIGSTOP)
        try await Task.sleep(for: .seconds(4))
        try stage.signal(SIGCONT)
        for _ in 0..<120 where try stage.isWell("loop") { try await Task.sleep(for: .milliseconds(500)) }
        #expect(try !stage.isWell("loop"))
        await stage.close()
    }
}
