import Testing

@testable import Tor

/// How long a tor that starts or ends is tried.
@Suite struct TorPatienceTests {
    @Test func itIsOverOnceItsTimeHasPassed() {
        let start = ContinuousClock.now
        let patience = TorPatience(for: .seconds(20), from: start)
        #expect(!patience.isOver(at: start) && !patience.isOver(at: start + .milliseconds(19_999)))
        #expect(patience.isOver(at: start + .seconds(20)) && patience.isOver(at: start + .seconds(300)))
    }
}
