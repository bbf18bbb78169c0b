/// Whether the wall clock can be trusted with what must not be forgotten too early: it can, unless it was set within the
/// time of which it is to tell.
///
/// A clock that jumps a day ahead for a few seconds would have all repetitions of the day taken for new. Once it has
/// stood for that time, what it calls older is older, whatever it said before.
struct ClockWatch {
    /// A smaller step is none: milliseconds.
    private static let step: Int64 = 60_000

    private var offset: Int64
    /// Monotonic nanoseconds; `nil`: never since the start.
    private var setAt: Int64?

    /// - Parameter offset: milliseconds of the wall clock less those of one that nobody sets.
    init(offset: Int64) { self.offset = offset }

    /// To be asked every few seconds.
    ///
    /// - Parameter now: monotonic nanoseconds.
    mutating func hasStood(for time: Duration, offset: Int64, at now: Int64) -> Bool {
        if abs(offset - self.offset) > ClockWatch.step { setAt = now }
        self.offset = offset
        return setAt.map { now - $0 > time.nanoseconds } ?? true
    }
}
