import Clocks

/// The clock of the dates in the store, beside the wall clock by which doors speak with their clients.
package struct StoreDates: Sendable {
    /// How far the wall clock is ahead of the one that dates what is accepted.
    package var ahead: Duration
    /// The time, in milliseconds since 1970 as the store has it, before which something is over for certain.
    package var late: Int64
    /// The dates of this process, where those of before are of another clock; `nil`: all are of one.
    package var own: Own?

    /// The dates that a process has given to what it accepted.
    package struct Own: Equatable, Sendable {
        /// The earliest of them.
        package var since: Int64
        /// The time up to which what has such a date is over for certain.
        package var late: Int64

        package init(since: Int64, late: Int64) {
            self.since = since
            self.late = late
        }
    }

    package init(ahead: Duration = .zero, late: Int64 = .max, own: Own? = nil) {
        self.ahead = ahead
        self.late = late
        self.own = own
    }

    /// Returns a time of the wall clock as the store has it.
    package func stored(_ time: Int64) -> Int64 { time - ahead.milliseconds }

    /// Returns the time up to which what the store has is over, at a time of the wall clock.
    package func over(at time: Int64) -> OverTimes {
        let before = min(stored(time), late)
        guard let own else { return OverTimes(before) }
        return OverTimes(before: before, since: own.since, own: min(stored(time), own.late))
    }

    /// Returns the times up to which what waits for its time in the store is due, at a time of the wall clock. What this
    /// process has dated is due by the clock that dated it.
    package func due(at time: Int64) -> OverTimes {
        guard let own else { return OverTimes(stored(time)) }
        return OverTimes(before: min(stored(time), late), since: own.since, own: stored(time))
    }

    /// Whether a date is one that goes with the clock of this process.
    package func isOwn(_ date: Int64) -> Bool { date >= own?.since ?? .min }
}
