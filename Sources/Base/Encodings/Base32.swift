/// Base32 with the lower-case alphabet and without padding, as onion addresses are written (RFC 4648, section 6).
package enum Base32 {
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 8 + 4) / 5)
        var bits = 0
        var value: UInt32 = 0
        for byte in bytes {
            value = value << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[Int(value >> UInt32(bits) & 31)])
            }
            value &= 1 << UInt32(bits) - 1
        }
        if bits > 0 { text.append(alphabet[Int(value << UInt32(5 - bits) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads digits of either case. `nil` for other characters, a length no bytes give, or bits left over
    /// that are not zero.
    package static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 5 / 8)
        var bits = 0
        var value: UInt32 = 0
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = character - UInt8(ascii: "a")
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = character - UInt8(ascii: "A")
            case UInt8(ascii: "2")...UInt8(ascii: "7"): digit = character - UInt8(ascii: "2") + 26
            default: return nil
            }
            value = value << 5 | UInt32(digit)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
            }
            value &= 1 << UInt32(bits) - 1
        }
        return bits < 5 && value == 0 ? bytes : nil
    }
}
