import Clocks
import Testing
import Vectors

@testable import Relay

@Suite struct NotificationTests {
    @Test func anIdIsWrittenAsApplesApnsId() {
        let id = NotificationID(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210)
        #expect(id.uuid == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(NotificationID(high: 0, low: 0).uuid == "00000000-0000-0000-0000-000000000000")
    }

    /// So that the phone shows it once, even when the node has forgotten the first.
    @Test func aRepetitionHasTheIdOfTheFirst() throws {
        func id(_ submission: Submission) throws -> NotificationID {
            let node = Node()
            _ = node.submit(submission)
            let changes = node.begin()
            guard case .store(let request) = try #require(changes.first) else { throw Reason.internal }
            return request.notification.id
        }
        #expect(try id(Sample.android("u")) == id(Sample.android("u", message: "QUJD" + Sample.message)))
        #expect(try id(Sample.android("u")) != id(Sample.android("v")))
        #expect(try id(Sample.android()) == id(Sample.android(isUrgent: true)))
        #expect(try id(Sample.android()) != id(Sample.android(token: Sample.token(2))))
        #expect(try id(Sample.android()) != id(Sample.android(message: "QUJD" + Sample.message)))
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
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_772_360_130_123, "2026-03-01T10:15:30.123Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (-1, nil), (253_402_300_800_000, nil), (.min, nil), (.max, nil),
        ] as [(Int64, String?)])
    func aTimeIsWrittenAsRFC3339(milliseconds: Int64, text: String?) {
        #expect(UTCTime.text(milliseconds) == text)
    }

    @Test func aTimeOfTheWallClockIsSetOnTheOther() {
        let now = Instant(unix: 1000, monotonic: 7)
        #expect(now.deadline(1001, within: 10_000) == 1_000_007)
        #expect(now.deadline(1000, within: 10_000) == 7)
        #expect(now.deadline(11_000, within: 10_000) == 10_000_000_007)
        #expect(now.deadline(11_001, within: 10_000) == 10_000_000_007)
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func noTimeTraps(unixMilliseconds: Int64) {
        for present in [Int64.min, -1, 0, .max] {
            let now = Instant(unix: UnixTime(milliseconds: present), monotonic: 0)
            let wait: MonotonicTime = unixMilliseconds > present ? 1_000_000_000 : 0
            let deadline = now.deadline(UnixTime(milliseconds: unixMilliseconds), within: 1_000)
            #expect(
                deadline == wait || unixMilliseconds == 0 && present == -1 && deadline == 1_000_000)
        }
    }
}
