import Clocks

/// Tells senders apart as far as the node can: one number for each circuit, address, connection or account. Known to this
/// process alone.
package struct SenderID: Hashable, Sendable {
    /// A Swift hash value. Its seed is random per process, so nobody can choose collisions.
    private let value: Int

    package init(_ sender: some Hashable) { value = sender.hashValue }

    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
    package func _rawHashValue(seed: Int) -> Int { value ^ seed }
}

/// The senders of the last ten to twenty minutes, each with the devices that it has sent to.
///
/// Bounded: of more than fit, the oldest are forgotten sooner, and are then as good as new ones.
struct RecentSenders: Sendable {
    private struct Pair: Hashable {
        let token: Digest
        let sender: SenderID

        func hash(into hasher: inout Hasher) {
            hasher.combine(token)
            hasher.combine(sender)
        }

        func _rawHashValue(seed: Int) -> Int { token._rawHashValue(seed: sender._rawHashValue(seed: seed)) }
    }

    static let memory: Duration = .seconds(600)
    static let most = 32_768

    private var young: Set<Pair> = []
    private var old: Set<Pair> = []
    private var turnedAt: MonotonicTime = 0

    func contains(_ sender: SenderID, to token: Digest) -> Bool {
        let pair = Pair(token: token, sender: sender)
        return young.contains(pair) || old.contains(pair)
    }

    mutating func insert(_ sender: SenderID, to token: Digest, at time: MonotonicTime) {
        if time - turnedAt >= RecentSenders.memory || young.count >= RecentSenders.most {
            // Nobody has come for so long that those before are over as well.
            old = time - turnedAt >= RecentSenders.memory * 2 ? [] : young
            young = []
            turnedAt = time
        }
        young.insert(Pair(token: token, sender: sender))
    }
}
