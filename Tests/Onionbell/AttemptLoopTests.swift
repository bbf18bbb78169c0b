import Reactor
import Testing

@testable import Terminal

/// How long a command waits before it connects again.
@Suite @EventLoop struct AttemptLoopTests {
    /// Returns the next pause after five that were for nothing, and a connection of three seconds.
    private func pause(hasNews: Bool) -> Duration {
        let attempts = AttemptLoop()
        for _ in 0..<5 { _ = attempts.nextPause() }
        attempts.connectionEnded(after: .seconds(3), hasNews: hasNews)
        return attempts.nextPause()
    }

    @Test func aShortConnectionThatBroughtSomethingWasGood() {
        #expect(pause(hasNews: true) <= .seconds(2))
    }

    @Test func aShortConnectionThatBroughtNothingWasNone() {
        #expect(pause(hasNews: false) >= .seconds(32))
    }
}
