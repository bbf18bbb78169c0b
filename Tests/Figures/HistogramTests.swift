import Testing

@testable import Figures

@Suite struct HistogramTests {
    /// A bound is the last time that its bucket takes.
    @Test(arguments: Histogram.bounds.indices)
    func aBoundBelongsToItsBucket(index: Int) {
        var histogram = Histogram()
        histogram.add(Histogram.bounds[index])
        histogram.add(Histogram.bounds[index] + 1)
        #expect(histogram.counts[index] == 1)
        #expect(histogram.counts[index + 1] == 1)
        #expect(histogram.count == 2)
        #expect(histogram.sum == 2 * Histogram.bounds[index] + 1)
    }

    @Test func aTimeBelowZeroCountsAsNone() {
        var histogram = Histogram()
        histogram.add(-5)
        #expect(histogram.counts[0] == 1)
        #expect(histogram.sum == 0)
    }

    @Test func quantilesLieWithinTheBucketOfTheirRank() {
        var histogram = Histogram()
        #expect(histogram.quantile(0.5) == nil)
        for _ in 0..<99 { histogram.add(3_000_000) }
        histogram.add(40_000_000_000)
        // All 99 lie between 2.5 and 5 ms.
        #expect(histogram.quantile(0.99) == 5_000_000)
        #expect(histogram.quantile(0.495) == 3_750_000)
        #expect(histogram.quantile(1) == 60_000_000_000)
    }

    @Test func whatLiesBeyondTheLastBoundIsSaidToBeThere() {
        var histogram = Histogram()
        histogram.add(.max)
        #expect(histogram.quantile(0.5) == Histogram.bounds.last)
    }
}

@Suite struct WordCountsTests {
    @Test func wordsFromOutsideTakeNoMoreRoomThanSixtyFour() {
        var words = WordCounts()
        for number in 0..<1000 { words.add("word-\(number)") }
        words.add("word-7")
        #expect(words.counts.count == 65)
        #expect(words["word-7"] == 2)
        #expect(words["word-63"] == 1)
        #expect(words["word-64"] == 0)
        #expect(words[WordCounts.other] == 936)
        #expect(words.total == 1001)
    }
}
