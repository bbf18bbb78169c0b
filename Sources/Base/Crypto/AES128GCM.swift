import COpenSSL

/// AES-128 in GCM mode (NIST SP 800-38D), the cipher of Web Push: sealed text is as long as the plain one, then a tag of
/// 16 bytes.
enum AES128GCM {
    /// Seals a text: cipher text, then a tag of 16 bytes.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - nonce: 12 bytes, never twice under one key.
    static func seal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        try check(key, nonce)
        let context = CipherContext()
        let sealed = try context.run(
            .aes128GCM, plain, key: key, iv: nonce, encrypting: true, room: plain.count)
        return sealed + (try context.tag())
    }

    /// Opens a sealed text.
    ///
    /// - Throws: ``CryptoError/notAuthentic`` when text, nonce or key are not those of sealing.
    static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        try check(key, nonce)
        guard sealed.count >= 16 else {
            throw .wrongLength(of: "GCM text", bytes: sealed.count, allowed: "16 or more")
        }
        return try CipherContext().run(
            .aes128GCM, Array(sealed.dropLast(16)), key: key, iv: nonce, tag: Array(sealed.suffix(16)),
            encrypting: false, room: sealed.count - 16)
    }

    private static func check(_ key: [UInt8], _ nonce: [UInt8]) throws(CryptoError) {
        guard key.count == 16 else { throw .wrongLength(of: "AES-128 key", bytes: key.count, allowed: "16") }
        guard nonce.count == 12 else {
            throw .wrongLength(of: "GCM nonce", bytes: nonce.count, allowed: "12")
        }
    }
}
