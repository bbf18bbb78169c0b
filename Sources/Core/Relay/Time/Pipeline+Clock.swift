/// What time it is, and for whom. Only what was set down by a wall clock is judged by one; all else by a clock that nobody
/// sets.
extension Pipeline {
    /// Milliseconds since 1970 by a clock that nobody sets while the node runs.
    func steadyTime(at now: Instant) -> Int64 { now.monotonicNanoseconds / 1_000_000 + steadyOffset }

    /// No earlier than that moment.
    func steadyTime(ofMonotonic time: Int64) -> Int64 {
        let milliseconds = time / 1_000_000 + (time % 1_000_000 > 0 ? 1 : 0)
        let (steady, isOverflow) = milliseconds.addingReportingOverflow(steadyOffset)
        return isOverflow ? .max : steady
    }

    func monotonicTime(ofSteady time: Int64, at now: Instant) -> Int64 {
        Instant(unixMilliseconds: steadyTime(at: now), monotonicNanoseconds: now.monotonicNanoseconds)
            .deadline(time, within: Claim.longestWait)
    }

    mutating func noteClock(_ now: Instant) {
        if leastOffset == .max { steadyOffset = now.offset }
        leastOffset = min(leastOffset, now.offset)
    }

    /// The present by a clock that is behind all that the wall clock has been since the start, and behind the time at which
    /// it was trusted last if it is doubted: by it nothing expires too early.
    func lateTime(at now: Instant) -> Int64 {
        now.monotonicNanoseconds / 1_000_000 + min(leastOffset, steadyOffset, doubtOffset ?? .max)
    }

    func lateInstant(at now: Instant) -> Instant {
        Instant(unixMilliseconds: lateTime(at: now), monotonicNanoseconds: now.monotonicNanoseconds)
    }

    // MARK: Doubt

    mutating func startClock(_ last: ClockRecord?, offset: Int64, at now: Instant) {
        let watch = ClockWatch(offset: offset, at: now.monotonicNanoseconds, last: last)
        clock = watch
        if watch.isDoubted { doubtOffset = watch.trustedOffset }
        // Before anything is accepted by that clock.
        if !watch.isNear { changes.append(.clock(watch.record(at: now.monotonicNanoseconds))) }
        noteClock(now)
    }

    /// Every few seconds.
    mutating func lookAtClock(offset: Int64, at now: Instant) {
        guard var watch = clock else { return }
        watch.look(offset: offset, at: now.monotonicNanoseconds)
        clock = watch
        changes.append(.clock(watch.record(at: now.monotonicNanoseconds)))
        doubtLess(watch, at: now)
    }

    /// Nothing ends or is forgotten yet because of what the clock says.
    package var isClockDoubted: Bool { doubtOffset != nil }

    /// Somebody who knows has said how late it is: the date of a push service's answer, or tor's view of the network.
    package mutating func hear(_ told: ToldTime, at now: Instant) {
        guard isClockDoubted, var watch = clock else { return }
        watch.hear(told)
        clock = watch
        doubtLess(watch, at: now)
    }

    /// More is known than before: what came from before the start ends by that.
    private mutating func doubtLess(_ watch: ClockWatch, at now: Instant) {
        let doubt = watch.isDoubted ? watch.trustedOffset : nil
        guard doubtOffset != nil, doubtOffset != doubt else { return }
        doubtOffset = doubt
        let late = lateInstant(at: now)
        for slot in delivery.entries.indices where delivery.entries[slot].doubtedEnd > 0 {
            delivery.settleDeadline(of: slot, by: late, isFinal: doubt == nil)
        }
    }

    /// While the clock is doubted, what it calls expired is neither ended nor sent: to its gateway it would have no time
    /// left.
    ///
    /// - Returns: Monotonic nanoseconds until which it waits; `nil`: it doesn't.
    func waitsForClock(_ notification: Notification, at now: Instant) -> Int64? {
        guard doubtOffset != nil, notification.expiresAt <= now.unixMilliseconds else { return nil }
        return now.monotonicNanoseconds + Pipeline.housekeepingInterval.nanoseconds
    }
}

extension Instant {
    /// Milliseconds of the wall clock less those of the monotonic one.
    var offset: Int64 { unixMilliseconds - monotonicNanoseconds / 1_000_000 }
}
