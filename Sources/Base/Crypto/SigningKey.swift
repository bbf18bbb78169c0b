import COpenSSL

/// A private key that signs JSON web tokens (RFC 7518).
package struct SigningKey: Sendable {
    package enum Algorithm: String, Sendable {
        /// ECDSA on P-256 with SHA-256: APNs provider tokens. Signatures are r‖s, 64 bytes (RFC 7518, 3.4).
        case es256 = "ES256"
        /// RSA with PKCS#1 v1.5 and SHA-256: Google's service accounts. 2,048 bits or more (RFC 7518, 3.3).
        case rs256 = "RS256"
    }

    package let algorithm: Algorithm
    private let key: Key

    /// Reads a private key of this algorithm.
    ///
    /// - Parameter pem: PKCS#8 as Apple's `.p8` files and Google's `private_key` hold it, at most 64 KiB.
    /// - Throws: ``CryptoError/unreadable(what:reason:)`` for anything but a key of this algorithm.
    package init(pem: [UInt8], algorithm: Algorithm) throws(CryptoError) {
        guard pem.count <= 65_536 else {
            throw .wrongLength(of: "private key file", bytes: pem.count, allowed: "65536 or less")
        }
        let key = try Key(pem: pem, called: "\(algorithm.rawValue) key")
        switch algorithm {
        case .es256:
            guard key.isOnP256 else {
                throw .unreadable(
                    what: "ES256 key", reason: "\(key.kind), and one on the curve P-256 is needed")
            }
        case .rs256:
            guard EVP_PKEY_is_a(key.handle, "RSA") == 1, EVP_PKEY_get_bits(key.handle) >= 2048 else {
                throw .unreadable(
                    what: "RS256 key", reason: "\(key.kind), and an RSA key of 2048 bits or more is needed")
            }
        }
        self.key = key
        self.algorithm = algorithm
    }

    private init(_ key: Key, _ algorithm: Algorithm) {
        self.key = key
        self.algorithm = algorithm
    }

    package static func generate(_ algorithm: Algorithm) throws(CryptoError) -> SigningKey {
        SigningKey(try Key.generate(algorithm), algorithm)
    }

    /// Returns the key in PKCS#8, as ``init(pem:algorithm:)`` takes it.
    package func privatePEM() throws(CryptoError) -> Secret { Secret(try key.privatePEM()) }

    /// Returns the public point of an ES256 key: 65 bytes, 4 and both coordinates.
    package func publicPoint() throws(CryptoError) -> [UInt8] { try key.publicPoint() }

    /// Checks what this key signs. The private part is not used, but kept in memory with it.
    package var verifyingKey: VerifyingKey { VerifyingKey(algorithm: algorithm, key: key) }

    /// Signs a message: about 20 us for ES256, 230 us for RS256.
    package func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        LibraryErrors.clear()
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit_ex(context, nil, "SHA2-256", nil, nil, key.handle, nil) == 1,
            EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw LibraryErrors.failure("signature") }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw LibraryErrors.failure("signature")
        }
        signature.removeLast(signature.count - length)
        return algorithm == .es256 ? try Self.rawForm(ofDER: signature) : signature
    }

    private static func rawForm(ofDER signature: [UInt8]) throws(CryptoError) -> [UInt8] {
        let parsed = signature.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &start, bytes.count)
        }
        defer { ECDSA_SIG_free(parsed) }
        var raw = [UInt8](repeating: 0, count: 64)
        let isWhole = raw.withUnsafeMutableBufferPointer { output in
            BN_bn2binpad(ECDSA_SIG_get0_r(parsed), output.baseAddress, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(parsed), output.baseAddress! + 32, 32) == 32
        }
        guard parsed != nil, isWhole else { throw LibraryErrors.failure("reading the signature") }
        return raw
    }
}

/// Checks signatures of a ``SigningKey``.
package struct VerifyingKey: Sendable {
    package let algorithm: SigningKey.Algorithm
    fileprivate let key: Key

    fileprivate init(algorithm: SigningKey.Algorithm, key: Key) {
        self.algorithm = algorithm
        self.key = key
    }

    /// Makes an ES256 key of its public point.
    ///
    /// - Parameter point: As ``P256/uncompressed(_:)`` takes it.
    package init(point: [UInt8]) throws(CryptoError) {
        self.init(algorithm: .es256, key: try Key(publicPoint: point))
    }

    /// Whether `signature` (ES256: 64 bytes, r‖s) was made over `message` by this key.
    package func accepts(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        LibraryErrors.clear()
        defer { LibraryErrors.clear() }
        guard let signature = algorithm == .es256 ? Self.der(of: signature) : signature else { return false }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit_ex(context, nil, "SHA2-256", nil, nil, key.handle, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    private static func der(of raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64, let parsed = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(parsed) }
        let (r, s) = raw.withUnsafeBufferPointer { bytes in
            (BN_bin2bn(bytes.baseAddress, 32, nil), BN_bin2bn(bytes.baseAddress! + 32, 32, nil))
        }
        // Takes both numbers: they are freed with `parsed`.
        guard ECDSA_SIG_set0(parsed, r, s) == 1 else { return nil }
        var start: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(parsed, &start)
        // OpenSSL allocated the text.
        defer { CRYPTO_free(start, #file, #line) }
        return length > 0 ? Array(UnsafeBufferPointer(start: start, count: Int(length))) : nil
    }
}
