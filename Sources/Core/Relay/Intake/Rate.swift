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

/// A rate for each of many, so that none uses up what another may have. Those beyond ``most`` have one rate together.
package struct Rates<Key: Hashable & Sendable>: Sendable {
    private let rate: Rate
    /// The most keys that are remembered one by one.
    private let most: Int
    private var used: [Key: Rate.Use] = [:]
    private var usedByOthers = Rate.Use()

    package init(_ rate: Rate, most: Int) { (self.rate, self.most) = (rate, most) }

    /// The number of keys that are remembered.
    package var count: Int { used.count }

    /// Counts one more use if it may come now.
    ///
    /// - Returns: The time until it may; zero: it is counted.
    package mutating func take(by key: Key, at now: MonotonicTime) -> Duration {
        if used.count >= most, used[key] == nil { clean(at: now) }
        guard used.count < most || used[key] != nil else { return rate.take(from: &usedByOthers, at: now) }
        return rate.take(from: &used[key, default: Rate.Use()], at: now)
    }

    /// Returns the time until one more use may come; zero: now.
    package func delay(for key: Key, at now: MonotonicTime) -> Duration {
        rate.delay(after: used[key] ?? Rate.Use(), at: now)
    }

    /// Forgets the keys that have nothing used up.
    package mutating func clean(at now: MonotonicTime) { used = used.filter { !$0.value.isOver(at: now) } }

    /// Forgets the keys that are none any more.
    package mutating func keep(where isKept: (Key) -> Bool) { used = used.filter { isKept($0.key) } }
}
