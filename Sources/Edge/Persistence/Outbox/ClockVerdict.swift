import Clocks

/// The last word of a clock that can be trusted on the identities that there were then.
struct ClockVerdict {
    /// The highest number at that time: what came later may have come by another clock.
    var last: Int64 = 0
    var acceptedBefore = UnixTime.min
    /// The latest time that a clock which was right can have set down.
    var latest = UnixTime.max

    func isOver(_ sequence: Int64, acceptedAt: UnixTime) -> Bool {
        sequence <= last && (acceptedAt < acceptedBefore || acceptedAt > latest)
    }
}
