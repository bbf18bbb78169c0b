import Clocks

/// The clock of the dates in the store, beside the wall clock by which doors speak with their clients.
package struct StoreDates: Sendable {
    /// How far the wall clock is ahead of the one that dates what is accepted.
    package var ahead: Duration
    /// The time, in milliseconds since 1970 as the store has it, before which something is over for certain.
    package var late: Int64

    package init(ahead: Duration = .zero, late: Int64 = .max) {
        self.ahead = ahead
        self.late = late
    }

    /// Returns a time of the wall clock as the store has it.
    package func stored(_ time: Int64) -> Int64 { time - ahead.milliseconds }

    /// Returns the time up to which what the store has is over, at a time of the wall clock.
    package func over(at time: Int64) -> Int64 { min(stored(time), late) }
}
