import Clocks

/// The time, for each use of it. Only what was set down by a wall clock is judged by one; all else by a clock that nobody
/// sets.
///
/// It has three clocks to tell: the steady one, which is the wall clock as it was at the start and goes on from there; the
/// late one, which is behind all that the wall clock has been since, and behind what was trusted last; and the wall clock
/// itself, which is only ever watched. Never true: that the late one is ahead of the steady one.
struct WallClock: Sendable {
    /// The watch over the clock; `nil`: it has not begun.
    private var watch: ClockWatch?
    /// Milliseconds of the wall clock at the start less those of the monotonic one.
    private var steadyOffset: Int64 = 0
    /// The least that this difference has been since.
    private var leastOffset: Int64 = .max
    /// The offset by which the clock was trusted last, while it is doubted since the start.
    private var doubtOffset: Int64?

    /// Starts the clock.
    ///
    /// - Parameters:
    ///   - last: what the last process left; `nil`: there was none.
    ///   - offset: milliseconds of the wall clock less those of one that nobody sets.
    /// - Returns: What is to be written no later than the first thing that is accepted by that clock: the next process may find the
    ///   clock set back, and takes what has its time from before for that of a clock that was ahead.
    mutating func start(_ last: ClockRecord?, offset: Int64, at now: Instant) -> ClockRecord {
        let watch = ClockWatch(offset: offset, at: now.monotonic, last: last)
        self.watch = watch
        if watch.isDoubted { doubtOffset = watch.trustedOffset }
        note(now)
        return watch.record(at: now.monotonic)
    }

    /// Notes a moment. Called for each at which something is decided.
    ///
    /// - Returns: What is to be written with the first thing that has its time from this clock; `nil`: nobody has set the clock.
    @discardableResult
    mutating func note(_ now: Instant) -> ClockRecord? {
        if leastOffset == .max { steadyOffset = now.offset }
        leastOffset = min(leastOffset, now.offset)
        guard watch?.notice(offset: now.offset, at: now.monotonic) == true else { return nil }
        return watch?.record(at: now.monotonic)
    }

    // MARK: Times

    /// Returns the time by a clock that nobody sets while the node runs.
    func steadyTime(at now: Instant) -> UnixTime {
        UnixTime(milliseconds: now.monotonic.nanoseconds / 1_000_000 + steadyOffset)
    }

    /// Returns the steady time of a moment, no earlier than the moment.
    func steadyTime(ofMonotonic time: MonotonicTime) -> UnixTime {
        let milliseconds = time.nanoseconds / 1_000_000 + (time.nanoseconds % 1_000_000 > 0 ? 1 : 0)
        let (steady, isOverflow) = milliseconds.addingReportingOverflow(steadyOffset)
        return isOverflow ? .max : UnixTime(milliseconds: steady)
    }

    func monotonicTime(ofSteady time: UnixTime, at now: Instant) -> MonotonicTime {
        Instant(unix: steadyTime(at: now), monotonic: now.monotonic)
            .deadline(time, within: Claim.longestWait)
    }

    /// Returns the present by a clock that is behind all that the wall clock has been
    /// since the start, and behind the time at which it was trusted last if it is
    /// doubted: by this clock nothing expires too early.
    func lateTime(at now: Instant) -> UnixTime {
        let offset = min(leastOffset, steadyOffset, doubtOffset ?? .max)
        return UnixTime(milliseconds: now.monotonic.nanoseconds / 1_000_000 + offset)
    }

    func lateInstant(at now: Instant) -> Instant {
        Instant(unix: lateTime(at: now), monotonic: now.monotonic)
    }

    // MARK: Doubt

    /// Whether the clock is doubted: nothing ends or is forgotten yet because of what it says.
    var isDoubted: Bool { doubtOffset != nil }

    /// Whether what the clock calls older than that is older.
    func hasStood(for time: Duration, at now: Instant) -> Bool {
        !isDoubted && watch?.hasStood(for: time, at: now.monotonic) ?? false
    }

    /// Takes a reading of the clock, every few seconds.
    ///
    /// - Returns: What is to be written; `nil`: it has not begun.
    mutating func look(offset: Int64, at now: Instant) -> ClockRecord? {
        watch?.look(offset: offset, at: now.monotonic)
        return watch?.record(at: now.monotonic)
    }

    mutating func hear(_ told: ToldTime) { watch?.hear(told) }

    /// Doubts no more than the watch does by now.
    ///
    /// - Returns: Whether more is known than before.
    mutating func doubtLess() -> Bool {
        let doubt = watch.flatMap { $0.isDoubted ? $0.trustedOffset : nil }
        guard isDoubted, doubtOffset != doubt else { return false }
        doubtOffset = doubt
        return true
    }
}

extension Instant {
    /// Milliseconds of the wall clock less those of the monotonic one.
    var offset: Int64 { unix.milliseconds - monotonic.nanoseconds / 1_000_000 }
}
