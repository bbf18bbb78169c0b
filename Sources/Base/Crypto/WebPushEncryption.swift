/// The encryption of Web Push messages (RFC 8291, with the content encoding `aes128gcm` of RFC 8188): one record, for one
/// subscription.
///
/// `salt (16) | record size (4, big-endian) | 65 | sender's point (65) | AES-128-GCM(plain text | 2 | zeros)`
package enum WebPushEncryption {
    /// Bytes of a message beside its plain text: salt, sizes, point, delimiter and tag.
    package static let overhead = 103
    /// The most bytes of a plain text: every push service takes a message of 4,096 bytes (RFC 8030, section
    /// 7.2).
    package static let longestPlainText = 4096 - overhead
    private static let recordSize: [UInt8] = [0, 0, 16, 0]

    /// Seals a text under a new key and a new salt.
    ///
    /// - Parameters:
    ///   - length: The bytes to which zeros fill the text up, so that its own length doesn't show.
    ///   - point: The subscription's `p256dh`, in a form that ``P256/uncompressed(_:)`` takes.
    ///   - secret: Its `auth`, 16 bytes.
    package static func seal(
        _ plain: [UInt8], paddedTo length: Int = 0, for point: [UInt8], secret: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        try check(plain, paddedTo: length)
        let exchange = try P256Exchange(with: point)
        return try seal(
            plain, paddedTo: length, secret: secret, shared: exchange.secret, receiver: exchange.receiver,
            sender: exchange.sender, salt: randomBytes(16))
    }

    /// Seals a text with a key and a salt that are given, as the examples of the RFC have them.
    ///
    /// - Parameter key: Never used for anything else.
    package static func seal(
        _ plain: [UInt8], paddedTo length: Int, for point: [UInt8], secret: [UInt8], with key: P256Key,
        salt: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        try check(plain, paddedTo: length)
        guard let point = P256.uncompressed(point) else {
            throw .unreadable(what: "p256dh", reason: "not a point of P-256")
        }
        return try seal(
            plain, paddedTo: length, secret: secret, shared: key.sharedSecret(with: point), receiver: point,
            sender: key.publicPoint, salt: salt)
    }

    private static func check(_ plain: [UInt8], paddedTo length: Int) throws(CryptoError) {
        guard max(plain.count, length) <= longestPlainText else {
            throw .wrongLength(
                of: "Web Push message", bytes: max(plain.count, length),
                allowed: "\(longestPlainText) or less")
        }
    }

    private static func seal(
        _ plain: [UInt8], paddedTo length: Int, secret: [UInt8], shared: [UInt8], receiver: [UInt8],
        sender: [UInt8], salt: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let keys = try keys(secret: secret, shared: shared, receiver: receiver, sender: sender, salt: salt)
        let padding = max(0, length - plain.count)
        var text = plain
        text.reserveCapacity(plain.count + padding + 1)
        text.append(2)
        text.append(contentsOf: repeatElement(0, count: padding))
        return salt + recordSize + [65] + sender
            + (try AES128GCM.seal(text, key: keys.key, nonce: keys.nonce))
    }

    /// Opens a message as a browser does, without its padding.
    ///
    /// - Throws: ``CryptoError``: it is none, or not for this key.
    package static func open(
        _ body: [UInt8], with key: P256Key, secret: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        guard body.count >= overhead, body[20] == 65 else {
            throw .wrongLength(of: "Web Push message", bytes: body.count, allowed: "\(overhead) or more")
        }
        let recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
        guard body.count - 86 <= recordSize else { throw .notAuthentic }
        let sender = Array(body[21..<86])
        guard P256.isPoint(sender) else { throw .notAuthentic }
        let keys = try keys(
            secret: secret, shared: key.sharedSecret(with: sender), receiver: key.publicPoint, sender: sender,
            salt: Array(body[..<16]))
        let text = try AES128GCM.open(Array(body[86...]), key: keys.key, nonce: keys.nonce)
        // It is the last record, which ends with 2 and zeros.
        guard let end = text.lastIndex(where: { $0 != 0 }), text[end] == 2 else { throw .notAuthentic }
        return Array(text[..<end])
    }

    /// Derives key and nonce (RFC 8291, section 3.4).
    private static func keys(
        secret: [UInt8], shared: [UInt8], receiver: [UInt8], sender: [UInt8], salt: [UInt8]
    ) throws(CryptoError) -> (key: [UInt8], nonce: [UInt8]) {
        guard secret.count == 16 else { throw .wrongLength(of: "auth", bytes: secret.count, allowed: "16") }
        guard salt.count == 16 else { throw .wrongLength(of: "salt", bytes: salt.count, allowed: "16") }
        let input = HKDF.expand(
            HKDF.extract(shared, salt: secret), info: Array("WebPush: info\0".utf8) + receiver + sender)
        let base = HKDF.extract(input, salt: salt)
        return (
            HKDF.expand(base, info: Array("Content-Encoding: aes128gcm\0".utf8), length: 16),
            HKDF.expand(base, info: Array("Content-Encoding: nonce\0".utf8), length: 12)
        )
    }
}
