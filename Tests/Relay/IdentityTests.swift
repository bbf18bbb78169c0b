import Testing
import Vectors

@testable import Relay

@Suite struct NotificationTests {
    @Test func anIdIsWrittenAsApplesApnsId() {
        let id = NotificationID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)
        #expect(id.uuid == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(NotificationID(high: 0, low: 0).uuid == "00000000-0000-0000-0000-000000000000")
    }

    @Test func anIdHasOneHundredAndTwentyEightRandomBits() {
        var random = SeededRandom(state: 3)
        let ids = Set((0..<1000).map { _ in NotificationID.random(using: &random) })
        #expect(ids.count == 1000)
        #expect(ids.reduce(0) { $0 | $1.high } == .max)
        #expect(ids.reduce(0) { $0 | $1.low } == .max)
    }
}

@Suite struct DigestTests {
    @Test func aLogShowsEightDigits() {
        #expect(Digest(high: 0x0000_00ab_0000_0000, low: 1).shortHex == "000000ab")
        #expect(Digest(high: .max, low: 0).shortHex == "ffffffff")
        #expect(Digest(high: 0xffff_ffff, low: .max).shortHex == "00000000")
    }
}

@Suite struct ClockTests {
    @Test func aTimeOfTheWallClockIsSetOnTheOther() {
        let now = Instant(unixMilliseconds: 1000, monotonicNanoseconds: 7)
        #expect(now.deadline(1001, within: .seconds(10)) == 1_000_007)
        #expect(now.deadline(1000, within: .seconds(10)) == 7)
        #expect(now.deadline(11_000, within: .seconds(10)) == 10_000_000_007)
        #expect(now.deadline(11_001, within: .seconds(10)) == 10_000_000_007)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func noTimeTraps(unixMilliseconds: Int64) {
        for present in [Int64.min, -1, 0, .max] {
            let now = Instant(unixMilliseconds: present, monotonicNanoseconds: 0)
            let wait = unixMilliseconds > present ? 1_000_000_000 : 0
            let deadline = now.deadline(unixMilliseconds, within: .seconds(1))
            #expect(
                deadline == Int64(wait) || unixMilliseconds == 0 && present == -1 && deadline == 1_000_000)
        }
    }
}
