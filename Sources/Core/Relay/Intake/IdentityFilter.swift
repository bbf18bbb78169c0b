import Clocks

/// A set of the identities that the outbox knows, in two bytes each. Every known identity is in the set. One in a thousand
/// unknown identities seems to be in it, per part; a notification with such an identity is stored first, which costs two
/// commits.
///
/// The set has a few parts. A part goes as a whole when all its identities are forgotten.
package struct IdentityFilter: Equatable, Sendable {
    /// A Bloom filter whose bits for one identity are all in one block, two in each of its words (Putze, Sanders and
    /// Singler, "Cache-, hash- and space-efficient Bloom filters").
    private struct Part: Equatable, Sendable {
        private var words: [UInt64]
        private(set) var count = 0
        /// The time of the newest.
        private(set) var acceptedAt = UnixTime.min

        init(capacity: Int) {
            words = Array(repeating: 0, count: capacity / Part.perBlock * Part.wordsOfBlock)
        }

        private static let wordsOfBlock = 4
        private static let perBlock = 16

        var isFull: Bool { count >= words.count / Part.wordsOfBlock * Part.perBlock }

        func mayHold(_ hash: UInt64) -> Bool {
            let start = start(hash)
            for word in 0..<Part.wordsOfBlock {
                let bits = Part.bits(hash, in: word)
                guard words[start + word] & bits == bits else { return false }
            }
            return true
        }

        mutating func insert(_ hash: UInt64, acceptedAt: UnixTime) {
            let start = start(hash)
            for word in 0..<Part.wordsOfBlock { words[start + word] |= Part.bits(hash, in: word) }
            count += 1
            self.acceptedAt = max(self.acceptedAt, acceptedAt)
        }

        /// Takes the newest for as much later as others of its time; never for earlier, since there may be newer ones of before.
        mutating func move(_ redating: Redating) {
            if redating.moves(acceptedAt), redating.by > .zero { acceptedAt = acceptedAt + redating.by }
        }

        /// Takes a time that has not come for the present.
        mutating func mend(latest: UnixTime) { acceptedAt = min(acceptedAt, latest) }

        /// Returns the start of a hash's block: by the 16 highest bits, which are enough for the blocks of the largest
        /// part.
        private func start(_ hash: UInt64) -> Int {
            (Int(hash >> 48) & (words.count / Part.wordsOfBlock - 1)) * Part.wordsOfBlock
        }

        /// Returns two bits of a word, chosen by the 48 lowest of the hash, six for each bit.
        private static func bits(_ hash: UInt64, in word: Int) -> UInt64 {
            let places = hash >> UInt64(12 * word)
            return 1 << (places & 63) | 1 << (places >> 6 & 63)
        }
    }

    private var parts: [Part] = []

    /// The least number of words in one part, a power of two.
    private static let least = 1 << 12
    /// The most words in one part, a power of two.
    private static let most = 1 << 18
    /// The most identities, as many as the outbox keeps: beyond that the oldest part goes.
    private static let mostInAll = 2_000_000

    package init() {}

    package func mayHold(_ identity: Digest) -> Bool {
        let hash = IdentityFilter.hash(identity)
        return parts.contains { $0.mayHold(hash) }
    }

    /// Adds an identity that was accepted at this time.
    package mutating func insert(_ identity: Digest, acceptedAt: UnixTime) {
        if parts.last?.isFull ?? true {
            let all = parts.reduce(0) { $0 + $1.count }
            if let first = parts.first, all - first.count >= IdentityFilter.mostInAll { parts.removeFirst() }
            let last = parts.last?.count ?? 0
            parts.append(Part(capacity: min(max(IdentityFilter.least, 2 * last), IdentityFilter.most)))
        }
        parts[parts.count - 1].insert(IdentityFilter.hash(identity), acceptedAt: acceptedAt)
    }

    /// Moves the dates that the outbox moves.
    package mutating func move(_ redating: Redating) {
        for index in parts.indices { parts[index].move(redating) }
    }

    /// Lets go what the outbox lets go, as far as whole parts are that old. Which comes first says nothing: clocks are set.
    ///
    /// - Parameter latest: No time of a clock that was right is later.
    mutating func forget(acceptedBefore: UnixTime, latest: UnixTime = .max) {
        for index in parts.indices { parts[index].mend(latest: latest) }
        guard parts.count > 1, let last = parts.popLast() else { return }
        parts.removeAll { $0.acceptedAt < acceptedBefore }
        parts.append(last)
    }

    /// Hashes an identity. A keyed digest is spread already; two products spread any other one.
    private static func hash(_ identity: Digest) -> UInt64 {
        let mixed = identity.high &* 0x9E37_79B9_7F4A_7C15 ^ identity.low &* 0xC2B2_AE3D_27D4_EB4F
        return (mixed ^ mixed >> 31) &* 0xD6E8_FEB8_6659_FD93
    }
}
