import Clocks

/// The largest of some values of the last minute, or their sum, to within ten seconds.
package struct LastMinute: Sendable {
    /// Nanoseconds.
    private static let span: Int64 = 10_000_000_000
    private static let spans = 7

    private var maxima: [Int64] = Array(repeating: 0, count: spans)
    private var sums: [Int64] = Array(repeating: 0, count: spans)
    private var latest: Int64 = 0

    package init() {}

    package mutating func add(_ value: Int64, at now: MonotonicTime) {
        move(to: now)
        let index = Int(latest % Int64(Self.spans))
        maxima[index] = max(maxima[index], value)
        sums[index] += value
    }

    /// Returns the largest value; 0 if there was none.
    package mutating func maximum(at now: MonotonicTime) -> Int64 {
        move(to: now)
        return maxima.max() ?? 0
    }

    package mutating func sum(at now: MonotonicTime) -> Int64 {
        move(to: now)
        return sums.reduce(0, +)
    }

    private mutating func move(to now: MonotonicTime) {
        let present = now.nanoseconds / Self.span
        guard present > latest else { return }
        for span in max(latest + 1, present - Int64(Self.spans) + 1)...present {
            maxima[Int(span % Int64(Self.spans))] = 0
            sums[Int(span % Int64(Self.spans))] = 0
        }
        latest = present
    }
}
