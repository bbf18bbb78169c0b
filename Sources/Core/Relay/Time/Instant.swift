import Clocks

/// The present, as the edges read it. Pure code takes it as an argument.
package struct Instant: Equatable, Sendable {
    package var unix: UnixTime
    package var monotonic: MonotonicTime

    package init(unix: UnixTime, monotonic: MonotonicTime) {
        self.unix = unix
        self.monotonic = monotonic
    }

    /// Returns when a time of the wall clock comes, on the clock that never goes back: at once if it is past, and no later
    /// than `longest` from now, whatever a clock that has jumped made of it.
    ///
    /// - Parameter longest: Milliseconds.
    func deadline(_ unixTime: UnixTime, within longest: Int64) -> MonotonicTime {
        let (remaining, isOverflow) = unixTime.milliseconds.subtractingReportingOverflow(unix.milliseconds)
        guard unixTime > unix else { return monotonic }
        let wait = isOverflow ? longest : min(remaining, longest)
        return MonotonicTime(nanoseconds: monotonic.nanoseconds + wait * 1_000_000)
    }
}
