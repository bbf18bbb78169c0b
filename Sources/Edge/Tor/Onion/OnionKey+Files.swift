import Crypto
import Encodings

/// The files in which other programs keep the key of an onion service.
///
/// - tor, `hs_ed25519_secret_key`: 32 bytes of header, then the 64 of the expanded key.
/// - Bisq 1, `hiddenservice/private_key`: as ADD_ONION tells it, `ED25519-V3:` and the expanded key in base64
///   (bisq-network/netlayer, `Tor.kt`).
/// - Bisq 2, `private_key_hex`: the seed in 64 hex digits (bisq-network/bisq2, `TorKeyUtils.java`).
extension OnionKey {
    private static let header = Array("== ed25519v1-secret: type0 ==\0\0\0".utf8)
    private static let word = "ED25519-V3:"

    /// Bytes of the longest of these files, and more.
    package static let fileSizeLimit = 1024

    /// Reads any of these files, or a copy of our own ``OnionKeyFile``. `nil` for any other content.
    package init?(file bytes: [UInt8]) {
        let key: OnionKey?
        if bytes.starts(with: Self.header) {
            key = OnionKey(expanded: Array(bytes[Self.header.count...]))
        } else {
            let text = String(decoding: bytes, as: UTF8.self)
            let line = String(text.prefix { !$0.isWhitespace })
            if line.hasPrefix(Self.word) {
                let expanded = Base64.decode(String(line.dropFirst(Self.word.count)))
                key = expanded.flatMap { OnionKey(expanded: $0) }
            } else {
                key = Hex.decode(line).flatMap { OnionKey(seed: $0) } ?? OnionKeyFile.parse(text)
            }
        }
        guard let key else { return nil }
        self = key
    }

    /// The content of tor's `hs_ed25519_secret_key`, 96 bytes.
    package var torsFile: [UInt8] { Self.header + expandedBytes }
}
