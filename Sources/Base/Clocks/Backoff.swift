/// The wait between attempts: it doubles with each failure, up to a longest one.
package struct Backoff: Equatable, Sendable {
    private let first: Duration
    private let longest: Duration
    /// The failures since the last success.
    package private(set) var failures = 0

    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// Returns the first wait, doubled so often, or the longest one.
    package func bound(doubled times: Int) -> Duration {
        let times = Int64(min(max(0, times), 62))
        // The longest one is halved in place of the first doubled, which could be too long for a number.
        return first.nanoseconds > longest.nanoseconds >> times
            ? longest : .nanoseconds(first.nanoseconds << times)
    }

    /// Counts a failure.
    ///
    /// - Returns: Half to all of the bound, which doubles with each failure: never the same for two nodes.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let bound = bound(doubled: failures).nanoseconds
        failures += 1
        return .nanoseconds(Int64.random(in: bound / 2...bound, using: &random))
    }

    package mutating func reset() { failures = 0 }
}
