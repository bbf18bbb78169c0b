import Clocks

/// How much of a memory that all senders share each has taken in the last twelve hours to a day.
///
/// A memory over its capacity forgets, so whoever fills it takes from all others what it is for. Once half of it is
/// taken within that time, a sender that has taken a sixteenth gets no more.
package struct MemoryShares: Sendable {
    private struct Half: Sendable {
        var total = 0
        var counts = SenderCounts()
    }

    static let half: Duration = .seconds(12 * 3600)

    let capacity: Int
    private var now = Half()
    private var before = Half()
    private var turnedAt: MonotonicTime = 0

    package init(capacity: Int) { self.capacity = capacity }

    package func mayTake(_ sender: SenderID?) -> Bool {
        guard let sender, now.total + before.total >= capacity / 2 else { return true }
        return now.counts[sender] + before.counts[sender] < capacity / 16
    }

    package mutating func taken(by sender: SenderID?, at time: MonotonicTime) {
        if time - turnedAt >= MemoryShares.half {
            before = time - turnedAt >= MemoryShares.half * 2 ? Half() : now
            now = Half()
            turnedAt = time
        }
        now.total += 1
        if let sender { now.counts.add(sender) }
    }
}
