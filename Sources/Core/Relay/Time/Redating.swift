import Clocks

/// The dates in the outbox that nobody who knows the time has confirmed: those of all that was accepted since a moment, by
/// the clock of that time.
package struct UnconfirmedDates: Equatable, Sendable {
    /// The highest sequence number of what was accepted before.
    package var behind: Int64
    package var since: UnixTime
    /// The time by the same clock when this was written down.
    package var until: UnixTime

    package init(behind: Int64, since: UnixTime, until: UnixTime) {
        self.behind = behind
        self.since = since
        self.until = until
    }
}

/// A correction of dates in the outbox: all that was accepted behind this number was accepted so much later. What it has left
/// of its life stays what it was.
package struct Redating: Equatable, Sendable {
    package var behind: Int64
    /// The earliest date of those, for what has no such number.
    package var since: UnixTime
    package var by: Duration

    package init(behind: Int64, since: UnixTime, by: Duration) {
        self.behind = behind
        self.since = since
        self.by = by
    }

    package func moves(_ sequence: Int64) -> Bool { sequence > behind }
    package func moves(_ date: UnixTime) -> Bool { date >= since }
}

extension ClockRecord {
    /// Returns what a process begins with, for the outbox to write down before it hands anything out.
    ///
    /// Dates that nobody has confirmed go with the clock. Whether it was wrong then, is wrong now, or the node was off for so
    /// long can't be told; nothing loses any of its life by it.
    ///
    /// - Parameters:
    ///   - last: what the last process left; `nil`: there was none.
    ///   - lastSequence: a sequence number that nothing exceeds.
    package static func begun(
        after last: ClockRecord?, lastSequence: Int64, at now: UnixTime
    ) -> (ClockRecord, Redating?) {
        guard var record = last else {
            let dates = UnconfirmedDates(behind: lastSequence, since: now, until: now)
            return (ClockRecord(trusted: now, unconfirmed: dates), nil)
        }
        guard let dates = record.unconfirmed else { return (record, nil) }
        let (step, isOverflow) = now.milliseconds.subtractingReportingOverflow(dates.until.milliseconds)
        guard !isOverflow, step.magnitude > ClockWatch.step.magnitude else { return (record, nil) }
        let redating = Redating(behind: dates.behind, since: dates.since, by: .milliseconds(step))
        record.unconfirmed = UnconfirmedDates(
            behind: dates.behind, since: dates.since + redating.by, until: now)
        return (record, redating)
    }
}

extension Notification {
    /// Returns the notification as one that was accepted so much later.
    package func later(by time: Duration) -> Notification {
        Notification(
            id: id, lane: lane, deviceToken: deviceToken, content: content, expiresAt: expiresAt + time,
            acceptedAt: acceptedAt + time, sender: sender)
    }
}
