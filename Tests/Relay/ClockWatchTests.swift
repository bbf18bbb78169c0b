import Clocks
import Testing
import Vectors

@testable import Relay

@Suite struct ClockWatchTests {
    private static let day: Int64 = 86_400_000

    /// Whether it may forget what is older than a day, at these seconds with these offsets in milliseconds.
    private func answers(from offset: Int64, _ rounds: [(seconds: Int64, offset: Int64)]) -> [Bool] {
        var watch = ClockWatch(offset: offset)
        return rounds.map {
            let time = MonotonicTime(nanoseconds: $0.seconds * 1_000_000_000)
            watch.look(offset: $0.offset, at: time)
            return watch.hasStood(for: .seconds(86_400), at: time)
        }
    }

    @Test func aClockThatNobodySetsIsTrustedFromTheStartOn() {
        #expect(answers(from: 5, [(15, 5), (30, 60_005), (45, 120_005)]) == [true, true, true])
    }

    /// A day and more ahead, for however short a time: nothing is forgotten before a day has really passed.
    @Test func aClockThatJumpsIsNotTrustedForADay() {
        let jump = Self.day + 60_000
        #expect(
            answers(from: 0, [(15, 0), (30, jump), (45, jump), (60, 0), (86_460, 0), (86_461, 0)])
                == [true, false, false, false, false, true])
    }

    /// What is accepted between two looks may have a time of a clock that is set back before the second one.
    @Test func aJumpBetweenTwoLooksIsNoticedByWhatIsAcceptedThen() {
        var watch = ClockWatch(offset: 0)
        watch.look(offset: 0, at: .second(15))
        var wasSet = [watch.notice(offset: 30_000, at: .second(16))]
        #expect(watch.hasStood(for: .seconds(86_400), at: .second(17)))
        wasSet.append(watch.notice(offset: Self.day, at: .second(18)))
        wasSet.append(watch.notice(offset: 0, at: .second(20)))
        #expect(wasSet == [false, true, true])
        watch.look(offset: 0, at: .second(30))
        #expect(!watch.hasStood(for: .seconds(86_400), at: .second(86_420)))
        #expect(watch.hasStood(for: .seconds(86_400), at: .second(86_421)))
    }

    /// What came before has times of long ago.
    @Test(arguments: [1_600_000_000_000, -1_600_000_000_000] as [Int64])
    func aClockThatIsSetRightAfterTheStartIsTrustedADayLater(by step: Int64) {
        #expect(
            answers(from: 0, [(15, step), (30, step), (86_415, step), (86_416, step)])
                == [false, false, false, true])
    }
}
