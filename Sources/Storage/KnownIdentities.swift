import Relay

/// Where the identity of each remembered notification stands in the outbox, by 64 of its 128 bits.
///
/// It is in memory, 16 to 43 bytes each. A unique index on disk would be four times the cost of all else in the store:
/// keyed digests fall anywhere in it, so that each notification writes a page of its own.
struct KnownIdentities {
    private var sequences: [UInt64: Int64] = [:]
    /// What the running commit adds and takes away.
    private var entered: [(key: UInt64, sequence: Int64)] = []
    private var left: [(key: UInt64, sequence: Int64)] = []

    var count: Int { sequences.count }

    mutating func reserveCapacity(_ count: Int) { sequences.reserveCapacity(count) }

    /// Where to look. What stands there may be another identity that shares the 64 bits: that is for the caller to see.
    subscript(_ identity: Digest) -> Int64? { sequences[identity.high] }

    /// Known at once; no more if the commit is rolled back.
    mutating func enter(_ identity: Digest, at sequence: Int64) {
        sequences[identity.high] = sequence
        entered.append((identity.high, sequence))
    }

    /// Known until the commit has succeeded.
    mutating func leave(_ identity: Digest, at sequence: Int64) {
        left.append((identity.high, sequence))
    }

    mutating func committed() {
        remove(left)
        endCommit()
    }

    mutating func rolledBack() {
        remove(entered)
        endCommit()
    }

    private mutating func remove(_ entries: [(key: UInt64, sequence: Int64)]) {
        for (key, sequence) in entries where sequences[key] == sequence { sequences[key] = nil }
    }

    private mutating func endCommit() {
        entered.removeAll(keepingCapacity: entered.capacity <= 4096)
        left.removeAll(keepingCapacity: left.capacity <= 4096)
    }
}
