/// A text that somebody has pasted: of a mail or a terminal it may come in several lines.
package enum PastedText {
    /// Puts the lines of a text together that has none of its own, without the blanks at their ends.
    package static func joined(_ bytes: [UInt8]) -> [UInt8] {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .flatMap { $0.drop(while: isBlank).reversed().drop(while: isBlank).reversed() }
    }

    /// Puts a text together whose sections stand between bars. Blanks are part of the second section alone: wherever a mail
    /// has put some, a key or a token has none.
    package static func joinedSections(_ bytes: [UInt8]) -> [UInt8] {
        let sections = joined(bytes).split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
        let plain = sections.enumerated().map { index, section in
            index == 1
                ? Array(section) : section.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        }
        return Array(plain.joined(separator: [UInt8(ascii: "|")]))
    }
}
