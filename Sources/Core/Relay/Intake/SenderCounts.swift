/// How much each of the largest senders has brought: one that brings more than one of ``most`` parts is known.
struct SenderCounts: Sendable {
    static let most = 256

    private var counts: [SenderID: Int] = [:]

    subscript(sender: SenderID) -> Int { counts[sender] ?? 0 }

    mutating func add(_ sender: SenderID) {
        // Of too many each loses one: those with many stay (Misra and Gries, "Finding repeated elements").
        if counts[sender] == nil, counts.count == SenderCounts.most {
            counts = counts.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        } else {
            counts[sender, default: 0] += 1
        }
    }

    /// Takes one of a sender's away, if the sender is known.
    mutating func remove(_ sender: SenderID) {
        guard let count = counts[sender] else { return }
        counts[sender] = count > 1 ? count - 1 : nil
    }

    mutating func forget() {
        if !counts.isEmpty { counts = [:] }
    }
}
