/// Kinds of characters in texts that must be ASCII: 1 for those that are of the kind, 0 for all others. Numbers and no
/// truth values, since a loop that joins them with `|` has no branches: the compiler then looks at many bytes at once.
///
/// Public, and not for this package alone, because Swift 6.3 inlines only public functions into other modules.
public enum ASCII {
    @inlinable @inline(__always) public static func any(_ byte: UInt8) -> UInt8 { 1 &- (byte >> 7) }

    @inlinable @inline(__always) public static func digit(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "0") < 10 ? 1 : 0
    }

    @inlinable @inline(__always) public static func letter(_ byte: UInt8) -> UInt8 {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 ? 1 : 0
    }

    @inlinable @inline(__always) public static func upperCase(_ byte: UInt8) -> UInt8 {
        byte &- UInt8(ascii: "A") < 26 ? 1 : 0
    }

    @inlinable @inline(__always) public static func lowerHexDigit(_ byte: UInt8) -> UInt8 {
        digit(byte) | (byte &- UInt8(ascii: "a") < 6 ? 1 : 0)
    }

    @inlinable @inline(__always) public static func hexDigit(_ byte: UInt8) -> UInt8 {
        digit(byte) | ((byte | 0x20) &- UInt8(ascii: "a") < 6 ? 1 : 0)
    }

    @inlinable @inline(__always) public static func printable(_ byte: UInt8) -> UInt8 {
        byte &- 0x20 < 0x5f ? 1 : 0
    }

    @inlinable @inline(__always) public static func equal(_ byte: UInt8, _ character: Unicode.Scalar)
        -> UInt8
    {
        byte == UInt8(ascii: character) ? 1 : 0
    }

    @inlinable @inline(__always) public static func lowercased(_ byte: UInt8) -> UInt8 {
        byte | upperCase(byte) << 5
    }
}

/// Texts are looked at as bytes that lie in one run: a string's own iteration costs many times as much.
extension Span<UInt8> {
    @inlinable public func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var start = 0
        while start < count {
            // So few that one difference is soon seen; without a branch for each, the compiler compares many at once.
            let end = min(start &+ 32, count)
            var difference: UInt8 = 0
            for index in start..<end { difference |= self[index] ^ other[index] }
            guard difference == 0 else { return false }
            start = end
        }
        return true
    }

    /// Whether the bytes are that word (in lower case), in letters of either case.
    public func isWord(_ word: String) -> Bool { word.withBytes { isWord($0) } }

    private func isWord(_ word: Span<UInt8>) -> Bool {
        guard count == word.count else { return false }
        for index in indices where ASCII.lowercased(self[index]) != word[index] { return false }
        return true
    }

    /// Whether these bytes come before the other ones, byte by byte.
    func precedes(_ other: Span<UInt8>) -> Bool {
        for index in 0..<min(count, other.count) where self[index] != other[index] {
            return self[index] < other[index]
        }
        return count < other.count
    }

    @inlinable public func starts(with text: Span<UInt8>) -> Bool {
        count >= text.count && extracting(first: text.count).hasSameBytes(as: text)
    }

    /// Whether all bytes are of a kind of ``ASCII``.
    @inlinable @inline(__always)
    public func consists(of kind: (UInt8) -> UInt8) -> Bool {
        var rest = self
        while !rest.isEmpty {
            // So many that a byte can count them. A sum, which the compiler takes of many bytes at once: of truth values
            // it makes branches.
            let run = rest.extracting(first: 128)
            var count: UInt8 = 0
            for index in run.indices { count &+= kind(run[index]) }
            guard Int(count) == run.count else { return false }
            rest = rest.extracting(droppingFirst: 128)
        }
        return true
    }
}
