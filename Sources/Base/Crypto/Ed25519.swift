import COpenSSL

/// Ed25519 keys (RFC 8032) as far as onion services need them.
package enum Ed25519 {
    /// Returns the public key, 32 bytes, of a seed (the "private key" of RFC 8032) of 32 bytes.
    package static func publicKey(seed: [UInt8]) throws(CryptoError) -> [UInt8] {
        try Key.publicKey(of: seed, "Ed25519", called: "Ed25519 seed")
    }

    /// Returns the 64 bytes a seed expands to (RFC 8032, 5.1.5): the clamped scalar, then the prefix. This is
    /// the form in which tor takes and keeps an onion service's key.
    package static func expandedKey(seed: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard seed.count == 32 else {
            throw .wrongLength(of: "Ed25519 seed", bytes: seed.count, allowed: "32")
        }
        var expanded = Hash.sha512(seed)
        expanded[0] &= 248
        expanded[31] &= 63
        expanded[31] |= 64
        return expanded
    }
}
