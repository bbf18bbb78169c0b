import COpenSSL

/// PKCS#12 files (`.p12`): a certificate and its key under a password (RFC 7292), as Apple's portal and macOS
/// Keychain give them.
package enum PKCS12 {
    /// Ciphers of a file to be written.
    package enum Kind: Sendable {
        /// AES-256: what OpenSSL 3 writes.
        case modern
        /// RC2-40 for certificates, 3DES for the key, SHA-1 for the check: what macOS Keychain exports.
        case legacy
    }

    /// Reads a file of either kind.
    ///
    /// - Throws: ``CryptoError/wrongPassword``, ``CryptoError/legacyPKCS12Unsupported``, or
    ///   ``CryptoError/unreadable(what:reason:)`` for other bytes and for a file whose key is not its certificate's.
    package static func open(_ file: [UInt8], password: String) throws(CryptoError) -> Identity {
        try open(file, password: password, in: ProviderContext(withLegacy: true))
    }

    static func open(
        _ bytes: [UInt8], password: String, in context: borrowing ProviderContext
    ) throws(CryptoError) -> Identity {
        guard bytes.count <= 1_048_576 else {
            throw .wrongLength(of: "PKCS#12 file", bytes: bytes.count, allowed: "1048576 or less")
        }
        LibraryErrors.clear()
        let file = MemoryBIO(bytes)
        // Binds what is decoded to the private context. On failure OpenSSL frees the object and clears the pointer.
        var archive = PKCS12_init_ex(NID_pkcs7_data, context.handle, nil)
        defer { PKCS12_free(archive) }
        guard d2i_PKCS12_bio(file.handle, &archive) != nil, archive != nil else {
            let reason = LibraryErrors.takeReason()
            if isCertificate(bytes) {
                throw .unreadable(
                    what: "PKCS#12 file",
                    reason:
                        "this is a certificate without its key (.cer): export both together as .p12 from where the key was made"
                )
            }
            throw .unreadable(
                what: "PKCS#12 file",
                reason: MistakenFile.words(for: bytes, wanted: .archive)
                    ?? "no .p12, or cut off or damaged (\(reason))")
        }
        if PKCS12_mac_present(archive) == 1 {
            // An empty password is written in two ways: as no bytes, and as none at all.
            let fits =
                PKCS12_verify_mac(archive, password, -1) == 1
                || password.isEmpty && PKCS12_verify_mac(archive, nil, 0) == 1
            guard fits else {
                LibraryErrors.clear()
                throw password.isEmpty ? .passwordNeeded : .wrongPassword
            }
        }
        LibraryErrors.clear()
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let code = PKCS12_parse(archive, password, &key, &certificate, &others)
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
            onionbell_sk_X509_pop_free(others)
        }
        guard code == 1 else {
            if !context.hasLegacy { throw .legacyPKCS12Unsupported }
            throw .unreadable(what: "PKCS#12 file", reason: LibraryErrors.takeReason())
        }
        guard let key else { throw .unreadable(what: "PKCS#12 file", reason: "it holds no private key") }
        guard let certificate else {
            throw .unreadable(what: "PKCS#12 file", reason: "it holds no certificate that belongs to its key")
        }
        return try identity(key: key, certificate: certificate, others: others)
    }

    /// Whether the bytes are a certificate in DER.
    private static func isCertificate(_ bytes: [UInt8]) -> Bool {
        let certificate = bytes.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_X509(nil, &start, bytes.count)
        }
        LibraryErrors.clear()
        X509_free(certificate)
        return certificate != nil
    }

    /// Writes the key and the certificates out and reads them again, so that nothing refers to the private
    /// context, which goes now.
    private static func identity(
        key: OpaquePointer, certificate: OpaquePointer, others: OpaquePointer?
    ) throws(CryptoError) -> Identity {
        let text = MemoryBIO()
        var isWritten = PEM_write_bio_X509(text.handle, certificate) == 1
        for index in 0..<(others.map(onionbell_sk_X509_num) ?? 0) {
            isWritten =
                isWritten && PEM_write_bio_X509(text.handle, onionbell_sk_X509_value(others, index)) == 1
        }
        let keyText = MemoryBIO()
        isWritten =
            isWritten && PEM_write_bio_PKCS8PrivateKey(keyText.handle, key, nil, nil, 0, nil, nil) == 1
        guard isWritten else { throw LibraryErrors.failure("writing out a PKCS#12 file's content") }
        return try Identity(certificatePEM: text.bytes, keyPEM: keyText.bytes)
    }

    /// Returns the bytes of a PKCS#12 file.
    package static func write(_ identity: Identity, password: String, kind: Kind) throws(CryptoError)
        -> [UInt8]
    {
        LibraryErrors.clear()
        let context = ProviderContext(withLegacy: kind == .legacy)
        guard kind == .modern || context.hasLegacy else { throw .legacyPKCS12Unsupported }
        let others = onionbell_sk_X509_new()
        // Frees the stack only; the certificates stay `identity`'s.
        defer { onionbell_sk_X509_free(others) }
        for certificate in identity.chain.dropFirst() {
            _ = onionbell_sk_X509_push(others, certificate.handle)
        }
        let keyCipher = kind == .legacy ? NID_pbe_WithSHA1And3_Key_TripleDES_CBC : NID_aes_256_cbc
        let certificateCipher = kind == .legacy ? NID_pbe_WithSHA1And40BitRC2_CBC : NID_aes_256_cbc
        // -1: no check yet.
        let archive = PKCS12_create_ex(
            password, nil, identity.key.handle, identity.certificate.handle, others, keyCipher,
            certificateCipher,
            2048, -1, 0, context.handle, nil)
        defer { PKCS12_free(archive) }
        let hash = kind == .legacy ? EVP_sha1() : EVP_sha256()
        let file = MemoryBIO()
        guard archive != nil, PKCS12_set_mac(archive, password, -1, nil, 0, 2048, hash) == 1,
            i2d_PKCS12_bio(file.handle, archive) == 1
        else { throw LibraryErrors.failure("writing a PKCS#12 file") }
        return file.bytes
    }
}

/// An OpenSSL of its own beside the process's, so that RC2 and the like never become available to TLS.
struct ProviderContext: ~Copyable {
    let handle: OpaquePointer
    private let standard: OpaquePointer?
    private let legacy: OpaquePointer?

    /// Whether the legacy provider was wanted and is installed.
    var hasLegacy: Bool { legacy != nil }

    init(withLegacy wantsLegacy: Bool) {
        guard let handle = OSSL_LIB_CTX_new() else {
            preconditionFailure("out of memory for an OpenSSL context")
        }
        self.handle = handle
        standard = OSSL_PROVIDER_load(handle, "default")
        legacy = wantsLegacy ? OSSL_PROVIDER_load(handle, "legacy") : nil
        LibraryErrors.clear()
    }

    deinit {
        if let legacy { OSSL_PROVIDER_unload(legacy) }
        if let standard { OSSL_PROVIDER_unload(standard) }
        OSSL_LIB_CTX_free(handle)
    }
}
