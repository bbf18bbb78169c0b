import Encodings

/// The shape of what a phone gets: the node never holds its key, so shape is all there is to check.
enum MessageText {
    /// Whether a message is Bisq 1's `magic|iv|base64` with the magic of the platform, an IV of 16
    /// characters and whole AES blocks; or Bisq 2's base64 of at least a nonce and a tag (28 bytes).
    /// Nothing in such a message needs an escape in JSON.
    static func isValid(_ message: String, for platform: Platform) -> Bool {
        message.withBytes { isValid($0, for: platform) }
    }

    private static func isValid(_ text: Span<UInt8>, for platform: Platform) -> Bool {
        guard text.starts(with: "BisqMessage") else {
            return Base64.byteCount(of: text).map { $0 >= 28 } ?? false
        }
        let magic = platform == .android ? "BisqMessageAndroid|" : "BisqMessageiOS|"
        let iv = magic.utf8.count
        let separator = iv + ivLength
        guard text.starts(with: magic), text.count > separator,
            text[separator] == UInt8(ascii: "|"),
            text.extracting(iv..<separator).consists(of: plain),
            let length = Base64.byteCount(of: text.extracting((separator + 1)...))
        else { return false }
        return length > 0 && length.isMultiple(of: 16)
    }

    private static let ivLength = 16

    /// Returns 1 for printable ASCII that JSON takes as it is and that is no separator, else 0.
    private static func plain(_ byte: UInt8) -> UInt8 {
        ASCII.printable(byte)
            & (1 ^ (ASCII.equal(byte, "\"") | ASCII.equal(byte, "\\") | ASCII.equal(byte, "|")))
    }
}
