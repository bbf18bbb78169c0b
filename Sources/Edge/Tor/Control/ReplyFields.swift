import Encodings

/// The words of a reply line: `word`, `KEY=value`, `KEY="quoted value"` and `"quoted word"`, parted by spaces.
package struct ReplyFields: Equatable, Sendable {
    package struct Word: Equatable, Sendable {
        /// The text before `=`, if it is made of letters, digits, `_`, `-` and `/`.
        package var key: String?
        /// The value, unquoted; for a word without a key, the word.
        package var value: String
        /// The word as it was written. Base64 may end in `=`, so a word without a key is taken from here.
        package var written: String
    }

    package private(set) var words: [Word] = []

    /// Reads the words of a line.
    ///
    /// - Throws: ``ControlSyntaxError/unfinishedQuotation``.
    package init(_ text: some StringProtocol) throws(ControlSyntaxError) {
        var rest = Array(text.utf8)[...]
        while true {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            guard !rest.isEmpty else { return }
            words.append(try Self.takeWord(&rest))
        }
    }

    /// Returns the value of the first word with this key.
    package subscript(key: String) -> String? {
        words.first { $0.key == key }?.value
    }

    /// Returns the word at a place counted from 0, as it was written.
    package subscript(place: Int) -> String? {
        words.indices.contains(place) ? words[place].written : nil
    }

    private static func takeWord(_ rest: inout ArraySlice<UInt8>) throws(ControlSyntaxError) -> Word {
        let start = rest
        var key: String?
        let name = rest.prefix(while: isKeyCharacter)
        if !name.isEmpty, rest.dropFirst(name.count).first == UInt8(ascii: "=") {
            key = String(decoding: name, as: UTF8.self)
            rest = rest.dropFirst(name.count + 1)
        }
        let value: String
        if rest.first == UInt8(ascii: "\"") {
            value = try takeQuotation(&rest)
        } else {
            let word = rest.prefix { $0 != UInt8(ascii: " ") }
            rest = rest.dropFirst(word.count)
            value = String(decoding: word, as: UTF8.self)
        }
        return Word(
            key: key, value: value,
            written: String(decoding: start.prefix(start.count - rest.count), as: UTF8.self))
    }

    private static func isKeyCharacter(_ byte: UInt8) -> Bool {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "_") | ASCII.equal(byte, "-")
            | ASCII.equal(byte, "/") == 1
    }

    /// Takes `"..."` with C escapes: `\n \t \r \" \' \\`, `\` and up to three octal digits, `\x` and two hex
    /// digits.
    private static func takeQuotation(_ rest: inout ArraySlice<UInt8>) throws(ControlSyntaxError) -> String {
        var bytes: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"): bytes.append(try takeEscape(&rest))
            default: bytes.append(byte)
            }
        }
        throw .unfinishedQuotation
    }

    private static func takeEscape(_ rest: inout ArraySlice<UInt8>) throws(ControlSyntaxError) -> UInt8 {
        guard let letter = rest.first else { throw .unfinishedQuotation }
        if (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(letter) {
            return takeNumber(&rest, base: 8, digits: 3)
        }
        rest = rest.dropFirst()
        switch letter {
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "x"): return takeNumber(&rest, base: 16, digits: 2)
        default: return letter
        }
    }

    private static func takeNumber(_ rest: inout ArraySlice<UInt8>, base: UInt16, digits: Int) -> UInt8 {
        var value: UInt16 = 0
        for _ in 0..<digits {
            guard let byte = rest.first, let digit = Character(UnicodeScalar(byte)).hexDigitValue,
                digit < base
            else { break }
            value = value * base + UInt16(digit)
            rest = rest.dropFirst()
        }
        return UInt8(truncatingIfNeeded: value)
    }
}
