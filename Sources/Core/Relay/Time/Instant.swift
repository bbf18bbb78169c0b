/// The present, as the edges read it. Pure code takes it as an argument.
package struct Instant: Equatable, Sendable {
    /// Milliseconds since 1970, UTC. May jump; used for what others read or what outlives the process.
    package var unixMilliseconds: Int64
    /// Nanoseconds of a clock that never goes back. Used for rates, back-off and latency.
    package var monotonicNanoseconds: Int64

    package init(unixMilliseconds: Int64, monotonicNanoseconds: Int64) {
        self.unixMilliseconds = unixMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
    }

    /// Returns when a time of the wall clock comes, on the clock that never goes back: at once if it is past, and no later
    /// than `longest` from now, whatever a clock that has jumped made of it.
    ///
    /// - Parameter longest: Milliseconds.
    func deadline(_ unixMilliseconds: Int64, within longest: Int64) -> Int64 {
        let (remaining, isOverflow) = unixMilliseconds.subtractingReportingOverflow(self.unixMilliseconds)
        guard unixMilliseconds > self.unixMilliseconds else { return monotonicNanoseconds }
        let wait = isOverflow ? longest : min(remaining, longest)
        return monotonicNanoseconds + wait * 1_000_000
    }
}
