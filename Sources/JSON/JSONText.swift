extension [UInt8] {
    /// Appends `text` as a JSON string with its quotes (RFC 8259, section 7).
    package mutating func append(jsonString text: String) {
        append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case UInt8(ascii: "\n"): append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): append(contentsOf: "\\t".utf8)
            case 0..<0x20, 0x7F:
                let digits = String(byte, radix: 16)
                append(contentsOf: "\\u00\(byte < 0x10 ? "0" : "")\(digits)".utf8)
            case _: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
