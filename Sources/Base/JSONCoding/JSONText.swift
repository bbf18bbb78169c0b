import Encodings

extension [UInt8] {
    /// Appends `text` as a JSON string with its quotes (RFC 8259, section 7). Control characters are escaped, those above
    /// ASCII too: nothing in it ends a line or commands a terminal.
    package mutating func append(jsonString text: String) {
        text.withBytes { append(jsonString: $0) }
    }

    private mutating func append(jsonString bytes: Span<UInt8>) {
        append(UInt8(ascii: "\""))
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case UInt8(ascii: "\n"): append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): append(contentsOf: "\\t".utf8)
            case 0..<0x20, 0x7F: append(escaped: byte)
            // The first of two bytes: U+0080 to U+009F.
            case 0xC2 where index < bytes.count && bytes[index] < 0xA0:
                append(escaped: bytes[index])
                index += 1
            case _: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped unit: UInt8) {
        append(contentsOf: "\\u00".utf8)
        append(Hex.digit(unit >> 4))
        append(Hex.digit(unit & 15))
    }
}
