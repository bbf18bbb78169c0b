public struct CharacterSet: Sendable {
    let holds: @Sendable (Unicode.Scalar) -> Bool

    public static let whitespacesAndNewlines = CharacterSet { $0.properties.isWhitespace }
}

extension StringProtocol {
    public func trimmingCharacters(in set: CharacterSet) -> String {
        var rest = Substring(self).unicodeScalars
        while let first = rest.first, set.holds(first) { rest.removeFirst() }
        while let last = rest.last, set.holds(last) { rest.removeLast() }
        return String(rest)
    }

    public func components(separatedBy separator: String) -> [String] {
        var parts: [[UInt8]] = [[]]
        var rest = Array(utf8)[...]
        while let first = rest.first {
            if rest.starts(with: separator.utf8) {
                parts.append([])
                rest.removeFirst(separator.utf8.count)
            } else {
                parts[parts.count - 1].append(first)
                rest.removeFirst()
            }
        }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    public func replacingOccurrences(of text: String, with other: String) -> String {
        components(separatedBy: text).joined(separator: other)
    }
}
