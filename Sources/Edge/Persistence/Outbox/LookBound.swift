import Relay

/// The number from which on a node looks for what others have put there for it.
///
/// While somebody holds a transaction open, as a backup does, what was there and is gone stays in the index until that
/// ends, and each look would walk over all of it. What has a lower number than a look a minute ago has seen was found by
/// it, or by one since: a commit takes its numbers when it begins, and ends within seconds. One that waited longer for a
/// standby server is found by the look from the beginning, once a minute.
struct LookBound {
    /// The number up to which the running look leaves out all.
    private(set) var now: Int64 = 0
    private var bound: Int64 = 0
    /// The last number that was given when a look from the beginning was made last.
    private var seen: Int64 = 0
    /// Monotonic nanoseconds.
    private var next: Int64 = .min
    private var isWhole = true

    private static let interval = Duration.seconds(60).nanoseconds

    mutating func begin(at time: Int64) -> Int64 {
        isWhole = time >= next
        if isWhole { next = time + LookBound.interval }
        now = isWhole ? 0 : bound
        return now
    }

    /// Takes what the running look has found.
    ///
    /// - Parameters:
    ///   - first: The lowest number that the look has found.
    ///   - last: The last number that was given.
    mutating func saw(first: Int64?, last: Int64) {
        guard isWhole else { return }
        bound = min(seen, first.map { $0 - 1 } ?? seen)
        seen = last
    }
}
