import Testing

@testable import Figures

@Suite struct HistoryTests {
    private func totals(delivered: Int = 0, refused: [String: Int] = [:]) -> History.Totals {
        var totals = History.Totals()
        totals.delivered = delivered
        for (word, count) in refused { totals.refused.add(word, count) }
        return totals
    }

    @Test func whatCameBetweenTwoReadingsBelongsToTheMinuteOfTheSecond() {
        var history = History(at: 100)
        history.read(totals(delivered: 3), at: 100)
        history.read(totals(delivered: 3), at: 101)
        history.read(totals(delivered: 10, refused: ["BadMessage": 1]), at: 102)
        history.read(totals(delivered: 11, refused: ["BadMessage": 3]), at: 102)
        #expect(history.spans(of: 1, count: 4).map(\.delivered) == [0, 3, 0, 8])
        #expect(history.spans(of: 2, count: 2).map(\.delivered) == [3, 8])
        #expect(history.sum(ofLast: 1).refused.counts == ["BadMessage": 3])
        #expect(history.sum(ofLast: 60).delivered == 11)
    }

    /// The last minute that is kept, and the first that is forgotten.
    @Test func aDayIsKept() {
        var history = History(at: 0)
        history.read(totals(delivered: 1), at: 0)
        history.read(totals(delivered: 1), at: 1439)
        #expect(history.sum(ofLast: 1440).delivered == 1)
        history.read(totals(delivered: 1), at: 1440)
        #expect(history.sum(ofLast: 1440).delivered == 0)
    }

    @Test func aProcessGoesOnWhereTheOneBeforeItEnded() {
        var before = History(at: 1000)
        for minute in 1000...1010 as ClosedRange<Int64> {
            before.read(
                totals(delivered: Int(minute) - 999, refused: ["x": 1]), waiting: Int(minute % 3), at: minute)
        }
        #expect(before.covered == 10)
        var after = History(at: 5, kept: before.kept, covered: before.covered)
        #expect(after.covered == 10)
        after.read(totals(delivered: 2), waiting: 1, at: 6)
        #expect(after.sum(ofLast: 1440).delivered == before.sum(ofLast: 1440).delivered + 2)
        #expect(after.sum(ofLast: 1440).refused.counts == ["x": 1])
        #expect(after.mostWaiting(of: 1, count: 3) == [1, 2, 1])
        #expect(after.kept.first?.age == 0)
    }

    /// The machine slept: what was before is forgotten, however long it took.
    @Test(arguments: [1440, 1441, 3000, 1_000_000_000] as [Int64])
    func nothingOfAnEarlierDayIsLeft(minute: Int64) {
        var history = History(at: -5)
        for passed in 0..<1440 as Range<Int64> {
            history.read(totals(delivered: Int(passed) + 1), at: passed - 5)
        }
        history.read(totals(delivered: 1442), at: minute + 1440)
        #expect(history.sum(ofLast: 1440).delivered == 2)
    }

    /// A clock that goes back takes nothing away.
    @Test func anEarlierMinuteCountsAsThePresentOne() {
        var history = History(at: 10)
        history.read(totals(delivered: 1), at: 10)
        history.read(totals(delivered: 2), at: 5)
        #expect(history.sum(ofLast: 1).delivered == 2)
    }
}
