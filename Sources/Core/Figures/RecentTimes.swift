import Clocks

/// How long something took lately: within the last half minute to minute.
package struct RecentTimes: Equatable, Sendable {
    /// Nanoseconds.
    private static let span: Int64 = 30_000_000_000

    /// The times of the present span; ``before`` has those of the one before it.
    private var now = Histogram()
    private var before = Histogram()
    private var longestNow: Int64 = 0
    private var longestBefore: Int64 = 0
    private var present: Int64 = 0

    package init() {}

    /// Adds a time in nanoseconds.
    package mutating func add(_ time: Int64, at moment: MonotonicTime) {
        move(to: moment)
        now.add(time)
        longestNow = max(longestNow, time)
    }

    /// Returns the median and the longest time in nanoseconds; `nil`: there was none.
    package func figures(at moment: MonotonicTime) -> (median: Int64, longest: Int64)? {
        var copy = self
        copy.move(to: moment)
        var both = copy.now
        both.add(copy.before)
        return both.quantile(0.5).map { ($0, max(copy.longestNow, copy.longestBefore)) }
    }

    private mutating func move(to moment: MonotonicTime) {
        let span = moment.nanoseconds / RecentTimes.span
        guard span > present else { return }
        let isNext = span == present + 1
        (before, longestBefore) = isNext ? (now, longestNow) : (Histogram(), 0)
        (now, longestNow) = (Histogram(), 0)
        present = span
    }
}
