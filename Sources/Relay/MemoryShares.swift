/// How much of a memory that all senders share each has taken in the last twelve hours to a day.
///
/// What is over its capacity is forgotten, so whoever fills it takes from all others what it is for. Once half of it is
/// taken within that time, a sender that has taken a sixteenth gets no more.
package struct MemoryShares: Sendable {
    private struct Half: Sendable {
        var total = 0
        var counts: [SenderID: Int] = [:]
    }

    static let half: Duration = .seconds(12 * 3600)
    /// Senders that are counted apart: whoever takes more than one of so many parts is among them.
    static let mostSenders = 256

    let capacity: Int
    private var now = Half()
    private var before = Half()
    private var turnedAt: Int64 = 0

    package init(capacity: Int) { self.capacity = capacity }

    package func mayTake(_ sender: SenderID?) -> Bool {
        guard let sender, now.total + before.total >= capacity / 2 else { return true }
        return (now.counts[sender] ?? 0) + (before.counts[sender] ?? 0) < capacity / 16
    }

    package mutating func taken(by sender: SenderID?, at time: Int64) {
        if time - turnedAt >= MemoryShares.half.nanoseconds {
            before = time - turnedAt >= 2 * MemoryShares.half.nanoseconds ? Half() : now
            now = Half()
            turnedAt = time
        }
        now.total += 1
        guard let sender else { return }
        // Of too many each loses one: those with many stay (Misra and Gries, "Finding repeated elements").
        if now.counts[sender] == nil, now.counts.count == MemoryShares.mostSenders {
            now.counts = now.counts.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        } else {
            now.counts[sender, default: 0] += 1
        }
    }
}
