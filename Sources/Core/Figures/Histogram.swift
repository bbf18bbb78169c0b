/// How long something took, as counts between fixed bounds: adding one costs a few comparisons and no memory.
///
/// Times are nanoseconds. The bounds reach from what a commit takes to what Apple's longest outage may take.
package struct Histogram: Equatable, Sendable {
    /// Upper bounds in nanoseconds, ascending; beyond the last one there is a bucket without.
    package static let bounds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
        30_000_000_000, 60_000_000_000, 300_000_000_000, 1_800_000_000_000, 7_200_000_000_000,
    ]

    /// The counts of the times up to each bound and above the bound
    /// before; the last is of those above all bounds.
    package private(set) var counts: [Int]
    /// Nanoseconds, of all together.
    package private(set) var sum: Int64 = 0

    package init() { counts = Array(repeating: 0, count: Histogram.bounds.count + 1) }

    package var count: Int { counts.reduce(0, +) }

    /// Adds a time in nanoseconds. A time below 0, after a clock was set, counts as 0.
    package mutating func add(_ time: Int64) {
        let bounds = Histogram.bounds
        var bucket = 0
        while bucket < bounds.count, time > bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        // 292 years of waiting fit.
        sum &+= max(0, time)
    }

    /// Adds the times of another histogram as well.
    package mutating func add(_ other: Histogram) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        sum &+= other.sum
    }

    /// Returns the time in nanoseconds within which this part of all ended. Between two bounds they count as
    /// evenly spread; beyond the last bound it is that bound.
    ///
    /// - Parameter part: Above 0, up to 1.
    /// - Returns: `nil` while there is nothing.
    package func quantile(_ part: Double) -> Int64? {
        let count = count
        guard count > 0 else { return nil }
        let rank = part * Double(count)
        var below = 0
        for (bucket, inside) in counts.enumerated() where inside > 0 {
            guard Double(below + inside) < rank else {
                guard bucket < Histogram.bounds.count else { break }
                let lower = bucket == 0 ? 0 : Histogram.bounds[bucket - 1]
                let width = Double(Histogram.bounds[bucket] - lower)
                return lower + Int64(width * (rank - Double(below)) / Double(inside))
            }
            below += inside
        }
        return Histogram.bounds.last
    }
}
