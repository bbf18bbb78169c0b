import Clocks

/// The messages that are kept in memory: those of notifications that are about to be sent, and others up to a budget.
extension Pipeline {
    /// Takes the bodies that ``Effect/load(_:lane:)`` asked for. Notifications whose bodies are not among
    /// them end here: the operator has taken their rows away.
    package mutating func loaded(
        _ bodies: [Int64: Notification], of sequences: [Int64], lane: Int, at now: Instant
    ) {
        for sequence in sequences {
            guard let slot = delivery.slots[sequence], delivery.entries[slot].state == .loading else {
                continue
            }
            guard let notification = bodies[sequence] else {
                finish(slot, .refused(reason: .internal), at: now)
                continue
            }
            delivery.setBody(notification, of: slot)
            bodyBytes += delivery.entries[slot].size
            delivery.giveBack(slot)
        }
        delivery.withLane(lane) { $0.isLoading = false }
        delivery.stir(lane)
        delivery.tidyLane(lane)
    }

    /// Reads the bodies again later: the outbox could not be read.
    package mutating func loadFailed(_ sequences: [Int64], lane: Int, at now: Instant) {
        for sequence in sequences {
            guard let slot = delivery.slots[sequence], delivery.entries[slot].state == .loading else {
                continue
            }
            delivery.giveBack(slot)
        }
        delivery.withLane(lane) { $0.isLoading = false }
        wake(lane, at: now.monotonic + Pipeline.retryCommit)
        delivery.tidyLane(lane)
    }

    /// Drops a body when all bodies together are over the budget. To be called for what is stored and not
    /// about to be sent.
    mutating func spareBody(of slot: Int) {
        if bodyBytes > bodyBudget, delivery.entries[slot].writing == .first { dropBody(of: slot) }
    }

    mutating func dropBody(of slot: Int) {
        guard delivery.entries[slot].body != nil else { return }
        bodyBytes -= delivery.entries[slot].size
        delivery.setBody(nil, of: slot)
    }
}
