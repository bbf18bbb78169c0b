import Clocks
import Testing

@testable import Relay

/// The dates of what a node accepts into a store with other nodes, whose clocks it is compared with.
@Suite struct SharedDatesTests {
    private static let start: Int64 = 1_795_000_000_000

    /// A moment so many seconds after the start, by a wall clock that is so many seconds ahead.
    private func moment(_ seconds: Int64, ahead: Int64 = 0) -> Instant {
        Instant(
            unix: UnixTime(milliseconds: Self.start + (seconds + ahead) * 1000),
            monotonic: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
    }

    private func clock(isShared: Bool = true) -> WallClock {
        var clock = WallClock(isShared: isShared)
        let now = moment(0)
        _ = clock.start(nil, offset: now.offset, lastSequence: 0, at: now)
        return clock
    }

    /// Years, either way: until somebody has compared it, the clock that was set dates nothing.
    @Test(arguments: [-94_608_000, -61, 61, 94_608_000] as [Int64])
    func aClockThatWasSetDatesNothingBeforeItIsCompared(seconds: Int64) {
        var clock = clock()
        let now = moment(10, ahead: seconds)
        _ = clock.note(now, lastSequence: 0)
        #expect(clock.date(at: now) == moment(10).unix)
        // It was wrong, and is corrected.
        let corrected = moment(11)
        _ = clock.note(corrected, lastSequence: 0)
        clock.compare(at: corrected)
        #expect(clock.date(at: moment(12)) == moment(12).unix)
    }

    /// The others say that it is right now, and was wrong before.
    @Test func aClockThatWasSetRightDatesAgainOnceItIsCompared() {
        var clock = clock()
        let now = moment(10, ahead: 94_608_000)
        _ = clock.note(now, lastSequence: 0)
        clock.compare(at: now)
        #expect(clock.date(at: now) == now.unix)
    }

    /// A minute is no step: clocks are put right by that all the time.
    @Test func aSmallStepIsFollowedAtOnce() {
        let clock = clock()
        #expect(clock.date(at: moment(10, ahead: 60)) == moment(10, ahead: 60).unix)
    }
}
