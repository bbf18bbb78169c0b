import Clocks

/// A rate with an average per second and a burst at once (the generic cell rate algorithm, ITU-T I.371).
package struct Rate: Equatable, Sendable {
    /// The part of a rate that somebody has used up. It takes one number, whatever the rate.
    package struct Use: Equatable, Sendable {
        /// The time at which nothing is used any more.
        fileprivate var until: MonotonicTime = 0

        package init() {}

        /// Whether nothing of the rate is used up at this time.
        package func isOver(at now: MonotonicTime) -> Bool { until <= now }
    }

    /// Nanoseconds from one to the next at the average rate.
    private let interval: Double
    /// The time by which a burst may be ahead of the average rate.
    private let tolerance: Duration

    /// Makes a rate. `burst` is how many may come at once, at least 1.
    package init(perSecond: Double, burst: Int) {
        interval = 1_000_000_000 / perSecond
        tolerance = .nanoseconds(Int64(interval * Double(burst - 1)))
    }

    /// Returns the time until one more use may come; zero: now.
    package func delay(after use: Use, at now: MonotonicTime) -> Duration {
        max(.zero, use.until - now - tolerance)
    }

    package func add(_ count: Int = 1, to use: inout Use, at now: MonotonicTime) {
        use.until = max(use.until, now) + .nanoseconds(Int64(Double(count) * interval))
    }

    /// Counts one more use if it may come now.
    ///
    /// - Returns: The time until it may; zero: it is counted.
    package func take(from use: inout Use, at now: MonotonicTime) -> Duration {
        let delay = delay(after: use, at: now)
        if delay == .zero { add(to: &use, at: now) }
        return delay
    }
}
