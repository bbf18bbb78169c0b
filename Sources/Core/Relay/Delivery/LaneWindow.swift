import Clocks

/// How many requests a lane may have on their way: half as many after a failure, one more with each answer, as congestion
/// control does it. After a longer pause it grows over a minute, as Firebase asks ("Best practices for sending FCM
/// messages at scale").
struct LaneWindow: Equatable, Sendable {
    /// `.max`: as many as the gateway takes.
    private(set) var size = Int.max
    /// The time at which a ramp began; `nil`: there is none.
    private var rampBegan: MonotonicTime?

    /// The size at which a ramp is over: no connection takes more.
    static let full = 1024
    static let first = 3
    static let doubling: Duration = .seconds(7)
    /// A shorter pause was no outage.
    static let outage: Duration = .seconds(5)

    /// Shrinks the window after a failure. `least` is more than 1
    /// while single devices fail and others are answered.
    mutating func shrink(inFlight: Int, least: Int = 1) {
        size = max(min(least, size), min(size, inFlight + 1) / 2)
    }

    mutating func restart(after pause: Duration, at time: MonotonicTime) {
        size = max(LaneWindow.first, min(size, LaneWindow.full))
        if pause >= LaneWindow.outage { rampBegan = time }
    }

    /// Ends the ramp: there was no outage.
    mutating func endRamp() { rampBegan = nil }

    mutating func answered() {
        guard size < .max else { return }
        size += 1
        if size > LaneWindow.full { size = .max }
    }

    /// Returns the most requests on their way at this time.
    mutating func limit(at time: MonotonicTime) -> Int {
        guard let rampBegan else { return size }
        let doublings = max(0, (time - rampBegan).nanoseconds) / LaneWindow.doubling.nanoseconds
        guard doublings < 10, LaneWindow.first << doublings < LaneWindow.full else {
            self.rampBegan = nil
            return size
        }
        return min(size, LaneWindow.first << doublings)
    }
}
