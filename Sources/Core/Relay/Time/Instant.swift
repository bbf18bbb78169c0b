import Clocks

/// The present, as the edges read it. Pure code takes it as an argument.
package struct Instant: Equatable, Sendable {
    package var unix: UnixTime
    package var monotonic: MonotonicTime

    package init(unix: UnixTime, monotonic: MonotonicTime) {
        self.unix = unix
        self.monotonic = monotonic
    }

    /// Returns the time of the clock that never goes back at which a time of the wall clock comes. A past time comes at once,
    /// and no time comes later than `longest` from now, even if the wall clock has jumped.
    ///
    /// - Parameter longest: Milliseconds.
    func deadline(_ unixTime: UnixTime, within longest: Int64) -> MonotonicTime {
        let (remaining, isOverflow) = unixTime.milliseconds.subtractingReportingOverflow(unix.milliseconds)
        guard unixTime > unix else { return monotonic }
        let wait = isOverflow ? longest : min(remaining, longest)
        return MonotonicTime(nanoseconds: monotonic.nanoseconds + wait * 1_000_000)
    }
}
