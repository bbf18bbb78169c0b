import Clocks

/// The queues, as the operator sees them.
extension Pipeline {
    /// Counts what is stored and has not ended, by lane. Looks at every notification: not for the way of a message.
    package func queues() -> [Queue] {
        var queues = [Queue](repeating: Queue(), count: delivery.lanes.count)
        let spared = Set(
            delivery.entries.lazy.filter { $0.state == .postponed(isThrottled: true) }.map(\.token))
        for entry in delivery.entries where entry.state != .free && entry.state != .storing {
            queues[entry.lane].add(
                submittedAt: entry.submittedAt,
                isSpared: !spared.isEmpty && !entry.state.isInFlight && spared.contains(entry.token))
        }
        for lane in delivery.lanes.indices { queues[lane].add(delivery.lanes[lane]) }
        return queues
    }

    /// The queue of one lane.
    package struct Queue: Equatable, Sendable {
        package private(set) var waiting = 0
        /// The time at which the oldest was submitted; `nil`: nothing waits.
        package private(set) var oldestSubmittedAt: MonotonicTime?
        /// The time of the oldest notification that should be on its way: without those whose devices the gateway has asked
        /// to leave alone for now.
        package private(set) var oldestDueSubmittedAt: MonotonicTime?

        /// Adds the notifications of a lane that are on disk only.
        mutating func add(_ lane: Lane) {
            guard lane.shelved > 0, let oldest = lane.oldestShelvedAt else { return }
            add(submittedAt: oldest, isSpared: lane.claim.at > 0)
            waiting += lane.shelved - 1
        }

        mutating func add(submittedAt: MonotonicTime, isSpared: Bool) {
            waiting += 1
            oldestSubmittedAt = min(oldestSubmittedAt ?? .max, submittedAt)
            guard !isSpared else { return }
            oldestDueSubmittedAt = min(oldestDueSubmittedAt ?? .max, submittedAt)
        }

        package init() {}

        package mutating func add(_ other: Queue) {
            waiting += other.waiting
            oldestSubmittedAt = [oldestSubmittedAt, other.oldestSubmittedAt].compactMap(\.self).min()
            oldestDueSubmittedAt = [oldestDueSubmittedAt, other.oldestDueSubmittedAt].compactMap(\.self).min()
        }
    }
}
