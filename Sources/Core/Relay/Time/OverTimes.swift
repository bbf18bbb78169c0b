/// The times up to which what a store has is over, in milliseconds since 1970 as the store has them.
package struct OverTimes: Equatable, Sendable {
    /// The time for what was there before this process.
    package let before: Int64
    /// The earliest date of what this process has accepted.
    package let since: Int64
    /// The time for what this process has accepted.
    package let own: Int64

    /// Makes one time for all.
    package init(_ time: Int64) { self.init(before: time, since: .max, own: time) }

    package init(before: Int64, since: Int64, own: Int64) {
        self.before = before
        self.since = since
        self.own = own
    }

    /// Returns the time for what has this date.
    package func time(for date: Int64) -> Int64 { date >= since ? own : before }

    package var latest: Int64 { max(before, own) }
}
