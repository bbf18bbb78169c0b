import COpenSSL

/// X25519 keys (RFC 7748) as far as onion services' client authorization needs them.
package enum X25519 {
    /// Returns the public key, 32 bytes, of a secret of 32 random bytes.
    package static func publicKey(secret: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard secret.count == 32 else {
            throw .wrongLength(of: "X25519 secret", bytes: secret.count, allowed: "32")
        }
        LibraryErrors.clear()
        guard let handle = EVP_PKEY_new_raw_private_key_ex(nil, "X25519", nil, secret, secret.count) else {
            throw LibraryErrors.failure("X25519 key")
        }
        let key = Key(owning: handle)
        var length = 32
        var publicKey = [UInt8](repeating: 0, count: length)
        guard EVP_PKEY_get_raw_public_key(key.handle, &publicKey, &length) == 1, length == 32 else {
            throw LibraryErrors.failure("X25519 public key")
        }
        return publicKey
    }
}
