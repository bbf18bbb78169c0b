import Clocks

/// The consequences of a doubted wall clock for what waits.
extension Pipeline {
    mutating func startClock(_ last: ClockRecord?, offset: Int64, at now: Instant) {
        if let record = wallClock.start(last, offset: offset, lastSequence: lastSequence, at: now) {
            commits.append(.clock(record))
        }
    }

    /// Notes a moment at which something is decided. That the clock was set is written no later than what is accepted since: the
    /// next process would take a time that the clock had only for a while for one of long ago.
    mutating func noteClock(at now: Instant) {
        guard let step = wallClock.note(now, lastSequence: lastSequence) else { return }
        effects.append(.clockSet(by: step))
        if let record = wallClock.record(at: now) { commits.append(.clock(record)) }
    }

    /// Notes that something is accepted, or a token buried, at a moment that is noted (``noteClock(at:)``).
    mutating func noteAcceptance(at now: Instant) {
        if let record = wallClock.takeUnwritten(at: now) { commits.append(.clock(record)) }
    }

    /// Looks at the clock. To be called every few seconds.
    mutating func lookAtClock(offset: Int64, at now: Instant) {
        guard let record = wallClock.look(offset: offset, at: now) else { return }
        commits.append(.clock(record))
        doubtLess(at: now)
    }

    /// Whether the clock is doubted: nothing ends or is forgotten yet because of what it says.
    package var isClockDoubted: Bool { wallClock.isDoubted }

    /// Whether somebody who knows the time is to be asked.
    package var isClockToBeConfirmed: Bool { wallClock.isDoubted || wallClock.isUnconfirmed }

    /// Returns the present as what is accepted now is dated, in memory and in the outbox.
    package func date(at now: Instant) -> UnixTime { wallClock.date(at: now) }

    /// Returns the time by a clock by which nothing that is dated so ends too early.
    package func lateTime(at now: Instant) -> UnixTime { wallClock.lateTime(at: now) }

    /// Returns the dates of what this process has accepted, where those of before are of another clock.
    package func ownDates(at now: Instant) -> StoreDates.Own? { wallClock.ownDates(at: now) }

    /// Takes the time from somebody who knows: the date of a push
    /// service's answer, or tor's view of the network.
    package mutating func hear(_ told: ToldTime, at now: Instant) {
        guard isClockToBeConfirmed else { return }
        // It may have been set since the last moment.
        noteClock(at: now)
        wallClock.hear(told, lastSequence: lastSequence, at: now)
        doubtLess(at: now)
    }

    /// Doubts the clock less, since more is known than before: what came from before the start ends by that.
    private mutating func doubtLess(at now: Instant) {
        guard wallClock.doubtLess() else { return }
        let late = wallClock.lateInstant(at: now)
        for slot in delivery.entries.indices {
            delivery.settleDeadline(of: slot, by: late, isFinal: !wallClock.isDoubted)
        }
    }

    /// Returns the time until which a notification waits for the clock; `nil`:
    /// it doesn't wait. While the clock is doubted, what it calls expired is neither ended nor
    /// sent: to its gateway it would have no time left.
    func waitsForClock(_ notification: Notification, at now: Instant) -> MonotonicTime? {
        guard wallClock.isDoubted, notification.expiresAt <= now.unix else { return nil }
        return now.monotonic + Pipeline.housekeepingInterval
    }
}
