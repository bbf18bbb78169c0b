/// The present, as the edges read it. Pure code takes it as an argument.
package struct Instant: Equatable, Sendable {
    /// Milliseconds since 1970, UTC. May jump; used for what is told to others or outlives the process.
    package var unixMilliseconds: Int64
    /// Nanoseconds of a clock that never goes back. Used for rates, back-off and latency.
    package var monotonicNanoseconds: Int64

    package init(unixMilliseconds: Int64, monotonicNanoseconds: Int64) {
        self.unixMilliseconds = unixMilliseconds
        self.monotonicNanoseconds = monotonicNanoseconds
    }
}
