/// Kinds of characters in texts that must be ASCII.
enum ASCII {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    static func isUpperCase(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }

    static func isHexDigit(_ byte: UInt8) -> Bool { isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 6 }
}

/// Texts are checked as bytes that lie in one run: a string's own iteration costs many times as much.
extension Span<UInt8> {
    func starts(with text: Span<UInt8>) -> Bool {
        guard count >= text.count else { return false }
        for index in text.indices where self[index] != text[index] { return false }
        return true
    }

    @inline(__always)
    func allSatisfy(_ isAllowed: (UInt8) -> Bool) -> Bool {
        for index in indices where !isAllowed(self[index]) { return false }
        return true
    }
}
