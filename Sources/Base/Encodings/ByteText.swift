/// A text from outside that is hashed and compared as its bytes.
///
/// Swift hashes and compares a `String` beyond ASCII in its normalized form, and sorts a run of combining marks by
/// insertion: the time grows with the square of a length that the sender chooses. With bytes it grows with the length.
/// Two spellings of one letter are two texts.
///
/// As a property wrapper it does so for the property's type.
@propertyWrapper
package struct ByteText: Hashable, Sendable {
    package var wrappedValue: String

    package init(wrappedValue: String) { self.wrappedValue = wrappedValue }
    package init(_ text: String) { wrappedValue = text }

    package static func == (left: ByteText, right: ByteText) -> Bool {
        left.wrappedValue.hasSameBytes(as: right.wrappedValue)
    }

    package func hash(into hasher: inout Hasher) {
        wrappedValue.withBytes { ByteText.hash($0, into: &hasher) }
    }

    private static func hash(_ bytes: Span<UInt8>, into hasher: inout Hasher) {
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index & 7 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
    }
}

extension ByteText: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { wrappedValue = text }
}

extension String {
    /// Whether both are the same bytes: what texts from outside are compared with, in place of `==` (``ByteText``).
    @inlinable
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && withBytes { $0.hasSameBytes(as: other) }
    }

    /// Returns as much of the text as fits into `limit` bytes: whole characters of UTF-8.
    package func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }

    /// The text with the letters of ASCII in lower case, and all others as they are.
    package var lowercasedASCII: String {
        String(decoding: utf8.map(ASCII.lowercased), as: UTF8.self)
    }
}

extension String {
    /// Returns the text if it could be one of our own names: at most `limit` bytes of ASCII. Only such a text is looked up,
    /// split or compared as a `String`.
    package func name(limit: Int = 64) -> String? {
        utf8.count <= limit && consists(of: ASCII.any) ? self : nil
    }

    /// Returns the text as ``name(limit:)`` does, in lower case.
    package func word(limit: Int = 64) -> String? {
        guard let name = name(limit: limit) else { return nil }
        return name.consists { 1 ^ ASCII.upperCase($0) } ? name : name.lowercasedASCII
    }
}

// No generic code for both: a text's own iteration, which that uses, costs a hundred times as much as its bytes.
extension Substring {
    /// Returns the text as ``Swift/String/name(limit:)`` does.
    package func name(limit: Int = 64) -> String? {
        utf8.count <= limit ? String(self).name(limit: limit) : nil
    }

    /// Returns the text as ``Swift/String/word(limit:)`` does.
    package func word(limit: Int = 64) -> String? {
        utf8.count <= limit ? String(self).word(limit: limit) : nil
    }
}
