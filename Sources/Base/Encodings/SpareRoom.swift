/// The room that tables keep for what comes next, when what was in them has gone. What is beyond that goes back: neither an outage
/// nor a burst leaves its room behind.
///
/// Public, and not for this package alone, because Swift 6.3 inlines only public functions into other modules.
public enum SpareRoom {
    /// Bytes that an empty table keeps.
    @inlinable public static var kept: Int { 256 << 10 }

    /// Whether a table has more room than it may keep, and uses less than an eighth of it.
    ///
    /// - Parameter size: Bytes of an element.
    @inlinable public static func isMuch(_ capacity: Int, for count: Int, of size: Int) -> Bool {
        capacity * size > kept && count < capacity / 8
    }
}

extension Array {
    @inlinable static var size: Int { MemoryLayout<Element>.stride }

    /// Removes all elements, and keeps room for as many unless it is much.
    @inlinable public mutating func empty() {
        removeAll(keepingCapacity: !SpareRoom.isMuch(capacity, for: 0, of: Self.size))
    }

    /// Gives back the room of what has gone, if it is much. To be called from time to time.
    @inlinable public mutating func giveBackRoom() {
        guard SpareRoom.isMuch(capacity, for: count, of: Self.size) else { return }
        self = map(\.self)
    }
}

extension Dictionary {
    @inlinable static var size: Int { MemoryLayout<Key>.stride + MemoryLayout<Value>.stride }

    /// Removes all values, and keeps room for as many unless it is much.
    @inlinable public mutating func empty() {
        removeAll(keepingCapacity: !SpareRoom.isMuch(capacity, for: 0, of: Self.size))
    }

    /// Gives back the room of what has gone, if it is much. To be called from time to time.
    @inlinable public mutating func giveBackRoom() {
        guard SpareRoom.isMuch(capacity, for: count, of: Self.size) else { return }
        self = reduce(into: Dictionary(minimumCapacity: count)) { $0[$1.key] = $1.value }
    }
}
