import Clocks

/// The time, for each use of it. Only what was set down by a wall clock is judged by one; all else by a clock that nobody
/// sets.
///
/// It has three clocks to tell: the steady one, which is the wall clock as it was at the start and goes on from there; the
/// late one, which is behind all that dates were taken from since, and behind what was trusted last; and the wall clock
/// itself, which is only ever watched. Never true: that the late one is ahead of the steady one.
///
/// A notification is dated by the steady clock, and is told to gateways by the wall clock as it is when it is sent: so it
/// keeps what it has left to live however the clock is set. Until somebody who knows the time has confirmed the steady clock,
/// the next process takes its dates to have gone with the wall clock (``ClockRecord/begun(after:lastSequence:at:)``). In a store with other
/// nodes dates are by the wall clock, since each node has a steady one of its own; but where it was set, only after it was
/// compared with the others' (``compare(at:)``).
struct WallClock: Sendable {
    /// The knowledge of the dates that this process sets down.
    private enum Standing {
        /// Somebody has confirmed the clock, and it agrees with the steady one.
        case confirmed
        /// Nobody has confirmed the clock that has dated what was accepted since then, behind this number.
        case unconfirmed(behind: Int64, since: UnixTime)
        /// The clock was confirmed, and was set at this time by the steady one: one of the two is wrong.
        case apart(behind: Int64, since: UnixTime)
    }

    private var standing = Standing.confirmed
    /// Whether other nodes write into the same store.
    private let isShared: Bool
    /// The number behind which dates go with the clock when it is set: those of a process that knew the time better stay.
    private var goesBehind = Int64.max
    /// Whether all that waited at the start can be judged by the steady clock: nothing speaks against it.
    private var isSteadyTrue = false
    /// The earliest date of this process, where what waited at the start can't be judged by the steady clock.
    private var ownSince: UnixTime?
    /// The offset of the last moment.
    private var lastOffset: Int64 = 0
    /// The watch over the clock; `nil`: it has not begun.
    private var watch: ClockWatch?
    /// Milliseconds of the wall clock at the start less those of the monotonic one.
    private var steadyOffset: Int64 = 0
    /// The least that this difference has been since.
    private var leastOffset: Int64 = .max
    /// The least that it has been as far as dates were taken from the wall clock.
    private var leastNearOffset: Int64 = .max
    /// The offset by which the clock was trusted last, while it is doubted since the start.
    private var doubtOffset: Int64?
    /// The offset of the wall clock when it was last compared with those of a shared store.
    private var comparedOffset: Int64 = 0
    /// Whether this process has written nothing of its clock yet.
    private var isUnwritten = true

    init(isShared: Bool) { self.isShared = isShared }

    /// Starts the clock.
    ///
    /// - Parameters:
    ///   - last: what the last process left; `nil`: there was none.
    ///   - offset: milliseconds of the wall clock less those of one that nobody sets.
    ///   - lastSequence: a sequence number that nothing exceeds.
    /// - Returns: What is to be written before anything is accepted by that clock.
    mutating func start(
        _ last: ClockRecord?, offset: Int64, lastSequence: Int64, at now: Instant
    ) -> ClockRecord? {
        let watch = ClockWatch(offset: offset, at: now.monotonic, last: last)
        self.watch = watch
        if watch.isDoubted { doubtOffset = watch.trustedOffset }
        _ = note(now, lastSequence: lastSequence)
        if !isShared { begin(last, watch, lastSequence, at: now) }
        return watch.isNear ? nil : record(at: now)
    }

    /// Takes the record of the clock that goes to disk with the first accepted notification. Without that record the next
    /// process, started under a clock that was set back, would take older dates for dates of a clock that was ahead.
    ///
    /// - Returns: `nil`: something of the clock was written.
    mutating func takeUnwritten(at now: Instant) -> ClockRecord? {
        guard isUnwritten else { return nil }
        isUnwritten = false
        return record(at: now)
    }

    private mutating func begin(
        _ last: ClockRecord?, _ watch: ClockWatch, _ lastSequence: Int64, at now: Instant
    ) {
        goesBehind = .min
        isSteadyTrue = !watch.isDoubted
        if let dates = last?.unconfirmed {
            standing = .unconfirmed(behind: dates.behind, since: dates.since)
            goesBehind = dates.behind
        } else if last == nil {
            standing = .unconfirmed(behind: lastSequence, since: now.unix)
        } else if watch.isDoubted {
            standing = .unconfirmed(behind: lastSequence, since: now.unix)
            goesBehind = lastSequence
        } else if !watch.isNear {
            // It can't be so early, or it was ahead before: what waits ends by neither.
            isSteadyTrue = false
            steadyOffset = watch.trustedOffset
            leastNearOffset = steadyOffset
            standing = .unconfirmed(behind: lastSequence, since: steadyTime(at: now))
        }
        if !isSteadyTrue, case .unconfirmed(_, let since) = standing { ownSince = since }
    }

    /// Returns what is known of the clock, for the next process; `nil`: it has not begun.
    func record(at now: Instant) -> ClockRecord? {
        var record = watch?.record(at: now.monotonic)
        switch standing {
        case .confirmed: break
        case .unconfirmed(let behind, let since), .apart(let behind, let since):
            record?.unconfirmed = UnconfirmedDates(
                behind: behind, since: since, until: steadyTime(at: now))
        }
        return record
    }

    /// Notes a moment. Called for each at which something is decided.
    ///
    /// - Returns: By how much the clock was set since the last one; `nil`: it was not.
    mutating func note(_ now: Instant, lastSequence: Int64) -> Duration? {
        if leastOffset == .max {
            (steadyOffset, lastOffset, comparedOffset) = (now.offset, now.offset, now.offset)
        }
        _ = watch?.notice(offset: now.offset, at: now.monotonic)
        let isApart = ahead(at: now) != 0
        leastOffset = min(leastOffset, now.offset)
        if !isApart { leastNearOffset = min(leastNearOffset, now.offset) }
        switch standing {
        case .confirmed where isApart: standing = .apart(behind: lastSequence, since: steadyTime(at: now))
        case .apart where !isApart: standing = .confirmed
        case .confirmed, .unconfirmed, .apart: break
        }
        defer { lastOffset = now.offset }
        let step = now.offset - lastOffset
        return step.magnitude > ClockWatch.step.magnitude ? .milliseconds(step) : nil
    }

    // MARK: Dates

    /// Returns the milliseconds by which the wall clock is ahead of the one that dates what is accepted. No `Duration`: it is
    /// asked for several times for each notification.
    private func ahead(at now: Instant) -> Int64 {
        let ahead = now.offset - (isShared ? comparedOffset : steadyOffset)
        return ahead.magnitude <= ClockWatch.step.magnitude ? 0 : ahead
    }

    /// Takes dates from the wall clock again, however it was set: the clocks of a shared store agree with it, or there is no
    /// other node to ask.
    mutating func compare(at now: Instant) { comparedOffset = now.offset }

    /// Returns the present as what is accepted now is dated.
    func date(at now: Instant) -> UnixTime {
        UnixTime(milliseconds: now.unix.milliseconds - ahead(at: now))
    }

    /// Returns a moment with the present as what is accepted now is dated.
    func dating(_ now: Instant) -> Instant { Instant(unix: date(at: now), monotonic: now.monotonic) }

    /// Returns a notification with its dates by the clock that dates what is accepted.
    func dated(_ notification: consuming Notification, at now: Instant) -> Notification {
        let ahead = ahead(at: now)
        return ahead == 0 ? notification : notification.later(by: .milliseconds(-ahead))
    }

    /// Returns a notification with dates by the wall clock of now, for receivers that go by that clock.
    ///
    /// - Parameter sequence: `nil`: it has none yet.
    func told(_ notification: consuming Notification, _ sequence: Int64?, at now: Instant) -> Notification {
        let ahead = ahead(at: now)
        guard ahead != 0, sequence ?? .max > goesBehind else { return notification }
        return notification.later(by: .milliseconds(ahead))
    }

    /// Returns a time of the wall clock by the clock that dates what is accepted.
    func dated(_ time: UnixTime, at now: Instant) -> UnixTime { time - .milliseconds(ahead(at: now)) }

    /// Returns a time of the clock that dates what is accepted by the wall clock of now, for those who read it.
    func told(_ time: UnixTime, at now: Instant) -> UnixTime { time + .milliseconds(ahead(at: now)) }

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

    /// Returns the present by a late clock: one behind every clock that has dated something since the start. If something
    /// spoke against the wall clock then, the late clock is also behind the last trusted time, and behind all readings since.
    /// By the late clock nothing expires too early.
    func lateTime(at now: Instant) -> UnixTime {
        guard !isSteadyTrue else { return lateSteadyTime(at: now) }
        let offset = min(leastOffset, steadyOffset, doubtOffset ?? .max)
        return UnixTime(milliseconds: now.monotonic.nanoseconds / 1_000_000 + offset)
    }

    private func lateSteadyTime(at now: Instant) -> UnixTime {
        UnixTime(milliseconds: now.monotonic.nanoseconds / 1_000_000 + min(leastNearOffset, steadyOffset))
    }

    /// Returns a moment with the late time.
    ///
    /// - Parameter isOwn: Whether it is for what this process has dated.
    func lateInstant(isOwn: Bool = false, at now: Instant) -> Instant {
        let time = isOwn && !isShared ? lateSteadyTime(at: now) : lateTime(at: now)
        return Instant(unix: time, monotonic: now.monotonic)
    }

    /// Returns the dates of what this process has accepted, where those of before are of another clock.
    func ownDates(at now: Instant) -> StoreDates.Own? {
        ownSince.map {
            StoreDates.Own(since: $0.milliseconds, late: lateSteadyTime(at: now).milliseconds)
        }
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
        isUnwritten = isUnwritten && watch == nil
        return record(at: now)
    }

    /// Whether nobody who knows the time has confirmed the clock yet.
    var isUnconfirmed: Bool { if case .unconfirmed = standing { true } else { false } }

    mutating func hear(_ told: ToldTime, lastSequence: Int64, at now: Instant) {
        if isDoubted { watch?.hear(told) }
        guard isUnconfirmed,
            told.agrees(
                with: Instant(unix: steadyTime(at: now), monotonic: now.monotonic), within: ClockWatch.step)
        else { return }
        if ahead(at: now) == 0 {
            standing = .confirmed
            watch?.trust()
        } else {
            standing = .apart(behind: lastSequence, since: steadyTime(at: now))
        }
    }

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
