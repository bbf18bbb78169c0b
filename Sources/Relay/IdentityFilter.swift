/// Which identities the outbox may know: of those that it knows it holds all, and of the others it takes one in a few
/// hundred for known.
///
/// Two bytes for each; a few parts, each of which goes as a whole when all in it are forgotten.
package struct IdentityFilter: Equatable, Sendable {
    /// A Bloom filter whose bits for one identity are all in one word (Putze, Sanders and Singler, "Cache-, hash- and
    /// space-efficient Bloom filters").
    private struct Part: Equatable, Sendable {
        private var words: [UInt64]
        private(set) var count = 0
        /// Milliseconds since 1970; of the newest.
        private(set) var acceptedAt = Int64.min

        init(capacity: Int) { words = Array(repeating: 0, count: capacity / Part.perWord) }

        private static let perWord = 4

        var isFull: Bool { count >= words.count * Part.perWord }

        func mayHold(_ hash: UInt64) -> Bool {
            let bits = Part.bits(hash)
            return words[index(hash)] & bits == bits
        }

        mutating func insert(_ hash: UInt64, acceptedAt: Int64) {
            words[index(hash)] |= Part.bits(hash)
            count += 1
            self.acceptedAt = max(self.acceptedAt, acceptedAt)
        }

        private func index(_ hash: UInt64) -> Int { Int(hash >> 32) & (words.count - 1) }

        private static func bits(_ hash: UInt64) -> UInt64 {
            1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63) | 1 << (hash >> 18 & 63)
        }
    }

    private var parts: [Part] = []

    /// Of one part: powers of two.
    private static let least = 1 << 12
    private static let most = 1 << 18
    /// As many as the outbox keeps: beyond that the oldest part goes.
    private static let mostInAll = 2_000_000

    package init() {}

    package func mayHold(_ identity: Digest) -> Bool {
        let hash = IdentityFilter.hash(identity)
        return parts.contains { $0.mayHold(hash) }
    }

    /// - Parameter acceptedAt: milliseconds since 1970.
    package mutating func insert(_ identity: Digest, acceptedAt: Int64) {
        if parts.last?.isFull ?? true {
            let all = parts.reduce(0) { $0 + $1.count }
            if let first = parts.first, all - first.count >= IdentityFilter.mostInAll { parts.removeFirst() }
            let last = parts.last?.count ?? 0
            parts.append(Part(capacity: min(max(IdentityFilter.least, 2 * last), IdentityFilter.most)))
        }
        parts[parts.count - 1].insert(IdentityFilter.hash(identity), acceptedAt: acceptedAt)
    }

    /// Lets go what the outbox lets go, as far as whole parts are that old.
    mutating func forget(acceptedBefore: Int64) {
        while parts.count > 1, parts[0].acceptedAt < acceptedBefore { parts.removeFirst() }
    }

    /// A keyed digest is spread already; two products spread any other one.
    private static func hash(_ identity: Digest) -> UInt64 {
        let mixed = identity.high &* 0x9E37_79B9_7F4A_7C15 ^ identity.low &* 0xC2B2_AE3D_27D4_EB4F
        return (mixed ^ mixed >> 31) &* 0xD6E8_FEB8_6659_FD93
    }
}
