/// X25519 keys (RFC 7748) as far as onion services' client authorization needs them.
package enum X25519 {
    /// Returns the public key, 32 bytes, of a secret of 32 random bytes.
    package static func publicKey(secret: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Key.publicKey(of: secret, "X25519", called: "X25519 secret")
    }
}
