/// Base64 (RFC 4648, section 4) and its form for URLs (section 5; RFC 7515), as strict as phones are: nothing between the
/// digits, no bits left over.
package enum Base64 {
    /// Encodes bytes with padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        encode(bytes, digits: standard, isPadded: true)
    }

    /// Encodes bytes in the form for URLs, with `-` and `_`.
    package static func encodeForURL(_ bytes: [UInt8], isPadded: Bool = false) -> String {
        encode(bytes, digits: url, isPadded: isPadded)
    }

    /// Returns the bytes; `nil` unless the text is exactly what ``encode(_:)`` gives for some bytes.
    package static func decode(_ text: String) -> [UInt8]? { text.withBytes { decode($0) } }

    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        return decode(text.extracting(droppingLast: padding(of: text)), values: standardValues)
    }

    /// Returns the bytes; `nil` unless the text is exactly what ``encodeForURL(_:isPadded:)`` gives for some
    /// bytes without padding.
    package static func decodeFromURL(_ text: String) -> [UInt8]? {
        text.withBytes { decodeFromURL($0) }
    }

    package static func decodeFromURL(_ text: Span<UInt8>) -> [UInt8]? { decode(text, values: urlValues) }

    /// Returns how many bytes a text of standard digits with padding stands for; `nil` if it has another
    /// form, or is empty. The bits left over are not looked at.
    package static func byteCount(of text: Span<UInt8>) -> Int? {
        guard !text.isEmpty, text.count.isMultiple(of: 4) else { return nil }
        let padding = padding(of: text)
        guard text.extracting(droppingLast: padding).consists(of: isStandard) else { return nil }
        return text.count / 4 * 3 - padding
    }

    private static func isStandard(_ byte: UInt8) -> UInt8 {
        // The slash stands before the zero.
        ASCII.letter(byte) | (byte &- UInt8(ascii: "/") < 11 ? 1 : 0) | ASCII.equal(byte, "+")
    }

    /// Returns the number of padding signs, at most two; only a text of four digits and more has any.
    private static func padding(of text: Span<UInt8>) -> Int {
        let count = text.count
        guard count >= 4, text[count - 1] == UInt8(ascii: "=") else { return 0 }
        return text[count - 2] == UInt8(ascii: "=") ? 2 : 1
    }

    private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let standard = common + Array("+/".utf8)
    private static let url = common + Array("-_".utf8)
    private static let standardValues = values(of: standard)
    private static let urlValues = values(of: url)

    /// Returns a table of the digits' values by their characters: 255 where a character is no digit.
    private static func values(of digits: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }

    private static func encode(_ bytes: [UInt8], digits: [UInt8], isPadded: Bool) -> String {
        let whole = bytes.count / 3
        let rest = bytes.count % 3
        var text: [UInt8] = []
        text.append(addingCapacity: (whole + 1) * 4) { output in
            for group in 0..<whole {
                let value =
                    UInt32(bytes[3 * group]) << 16 | UInt32(bytes[3 * group + 1]) << 8
                    | UInt32(bytes[3 * group + 2])
                for shift: UInt32 in [18, 12, 6, 0] { output.append(digits[Int(value >> shift & 63)]) }
            }
            guard rest > 0 else { return }
            let value = UInt32(bytes[3 * whole]) << 16 | (rest == 2 ? UInt32(bytes[3 * whole + 1]) << 8 : 0)
            for place in 0..<4 {
                if place <= rest {
                    output.append(digits[Int(value >> UInt32(18 - 6 * place) & 63)])
                } else if isPadded {
                    output.append(UInt8(ascii: "="))
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decode(_ text: Span<UInt8>, values: [UInt8]) -> [UInt8]? {
        let values = values.span
        let groups = text.count / 4
        var bytes: [UInt8] = []
        // Of all values: what is no digit leaves a high bit in it.
        var all: UInt32 = 0
        bytes.append(addingCapacity: text.count * 3 / 4) { output in
            for group in 0..<groups {
                var value: UInt32 = 0
                for place in 0..<4 {
                    let digit = UInt32(values[Int(text[4 * group + place])])
                    all |= digit
                    value = value << 6 | digit
                }
                for shift: UInt32 in [16, 8, 0] { output.append(UInt8(truncatingIfNeeded: value >> shift)) }
            }
            var (value, bits): (UInt32, UInt32) = (0, 0)
            for index in 4 * groups..<text.count {
                let digit = UInt32(values[Int(text[index])])
                all |= digit
                value = value << 6 | digit
                bits += 6
            }
            while bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: value >> bits))
            }
            // 6 bits left over is a single last digit; other bits left over must be zero.
            if bits == 6 || value & (1 << bits - 1) != 0 { all = .max }
        }
        return all < 64 ? bytes : nil
    }
}
