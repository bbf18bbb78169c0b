/// Words in a field of a head that stand for other text (RFC 2047): `=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=`.
package enum EncodedWords {
    /// Returns a text with its encoded words decoded, as Go's `mime.WordDecoder` reads them. Blanks between two encoded words
    /// go; all other words stay. If a charset is none of UTF-8, ISO-8859-1 and US-ASCII, the whole text stays as it is.
    package static func decoded(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        // What is not written yet begins here.
        var rest = 0
        var isBehindWord = false
        var position = 0
        while position + 1 < bytes.count {
            guard bytes[position] == UInt8(ascii: "="), bytes[position + 1] == UInt8(ascii: "?"),
                let word = Word(bytes, at: position)
            else {
                position += 1
                continue
            }
            guard let content = word.content else { return text }
            let between = bytes[rest..<position]
            if !isBehindWord || !between.allSatisfy(isBlank) { decoded.append(contentsOf: between) }
            decoded.append(contentsOf: content)
            (rest, position, isBehindWord) = (word.end, word.end, true)
        }
        guard rest > 0 else { return text }
        return String(decoding: decoded + bytes[rest...], as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private struct Word {
        /// The decoded bytes, in UTF-8; `nil`: the charset is unknown.
        let content: [UInt8]?
        /// The index behind the word.
        let end: Int

        /// Reads the word that begins at `start`; `nil`: none begins there. It looks no further than to the
        /// fourth question mark.
        init?(_ bytes: [UInt8], at start: Int) {
            let mark = UInt8(ascii: "?")
            func next(_ position: Int) -> Int? { bytes[position...].firstIndex(of: mark) }
            guard let first = next(start + 2), first + 2 < bytes.count, bytes[first + 2] == mark,
                let last = next(first + 3), last + 1 < bytes.count, bytes[last + 1] == UInt8(ascii: "=")
            else { return nil }
            let text = bytes[(first + 3)..<last]
            let raw: [UInt8]?
            switch ASCII.lowercased(bytes[first + 1]) {
            case UInt8(ascii: "b"): raw = text.isEmpty ? [] : Base64.decode(Array(text).span)
            case UInt8(ascii: "q"): raw = Word.unquoted(text)
            case _: raw = nil
            }
            guard let raw else { return nil }
            end = last + 2
            switch String(decoding: bytes[(start + 2)..<first], as: UTF8.self).lowercased() {
            case "utf-8": content = Array(String(decoding: raw, as: UTF8.self).utf8)
            case "us-ascii": content = raw.flatMap { $0 < 0x80 ? [$0] : [0xEF, 0xBF, 0xBD] }
            case "iso-8859-1":
                content = raw.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
            case _: content = nil
            }
        }

        private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
            var bytes: [UInt8] = []
            var position = text.startIndex
            while position < text.endIndex {
                switch text[position] {
                case UInt8(ascii: "_"): bytes.append(0x20)
                case UInt8(ascii: "="):
                    guard position + 2 < text.endIndex, let high = digit(text[position + 1]),
                        let low = digit(text[position + 2])
                    else { return nil }
                    bytes.append(high << 4 | low)
                    position += 2
                case let byte: bytes.append(byte)
                }
                position += 1
            }
            return bytes
        }

        private static func digit(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            case _: nil
            }
        }
    }
}
