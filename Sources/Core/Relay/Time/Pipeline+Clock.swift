import Clocks

/// The consequences of a doubted wall clock for what waits.
extension Pipeline {
    mutating func startClock(_ last: ClockRecord?, offset: Int64, at now: Instant) {
        commits.append(.clock(wallClock.start(last, offset: offset, at: now)))
    }

    /// Notes a moment at which something is decided. That the clock was set is written no later than what is accepted since: the
    /// next process would take a time that the clock had only for a while for one of long ago.
    mutating func noteClock(at now: Instant) {
        if let record = wallClock.note(now) { commits.append(.clock(record)) }
    }

    /// Looks at the clock. To be called every few seconds.
    mutating func lookAtClock(offset: Int64, at now: Instant) {
        guard let record = wallClock.look(offset: offset, at: now) else { return }
        commits.append(.clock(record))
        doubtLess(at: now)
    }

    /// Whether the clock is doubted: nothing ends or is forgotten yet because of what it says.
    package var isClockDoubted: Bool { wallClock.isDoubted }

    /// Takes the time from somebody who knows: the date of a push
    /// service's answer, or tor's view of the network.
    package mutating func hear(_ told: ToldTime, at now: Instant) {
        guard wallClock.isDoubted else { return }
        wallClock.hear(told)
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
