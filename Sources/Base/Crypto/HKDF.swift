/// Keys from a secret by HMAC-SHA256 (RFC 5869), for outputs of one block.
package enum HKDF {
    /// Returns 32 evenly distributed bytes that come from the secret.
    package static func extract(_ secret: [UInt8], salt: [UInt8]) -> [UInt8] {
        HMAC.sha256(secret, key: salt)
    }

    /// Makes a key from what ``extract(_:salt:)`` gave.
    ///
    /// - Parameter length: 1 to 32 bytes.
    package static func expand(_ base: [UInt8], info: [UInt8], length: Int = 32) -> [UInt8] {
        precondition((1...32).contains(length), "a key of \(length) bytes")
        return Array(HMAC.sha256(info + [1], key: base).prefix(length))
    }
}
