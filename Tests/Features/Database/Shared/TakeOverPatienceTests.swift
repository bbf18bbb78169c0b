import Clocks
import Testing

@testable import DatabaseEndpoint

/// What other nodes seem to have lost, by the store's clock.
@Suite struct TakeOverPatienceTests {
    /// One look: seconds of this node's clock, and those by which the store's clock differs.
    private struct Step {
        var at: Int64
        var shift: Int64 = 0
        /// Seconds between question and answer.
        var took: Int64 = 0
    }

    private func answers(_ steps: [Step]) -> [Bool] {
        var patience = TakeOverPatience()
        return steps.map { step in
            let asked = MonotonicTime(nanoseconds: step.at * 1_000_000_000)
            return patience.note(
                TakeOverPatience.Look(
                    storeTime: UnixTime(milliseconds: 20_000 * 86_400_000 + (step.at + step.shift) * 1000),
                    askedAt: asked, answeredAt: asked + .seconds(step.took)))
        }
    }

    @Test func whatHasEndedIsTakenAtOnce() {
        #expect(answers([Step(at: 0), Step(at: 2), Step(at: 4), Step(at: 8)]) == [true, true, true, true])
    }

    /// The nodes that live renew their leases within two seconds, by the clock as it is then.
    @Test(arguments: [7200, -7200, 3, -3] as [Int64])
    func aClockThatHasJumpedEndsNoLease(by shift: Int64) {
        let steps = [0, 2, 3, 6, 9, 10, 11].map { Step(at: $0, shift: $0 < 3 ? 0 : shift) }
        #expect(answers(steps) == [true, true, false, false, false, false, true])
    }

    /// The store was away, or this node stood still: nobody could renew, or nobody was seen to.
    @Test func whoHasNotLookedForLongWaits() {
        let steps = [0, 12, 15, 19, 20].map { Step(at: $0) }
        #expect(answers(steps) == [true, false, false, false, true])
    }

    /// The store's clock was read at any time between question and answer.
    @Test func anAnswerThatTakesLongIsNoJump() {
        #expect(
            answers([Step(at: 0), Step(at: 1, shift: 3, took: 3), Step(at: 5), Step(at: 7)])
                == [true, true, true, true])
    }

    @Test func clocksBeyondAllSenseAreNoTrap() {
        var patience = TakeOverPatience()
        for time in [Int64.min, .max, 0] {
            _ = patience.note(
                TakeOverPatience.Look(
                    storeTime: UnixTime(milliseconds: time), askedAt: 0, answeredAt: 0))
        }
    }
}
