import COpenSSL

/// One EVP_PKEY, private or public; freed when the last reference goes.
final class Key: @unchecked Sendable {
    // Unchecked: a key is never changed after it was made, and OpenSSL counts its references atomically.
    let handle: OpaquePointer

    /// Makes a key, and takes ownership of the handle.
    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { EVP_PKEY_free(handle) }

    /// Reads a private key in PEM: PKCS#8 (`BEGIN PRIVATE KEY`) or the older forms, without a pass phrase.
    convenience init(pem: [UInt8], called name: String) throws(CryptoError) {
        LibraryErrors.clear()
        let file = MemoryBIO(pem)
        // The callback refuses a pass phrase: without it OpenSSL would ask at the terminal.
        guard let handle = PEM_read_bio_PrivateKey(file.handle, nil, { _, _, _, _ in -1 }, nil) else {
            let reason = "no private key in PEM form (\(LibraryErrors.takeReason()))"
            throw .unreadable(
                what: name, reason: MistakenFile.words(for: pem, wanted: .privateKey) ?? reason)
        }
        self.init(owning: handle)
    }

    static func generate(_ kind: SigningKey.Algorithm) throws(CryptoError) -> Key {
        LibraryErrors.clear()
        let made =
            switch kind {
            case .es256: onionbell_EVP_EC_gen("P-256")
            case .rs256: onionbell_EVP_RSA_gen(2048)
            }
        guard let made else { throw LibraryErrors.failure("key generation") }
        return Key(owning: made)
    }

    /// Returns the public key, 32 bytes, of a private one of 32 bytes (RFC 8410).
    ///
    /// - Parameter algorithm: `Ed25519` or `X25519`.
    static func publicKey(
        of secret: [UInt8], _ algorithm: String, called name: String
    ) throws(CryptoError) -> [UInt8] {
        guard secret.count == 32 else {
            throw .wrongLength(of: name, bytes: secret.count, allowed: "32")
        }
        LibraryErrors.clear()
        guard let handle = EVP_PKEY_new_raw_private_key_ex(nil, algorithm, nil, secret, secret.count) else {
            throw LibraryErrors.failure("\(algorithm) key")
        }
        let key = Key(owning: handle)
        var length = 32
        var publicKey = [UInt8](repeating: 0, count: length)
        guard EVP_PKEY_get_raw_public_key(key.handle, &publicKey, &length) == 1, length == 32 else {
            throw LibraryErrors.failure("\(algorithm) public key")
        }
        return publicKey
    }

    /// Returns the private key in PKCS#8, not encrypted.
    func privatePEM() throws(CryptoError) -> [UInt8] {
        let file = MemoryBIO()
        guard PEM_write_bio_PKCS8PrivateKey(file.handle, handle, nil, nil, 0, nil, nil) == 1 else {
            throw LibraryErrors.failure("writing a private key")
        }
        return file.bytes
    }
}
