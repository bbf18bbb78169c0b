import COpenSSL

/// The curve P-256 as far as Web Push needs it.
package enum P256 {
    /// Whether bytes are a point of the curve in the form that Web Push has: 4, then both coordinates, 65 bytes (RFC 8291,
    /// section 2.1; SEC 1, section 2.3.4).
    package static func isPoint(_ bytes: [UInt8]) -> Bool {
        bytes.count == 65 && bytes[0] == 4 && withPoint(bytes) { _ in true } == true
    }

    /// Returns a point with both coordinates, 65 bytes; `nil` for what is no point of the curve. About 20 us for a point of
    /// one coordinate.
    ///
    /// - Parameter bytes: 2 or 3, then one coordinate, 33 bytes; or as ``isPoint(_:)`` takes it. OpenSSL knows other forms
    ///   (infinity, the hybrid ones), which are none for Web Push.
    package static func uncompressed(_ bytes: [UInt8]) -> [UInt8]? {
        guard isForm(bytes) else { return nil }
        return withPoint(bytes) { point in
            var output = [UInt8](repeating: 0, count: 65)
            let count = EC_POINT_point2oct(
                Group.p256.handle, point, POINT_CONVERSION_UNCOMPRESSED, &output, output.count, nil)
            return count == 65 ? output : nil
        }
    }

    /// Calls `body` with the point that the bytes stand for; returns `nil` where they are no point.
    private static func withPoint<Result>(
        _ bytes: [UInt8], _ body: (OpaquePointer) -> Result?
    ) -> Result? {
        // Owned here, freed when this returns. The group lives as long as the process.
        guard let point = EC_POINT_new(Group.p256.handle) else { return nil }
        defer { EC_POINT_free(point) }
        LibraryErrors.clear()
        // It refuses what does not lie on the curve.
        guard EC_POINT_oct2point(Group.p256.handle, point, bytes, bytes.count, nil) == 1 else {
            LibraryErrors.clear()
            return nil
        }
        return body(point)
    }
}

extension P256 {
    fileprivate static func isForm(_ bytes: [UInt8]) -> Bool {
        switch (bytes.count, bytes.first) {
        case (33, 2), (33, 3), (65, 4): true
        case _: false
        }
    }
}

/// The numbers of a curve, made once and kept for the process's life.
private struct Group: @unchecked Sendable {
    // Unchecked: the group is never changed after it was made, and OpenSSL only reads it.
    let handle: OpaquePointer

    static let p256: Group = {
        guard let handle = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
            preconditionFailure("OpenSSL has no P-256: \(LibraryErrors.takeReason())")
        }
        return Group(handle: handle)
    }()
}

/// One exchange of a secret with a pair of keys that exists for it alone (Diffie-Hellman with an ephemeral key, NIST SP
/// 800-56A).
///
/// By the curve's own functions, which take two thirds of the time of ``P256Key``'s: no key is made that could be kept.
struct P256Exchange {
    /// The receiver's point with both coordinates, 65 bytes.
    let receiver: [UInt8]
    /// The ephemeral point with both coordinates, 65 bytes.
    let sender: [UInt8]
    /// The shared secret: 32 bytes, the first coordinate of the common point.
    let secret: [UInt8]

    /// Makes an ephemeral key pair, and the secret that it shares with the receiver. About 80 us.
    ///
    /// - Parameter point: The receiver's point, in a form that ``P256/uncompressed(_:)`` takes.
    init(with point: [UInt8]) throws(CryptoError) {
        guard P256.isForm(point) else { throw .unreadable(what: "P-256 point", reason: "not on the curve") }
        let group = Group.p256.handle
        LibraryErrors.clear()
        // All owned here and freed when this returns, what is secret after it was overwritten.
        let context = BN_CTX_secure_new()
        defer { BN_CTX_free(context) }
        let other = EC_POINT_new(group)
        defer { EC_POINT_free(other) }
        let product = EC_POINT_new(group)
        defer { EC_POINT_clear_free(product) }
        let number = BN_secure_new()
        defer { BN_clear_free(number) }
        guard let context, let other, let product, let number else {
            throw LibraryErrors.failure("key exchange")
        }
        // It refuses what does not lie on the curve.
        guard EC_POINT_oct2point(group, other, point, point.count, context) == 1 else {
            throw .unreadable(what: "P-256 point", reason: LibraryErrors.takeReason())
        }
        // 1 up to the order; zero comes once in 2^256.
        repeat {
            guard BN_priv_rand_range_ex(number, EC_GROUP_get0_order(group), 0, context) == 1 else {
                throw LibraryErrors.failure("key generation")
            }
        } while BN_is_zero(number) == 1
        func bytes(of point: OpaquePointer) throws(CryptoError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 65)
            guard
                EC_POINT_point2oct(
                    group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context) == 65
            else { throw LibraryErrors.failure("key exchange") }
            return bytes
        }
        receiver = try bytes(of: other)
        guard EC_POINT_mul(group, product, number, nil, nil, context) == 1 else {
            throw LibraryErrors.failure("key generation")
        }
        sender = try bytes(of: product)
        guard EC_POINT_mul(group, product, nil, other, number, context) == 1 else {
            throw LibraryErrors.failure("key exchange")
        }
        secret = Array(try bytes(of: product)[1...32])
    }
}

/// A pair of keys on P-256 for the exchange of a secret (Diffie-Hellman, NIST SP 800-56A).
package struct P256Key: Sendable {
    private let key: Key
    /// 65 bytes, as ``P256/isPoint(_:)`` takes them.
    package let publicPoint: [UInt8]

    private init(_ key: Key) throws(CryptoError) {
        self.key = key
        publicPoint = try key.publicPoint()
    }

    package static func generate() throws(CryptoError) -> P256Key {
        try P256Key(try Key.generate(.es256))
    }

    /// Reads a key on P-256 in PKCS#8.
    package init(pem: [UInt8]) throws(CryptoError) {
        let key = try Key(pem: pem, called: "P-256 key")
        guard key.isOnP256 else { throw .unreadable(what: "P-256 key", reason: "of another kind") }
        try self.init(key)
    }

    /// Returns the secret that both ends can compute: 32 bytes, the first coordinate of the common point.
    /// About 90 us.
    ///
    /// - Parameter point: The other end's, in a form that ``P256/uncompressed(_:)`` takes.
    package func sharedSecret(with point: [UInt8]) throws(CryptoError) -> [UInt8] {
        let peer = try Key(publicPoint: point, likeThatOf: key)
        // Owned here, freed when this returns; it counts references of its own.
        let context = EVP_PKEY_CTX_new(key.handle, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: 32)
        var length = secret.count
        guard EVP_PKEY_derive_init(context) == 1,
            EVP_PKEY_derive_set_peer_ex(context, peer.handle, 0) == 1,
            EVP_PKEY_derive(context, &secret, &length) == 1, length == 32
        else { throw LibraryErrors.failure("key exchange") }
        return secret
    }
}

extension Key {
    /// Makes a public key on P-256.
    ///
    /// - Parameter other: Any key on the curve; `nil`: one is made.
    convenience init(publicPoint point: [UInt8], likeThatOf other: Key? = nil) throws(CryptoError) {
        // Of the form with both coordinates only the first byte is to be looked at: what does not lie on the curve is
        // refused below.
        guard let point = point.count == 65 && point[0] == 4 ? point : P256.uncompressed(point) else {
            throw .unreadable(what: "P-256 point", reason: "not on the curve")
        }
        let other = if let other { other } else { try Key.generate(.es256) }
        LibraryErrors.clear()
        guard let empty = EVP_PKEY_new() else { throw LibraryErrors.failure("public key") }
        self.init(owning: empty)
        guard EVP_PKEY_copy_parameters(handle, other.handle) == 1,
            EVP_PKEY_set1_encoded_public_key(handle, point, point.count) == 1
        else { throw .unreadable(what: "P-256 point", reason: LibraryErrors.takeReason()) }
    }

    /// The kind of the key in words, with its article.
    var kind: String {
        if EVP_PKEY_is_a(handle, "EC") == 1 {
            return "an elliptic curve key on \(group ?? "an unnamed curve")"
        }
        if EVP_PKEY_is_a(handle, "RSA") == 1 { return "an RSA key of \(EVP_PKEY_get_bits(handle)) bits" }
        return
            "a key of another algorithm (\(EVP_PKEY_get0_type_name(handle).map { String(cString: $0) } ?? "?"))"
    }

    var isOnP256: Bool { EVP_PKEY_is_a(handle, "EC") == 1 && group == "prime256v1" }

    /// OpenSSL's name of the curve.
    private var group: String? {
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard EVP_PKEY_get_group_name(handle, &name, name.count, &length) == 1 else { return nil }
        return name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Returns the public point of a key on P-256: 65 bytes.
    func publicPoint() throws(CryptoError) -> [UInt8] {
        LibraryErrors.clear()
        var start: UnsafeMutablePointer<UInt8>?
        let length = EVP_PKEY_get1_encoded_public_key(handle, &start)
        // OpenSSL allocated the bytes.
        defer { CRYPTO_free(start, #file, #line) }
        guard length == 65, let start, start[0] == 4 else { throw LibraryErrors.failure("public key") }
        return Array(UnsafeBufferPointer(start: start, count: length))
    }
}
