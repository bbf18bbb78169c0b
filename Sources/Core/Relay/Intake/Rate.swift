/// A rate with an average per second and a burst at once (the generic cell rate algorithm, ITU-T I.371).
package struct Rate: Equatable, Sendable {
    /// The part of a rate that somebody has used up. It takes one number, whatever the rate.
    package struct Use: Equatable, Sendable {
        /// Monotonic nanoseconds at which nothing is used any more.
        fileprivate var until: Int64 = 0

        package init() {}

        /// Whether nothing of the rate is used up at this time.
        package func isOver(at now: Int64) -> Bool { until <= now }
    }

    /// Nanoseconds from one to the next at the average rate.
    private let interval: Double
    /// Nanoseconds by which a burst may be ahead of the average rate.
    private let tolerance: Int64

    /// Makes a rate. `burst` is how many may come at once, at least 1.
    package init(perSecond: Double, burst: Int) {
        interval = 1_000_000_000 / perSecond
        tolerance = Int64(interval * Double(burst - 1))
    }

    /// Returns the nanoseconds until one more use may come; 0: now.
    package func delay(after use: Use, at now: Int64) -> Int64 { max(0, use.until - tolerance - now) }

    package func add(_ count: Int = 1, to use: inout Use, at now: Int64) {
        use.until = max(use.until, now) + Int64(Double(count) * interval)
    }

    /// Counts one more use if it may come now.
    ///
    /// - Returns: Nanoseconds until it may; 0: it is counted.
    package func take(from use: inout Use, at now: Int64) -> Int64 {
        let delay = delay(after: use, at: now)
        if delay == 0 { add(to: &use, at: now) }
        return delay
    }
}
