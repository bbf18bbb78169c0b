import Encodings
import Relay

/// The numbers under which the identities of remembered notifications stand in the outbox.
///
/// It is in memory, 9 to 12 bytes each. A unique index on disk would be four times the cost of all else in the store:
/// keyed digests fall anywhere in it, so that each notification writes a page of its own.
///
/// Only 34 bits of a digest are kept: what really stands there is for the caller to see.
struct KnownIdentities {
    private var tables = [Table](repeating: Table(), count: 1024)
    private(set) var count = 0
    /// The identities that the running commit adds.
    private var entered: [(identity: Digest, sequence: Int64)] = []
    /// The identities that the running commit takes away.
    private var left: [(identity: Digest, sequence: Int64)] = []

    /// Makes room for `count` identities in all.
    mutating func reserveCapacity(_ count: Int) {
        // Digests fall evenly: hardly a table gets more than a tenth over its share.
        let share = count / tables.count
        for index in tables.indices { tables[index].reserve(share + share / 10) }
    }

    private static func place(_ identity: Digest) -> Int { Int(identity.high >> 54) }

    /// Returns the number of the first candidate of an identity that `isIt` confirms: a table has part of a
    /// digest only.
    func first(
        of identity: Digest, where isIt: (Int64) throws(StoreError) -> Bool
    ) throws(StoreError) -> Int64? {
        try tables[KnownIdentities.place(identity)].first(identity.high, where: isIt)
    }

    /// Adds an identity, which is known at once, and no more if the commit is rolled back.
    mutating func enter(_ identity: Digest, at sequence: Int64) {
        recall(identity, at: sequence)
        entered.append((identity, sequence))
    }

    /// Adds an identity of an earlier commit.
    mutating func recall(_ identity: Digest, at sequence: Int64) {
        tables[KnownIdentities.place(identity)].insert(identity.high, sequence)
        count += 1
    }

    /// Removes an identity, which stays known until the commit has succeeded.
    mutating func leave(_ identity: Digest, at sequence: Int64) { left.append((identity, sequence)) }

    mutating func committed() {
        remove(left)
        endCommit()
    }

    mutating func rolledBack() {
        remove(entered)
        endCommit()
    }

    private mutating func remove(_ entries: [(identity: Digest, sequence: Int64)]) {
        for (identity, sequence) in entries
        where tables[KnownIdentities.place(identity)].remove(identity.high, sequence) {
            count -= 1
        }
    }

    private mutating func endCommit() {
        entered.empty()
        left.empty()
    }
}

/// Open addressing, probed one by one: an entry stands where its digest says or behind that, with no empty slot between.
private struct Table {
    /// 40 bits of a sequence number over 24 of a digest; 0: empty.
    private var slots: [UInt64] = []
    private var count = 0

    private static let digestBits: UInt64 = 24
    private static let digestMask: UInt64 = 1 << digestBits - 1

    private static func entry(_ digest: UInt64, _ sequence: Int64) -> UInt64 {
        UInt64(truncatingIfNeeded: sequence) << digestBits | digest & digestMask
    }

    private func home(_ entry: UInt64) -> Int {
        Int((entry & Table.digestMask) * UInt64(slots.count) >> Table.digestBits)
    }

    private func after(_ index: Int) -> Int { index + 1 == slots.count ? 0 : index + 1 }

    func first(
        _ digest: UInt64, where isIt: (Int64) throws(StoreError) -> Bool
    ) throws(StoreError) -> Int64? {
        guard count > 0 else { return nil }
        var index = home(digest)
        while slots[index] != 0 {
            if (slots[index] ^ digest) & Table.digestMask == 0 {
                let sequence = Int64(slots[index] >> Table.digestBits)
                if try isIt(sequence) { return sequence }
            }
            index = after(index)
        }
        return nil
    }

    mutating func insert(_ digest: UInt64, _ sequence: Int64) {
        // Seven of eight are taken at most.
        if (count + 1) * 8 > slots.count * 7 { resize(to: slots.count + max(8, slots.count / 8)) }
        put(Table.entry(digest, sequence))
    }

    mutating func reserve(_ count: Int) {
        let needed = (count + 1) * 8 / 7 + 1
        if needed > slots.count { resize(to: needed) }
    }

    private mutating func put(_ entry: UInt64) {
        var index = home(entry)
        while slots[index] != 0 { index = after(index) }
        slots[index] = entry
        count += 1
    }

    private mutating func resize(to capacity: Int) {
        let old = slots
        slots = Array(repeating: 0, count: capacity)
        count = 0
        for entry in old where entry != 0 { put(entry) }
    }

    /// Removes an entry; returns whether it was there.
    mutating func remove(_ digest: UInt64, _ sequence: Int64) -> Bool {
        guard count > 0 else { return false }
        let entry = Table.entry(digest, sequence)
        var empty = home(entry)
        while slots[empty] != entry {
            guard slots[empty] != 0 else { return false }
            empty = after(empty)
        }
        count -= 1
        // Those behind move up as far as their digests let them.
        var next = after(empty)
        while slots[next] != 0 {
            let home = home(slots[next])
            if empty <= next ? home <= empty || home > next : home <= empty && home > next {
                slots[empty] = slots[next]
                empty = next
            }
            next = after(next)
        }
        slots[empty] = 0
        return true
    }
}
