// Texts are bytes in this house: what compares, looks for, sorts or hashes a `String` in a module that imports this one, or
// imports a module that does, gets these functions in place of the standard library's, which go by the normalized form.
// The compiler takes them for `==`, `switch` and what it writes itself for `Equatable` and `Hashable` types alike.
//
// Swift sorts a run of combining marks by insertion for the normalized form: a text of 64 KB from a stranger costs half a
// second. The bytes cost as much as they are long. Two spellings of one letter are two texts.
//
// What they can't reach is generic code of the standard library, as a `Set<String>`, a `[String: Value]` or a walk by
// `Character`: that is what Deploy/tools/strangers-text looks for. `ByteText` is the key there.

extension String {
    package static func == (left: String, right: String) -> Bool { left.hasSameBytes(as: right) }
    package static func != (left: String, right: String) -> Bool { !left.hasSameBytes(as: right) }
    package static func ~= (pattern: String, text: String) -> Bool { text.hasSameBytes(as: pattern) }
    package static func ~= (pattern: String, text: String?) -> Bool { text == pattern }

    package static func == (left: String?, right: String) -> Bool {
        left.map { $0.hasSameBytes(as: right) } ?? false
    }
    package static func == (left: String, right: String?) -> Bool { right == left }
    package static func != (left: String?, right: String) -> Bool { !(left == right) }
    package static func != (left: String, right: String?) -> Bool { !(right == left) }

    package static func < (left: String, right: String) -> Bool {
        left.withBytes { left in right.withBytes { left.precedes($0) } }
    }
    package static func > (left: String, right: String) -> Bool { right < left }
    package static func <= (left: String, right: String) -> Bool { !(right < left) }
    package static func >= (left: String, right: String) -> Bool { !(left < right) }

    package func hasPrefix(_ prefix: String) -> Bool { withBytes { $0.starts(with: prefix) } }
    package func hasSuffix(_ suffix: String) -> Bool {
        withBytes { $0.extracting(last: suffix.utf8.count).hasSameBytes(as: suffix) }
    }

    /// Returns the text with the letters of ASCII, and no others, in lower case.
    package func lowercased() -> String { lowercasedASCII }
}

extension Substring {
    package static func == (left: Substring, right: Substring) -> Bool {
        left.withBytes { left in right.withBytes { left.hasSameBytes(as: $0) } }
    }
    package static func != (left: Substring, right: Substring) -> Bool { !(left == right) }
    package static func == (left: Substring, right: String) -> Bool {
        left.withBytes { $0.hasSameBytes(as: right) }
    }
    package static func != (left: Substring, right: String) -> Bool { !(left == right) }
    package static func == (left: String, right: Substring) -> Bool { right == left }
    package static func != (left: String, right: Substring) -> Bool { !(right == left) }
    package static func ~= (pattern: Substring, text: Substring) -> Bool { pattern == text }

    package func hasPrefix(_ prefix: String) -> Bool { withBytes { $0.starts(with: prefix) } }
    package func hasSuffix(_ suffix: String) -> Bool {
        withBytes { $0.extracting(last: suffix.utf8.count).hasSameBytes(as: suffix) }
    }

    /// Returns the text in lower case, as ``Swift/String/lowercased()`` does.
    package func lowercased() -> String { String(self).lowercasedASCII }
}

extension Optional where Wrapped == String {
    package static func == (left: String?, right: String?) -> Bool {
        switch (left, right) {
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, nil): true
        case (_?, nil), (nil, _?): false
        }
    }
    package static func != (left: String?, right: String?) -> Bool { !(left == right) }
}

extension Array where Element == String {
    package static func == (left: [String], right: [String]) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where !left[index].hasSameBytes(as: right[index]) { return false }
        return true
    }
    package static func != (left: [String], right: [String]) -> Bool { !(left == right) }
}

extension Sequence where Element == String {
    package func contains(_ text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
    package func sorted() -> [String] { sorted { $0 < $1 } }
}

extension Sequence where Element == Substring {
    package func contains(_ text: Substring) -> Bool { contains { $0 == text } }
}

extension Collection where Element == String {
    package func firstIndex(of text: String) -> Index? { firstIndex { $0.hasSameBytes(as: text) } }
}

extension Hasher {
    package mutating func combine(_ text: String) { ByteText(text).hash(into: &self) }
    package mutating func combine(_ text: String?) {
        combine(text != nil)
        if let text { combine(text) }
    }
    package mutating func combine(_ texts: [String]) {
        combine(texts.count)
        for text in texts { combine(text) }
    }
}

// A character is more than a letter: a thousand marks behind one are part of it, and are sorted when it is compared.
extension StringProtocol {
    /// Splits the text at a character of ASCII.
    package func split(
        separator: Character, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [SubSequence] {
        let byte = separator.ofASCII
        var parts: [SubSequence] = []
        var start = startIndex
        var place = startIndex
        while place < endIndex, parts.count < maxSplits {
            guard utf8[place] == byte else {
                utf8.formIndex(after: &place)
                continue
            }
            if !omittingEmptySubsequences || start < place { parts.append(self[start..<place]) }
            utf8.formIndex(after: &place)
            start = place
        }
        if !omittingEmptySubsequences || start < endIndex { parts.append(self[start...]) }
        return parts
    }

    /// Whether the text has this character of ASCII.
    package func contains(_ character: Character) -> Bool { utf8.contains(character.ofASCII) }

    package func firstIndex(of character: Character) -> Index? { utf8.firstIndex(of: character.ofASCII) }
}

extension Character {
    fileprivate var ofASCII: UInt8 {
        guard let byte = asciiValue else {
            preconditionFailure("\(self) separates nothing: it is not of ASCII")
        }
        return byte
    }
}
