/// Base64 (RFC 4648, section 4) and its form for URLs without padding (section 5; RFC 7515).
package enum Base64 {
    /// With padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        encode(bytes, alphabet: standard, padded: true)
    }

    /// With `-` and `_`, without padding.
    package static func encodeForURL(_ bytes: [UInt8]) -> String {
        encode(bytes, alphabet: url, padded: false)
    }

    /// `nil` unless the text is exactly what ``encode(_:)`` gives for some bytes: padded, no blanks, no stray bits.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { characters in
            guard characters.count.isMultiple(of: 4) else { return nil }
            var end = characters.count
            while end > 0, characters.count - end < 2, characters[end - 1] == UInt8(ascii: "=") { end -= 1 }
            return decode(characters[..<end], values: standardValues)
        }
    }

    /// `nil` unless the text is exactly what ``encodeForURL(_:)`` gives for some bytes.
    package static func decodeFromURL(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decode($0[...], values: urlValues) }
    }

    private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let standard = common + Array("+/".utf8)
    private static let url = common + Array("-_".utf8)
    private static let standardValues = values(of: standard)
    private static let urlValues = values(of: url)

    /// 255 where a character is none of the alphabet.
    private static func values(of alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }

    private static func encode(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> String {
        let whole = bytes.count / 3
        let rest = bytes.count % 3
        let length = whole * 4 + (rest == 0 ? 0 : padded ? 4 : rest + 1)
        return String(unsafeUninitializedCapacity: length) { output in
            for group in 0..<whole {
                let value =
                    UInt32(bytes[3 * group]) << 16 | UInt32(bytes[3 * group + 1]) << 8
                    | UInt32(bytes[3 * group + 2])
                output[4 * group] = alphabet[Int(value >> 18)]
                output[4 * group + 1] = alphabet[Int(value >> 12 & 63)]
                output[4 * group + 2] = alphabet[Int(value >> 6 & 63)]
                output[4 * group + 3] = alphabet[Int(value & 63)]
            }
            guard rest > 0 else { return length }
            let value = UInt32(bytes[3 * whole]) << 16 | (rest == 2 ? UInt32(bytes[3 * whole + 1]) << 8 : 0)
            let digits = [
                alphabet[Int(value >> 18)], alphabet[Int(value >> 12 & 63)], alphabet[Int(value >> 6 & 63)],
            ]
            for index in 4 * whole..<length {
                output[index] = index - 4 * whole <= rest ? digits[index - 4 * whole] : UInt8(ascii: "=")
            }
            return length
        }
    }

    private static func decode(_ characters: Slice<UnsafeBufferPointer<UInt8>>, values: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count * 3 / 4)
        var bits = 0
        var value: UInt32 = 0
        for character in characters {
            let digit = values[Int(character)]
            guard digit < 64 else { return nil }
            value = value << 6 | UInt32(digit)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
                value &= 1 << UInt32(bits) - 1
            }
        }
        // 6 bits left over is a single last character; other bits left over must be zero.
        return bits < 6 && value == 0 ? bytes : nil
    }
}
