import Clocks

/// The present, as the edges read it. Pure code takes it as an argument.
package struct Instant: Equatable, Sendable {
    /// Milliseconds since 1970, UTC. May jump; used for what others read or what outlives the process.
    package var unixMilliseconds: Int64
    package var monotonic: MonotonicTime

    package init(unixMilliseconds: Int64, monotonic: MonotonicTime) {
        self.unixMilliseconds = unixMilliseconds
        self.monotonic = monotonic
    }

    /// Returns when a time of the wall clock comes, on the clock that never goes back: at once if it is past, and no later
    /// than `longest` from now, whatever a clock that has jumped made of it.
    ///
    /// - Parameter longest: Milliseconds.
    func deadline(_ unixMilliseconds: Int64, within longest: Int64) -> MonotonicTime {
        let (remaining, isOverflow) = unixMilliseconds.subtractingReportingOverflow(self.unixMilliseconds)
        guard unixMilliseconds > self.unixMilliseconds else { return monotonic }
        let wait = isOverflow ? longest : min(remaining, longest)
        return MonotonicTime(nanoseconds: monotonic.nanoseconds + wait * 1_000_000)
    }
}
