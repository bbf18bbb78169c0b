import Clocks

/// The part of a delivery for notifications that go out before the outbox has them.
extension Delivery {
    /// Lets a notification go out first: it has a number of its own until the outbox gives it one.
    mutating func sendFirst(_ slot: Slot, as number: Int64) {
        change(slot) {
            $0.sequence = number
            $0.writing = .behind
        }
    }

    /// Gives a notification that went out first the number that the outbox has for it.
    mutating func renumber(_ slot: Slot, _ sequence: Int64) {
        number(slot, sequence)
        setWriting(.first, of: slot)
        let entry = entries[slot]
        switch entry.state {
        case .ready:
            withLane(entry.lane) { $0.addReady(slot, sequence: sequence, isUrgent: entry.isUrgent) }
        case .postponed:
            let due = Lane.Postponed(due: notBefore(of: entry.token), sequence: sequence, slot: slot)
            withLane(entry.lane) { $0.postponed.insert(due) }
        case .storing, .queued, .loading, .inFlight, .ended, .free: break
        }
    }

    mutating func setWriting(_ writing: Writing, of slot: Slot) { change(slot) { $0.writing = writing } }

    mutating func begin(_ slot: Slot, at time: MonotonicTime) {
        change(slot) {
            $0.state = .inFlight(since: time, number: $0.sequence)
        }
    }
}
