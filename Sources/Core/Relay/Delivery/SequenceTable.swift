import Encodings

/// A table by the outbox's numbers. They are the node's own and follow each other, so that a product spreads them as well as
/// Swift's keyed hash, which takes ten times as long.
struct SequenceTable<Value: Sendable>: Sendable {
    private struct Key: Hashable {
        let sequence: Int64

        func hash(into hasher: inout Hasher) { hasher.combine(sequence) }

        func _rawHashValue(seed: Int) -> Int {
            // The odd number next to 2^64 divided by the golden ratio.
            let product = UInt64(bitPattern: sequence) &* 0x9E37_79B9_7F4A_7C15
            return Int(truncatingIfNeeded: product ^ product >> 32) ^ seed
        }
    }

    private var values: [Key: Value] = [:]

    var isEmpty: Bool { values.isEmpty }

    subscript(sequence: Int64) -> Value? {
        get { values[Key(sequence: sequence)] }
        set { values[Key(sequence: sequence)] = newValue }
    }

    mutating func removeValue(forKey sequence: Int64) -> Value? {
        values.removeValue(forKey: Key(sequence: sequence))
    }

    mutating func empty() { values.empty() }
    mutating func giveBackRoom() { values.giveBackRoom() }

    /// Adds the values of sequence numbers that have no value here.
    mutating func add(missing others: Self) { values.merge(others.values) { present, _ in present } }
}
