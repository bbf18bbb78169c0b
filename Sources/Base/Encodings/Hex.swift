/// Hex digits, two for each byte.
public enum Hex {
    /// Returns the digits in lower case.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.append(addingCapacity: 2 * bytes.count) { output in
            for byte in bytes {
                output.append(digit(byte >> 4))
                output.append(digit(byte & 15))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads digits of either case. `nil` for an odd number of digits, or anything else among them.
    package static func decode(_ text: String) -> [UInt8]? { text.withBytes { decode($0) } }

    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var digits = text
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var excess: UInt8 = 0
        // In runs whose length the compiler knows, it makes vector instructions of them.
        while digits.count >= 64 {
            excess |= append(digits.extracting(first: 64), to: &bytes)
            digits = digits.extracting(droppingFirst: 64)
        }
        excess |= append(digits, to: &bytes)
        return excess == 0 ? bytes : nil
    }

    /// Returns the value of a digit; `nil` for what is no digit.
    package static func value(_ digit: UInt8) -> UInt8? {
        excess(digit) == 0 ? valueOfDigit(digit) : nil
    }

    /// Returns the digit of a number below 16.
    @inlinable public static func digit(_ value: UInt8) -> UInt8 {
        value &+ (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }

    /// Returns the eight digits of a number below 2^32, in lower case: the first one in the highest byte.
    @inlinable public static func digits(_ number: UInt64) -> UInt64 {
        // Four bits to a byte, all at once.
        var digits = (number | number << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 where it is above 9.
        let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
    }

    /// Appends the bytes of the digits, and returns 0 if all are digits.
    @inline(__always)
    private static func append(_ digits: Span<UInt8>, to bytes: inout [UInt8]) -> UInt8 {
        var excess: UInt8 = 0
        bytes.append(addingCapacity: digits.count / 2) { output in
            for index in 0..<digits.count / 2 {
                let (high, low) = (digits[2 * index], digits[2 * index + 1])
                excess |= Hex.excess(high) | Hex.excess(low)
                output.append(valueOfDigit(high) << 4 | valueOfDigit(low))
            }
        }
        return excess
    }

    // Arithmetic without a branch, for many at once.

    /// Returns 0 for `0` to `9`, `a` to `f` and `A` to `F`.
    @inline(__always)
    private static func excess(_ byte: UInt8) -> UInt8 {
        let overDecimal = max(byte &- UInt8(ascii: "0"), 9) &- 9
        let overLetter = max((byte | 0x20) &- UInt8(ascii: "a"), 5) &- 5
        return min(overDecimal, overLetter)
    }

    @inline(__always)
    private static func valueOfDigit(_ byte: UInt8) -> UInt8 { (byte & 0xF) &+ 9 &* (byte >> 6) }
}
