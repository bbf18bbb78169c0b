/// The shape of what a phone gets: the node never holds its key, so shape is all there is to check.
enum MessageText {
    /// Bisq 1's `magic|iv|base64` with the magic of the platform, an IV of 16 characters and whole AES blocks; or
    /// Bisq 2's base64 of at least a nonce and a tag (28 bytes). Nothing in it needs an escape in JSON.
    static func isValid(_ message: String, for gateway: GatewayKind) -> Bool {
        let text = message.utf8
        guard text.starts(with: magicPrefix) else {
            return base64Length(text[...]).map { $0 >= 28 } ?? false
        }
        let magic = gateway == .fcm ? androidMagic : iosMagic
        guard text.starts(with: magic) else { return false }
        let rest = text.dropFirst(magic.count)
        guard let separator = rest.firstIndex(of: UInt8(ascii: "|")) else { return false }
        let iv = rest[..<separator]
        guard iv.count == 16, iv.allSatisfy(isPlain) else { return false }
        guard let length = base64Length(rest[rest.index(after: separator)...]) else { return false }
        return length > 0 && length.isMultiple(of: 16)
    }

    private static let magicPrefix = Array("BisqMessage".utf8)
    private static let iosMagic = Array("BisqMessageiOS|".utf8)
    private static let androidMagic = Array("BisqMessageAndroid|".utf8)

    /// Printable ASCII that JSON takes as it is.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// How many bytes standard base64 with padding stands for; `nil` if it is not that.
    private static func base64Length(_ text: Substring.UTF8View) -> Int? {
        guard text.count.isMultiple(of: 4), !text.isEmpty else { return nil }
        let padding = text.reversed().prefix(2).prefix(while: { $0 == UInt8(ascii: "=") }).count
        let digits = text.dropLast(padding)
        guard digits.allSatisfy({ base64Value[Int($0)] }) else { return nil }
        return text.count / 4 * 3 - padding
    }

    private static let base64Value: [Bool] = (0..<256).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
