import Clocks

/// Whose turn it is while some devices fail.
extension Delivery {
    /// Whether a notification failed before the start, in a lane that was open then: its device failed alone.
    func wasAlone(_ slot: Slot) -> Bool {
        entries[slot].attempts > 0 && entries[slot].sequence <= lanes[entries[slot].lane].openUpTo
    }

    /// Returns a ready notification whose own attempt and whose device have not failed yet. Notifications of senders without
    /// a failed device go first; among equals the newest goes.
    ///
    /// Looks at all that is ready in the lane, so this is only for a lane in trouble.
    ///
    /// - Parameter isOldest: Whether the oldest goes among equals.
    mutating func takeOther(lane: Int, isOldest: Bool = false, at time: MonotonicTime) -> Slot? {
        readyThoseDue(in: lane, at: time)
        let suspicion = lanes[lane].suspicion
        var best: (isSuspect: Bool, sequence: Int64, slot: Slot)?
        for candidate in lanes[lane].ready.all.reversed() {
            let isLater = best.map { ($0.sequence > candidate.sequence) != isOldest } ?? false
            if isLater, best?.isSuspect == false { continue }
            // Field by field: copies would cost more than the look.
            guard entries[candidate.slot].isReady(candidate.sequence, in: lane),
                entries[candidate.slot].attempts == 0, !suspicion.isKnown(entries[candidate.slot].token)
            else { continue }
            let isSuspect = suspicion.isSuspect(entries[candidate.slot].body?.sender)
            if let best, isSuspect == best.isSuspect ? isLater : isSuspect { continue }
            best = (isSuspect, candidate.sequence, candidate.slot)
        }
        // It stays in the heap until it comes to its top.
        return best?.slot
    }
}
