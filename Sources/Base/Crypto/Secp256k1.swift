import CSecp256k1

/// Keys and signatures on secp256k1 (SEC 2), as Ethereum and Status use them.
///
/// By libsecp256k1: OpenSSL has no RFC 6979 nonces and no key recovery. What there is of it in OpenSSL takes nine to ten
/// times as long (CPU on one core, Debian's libsecp256k1 0.2.0 and OpenSSL 3.0): verifying 445 µs against 43, recovery
/// made of points and big numbers 450 against 48. Signing takes libsecp256k1 32 µs, a shared key 47.
package enum Secp256k1 {
    /// A point of the curve.
    package struct PublicKey: Equatable, Sendable {
        /// The key in 33 bytes: 02 or 03, then x.
        package let compressed: [UInt8]
        /// The key in 65 bytes: 04, x, y.
        package let uncompressed: [UInt8]

        /// Reads a key of 33 or 65 bytes, in one of the two forms. The library takes the hybrid ones as well
        /// (06 and 07), which nobody sends: a key would have one more name.
        package init(_ bytes: [UInt8]) throws(CryptoError) {
            var key = secp256k1_pubkey()
            guard bytes.count == 33 || bytes.count == 65 && bytes[0] == 4,
                secp256k1_ec_pubkey_parse(Context.shared.handle, &key, bytes, bytes.count) == 1
            else { throw .unreadable(what: "secp256k1 key", reason: "no point of the curve") }
            self.init(key)
        }

        /// Recovers the key with which a digest was signed.
        ///
        /// - Parameters:
        ///   - digest: 32 bytes.
        ///   - signature: 65 bytes: R and S of 32 each, V of 0 to 3. A high S is taken.
        /// - Returns: `nil` for a signature of another form, or that nobody can have made.
        package init?(recoveredFrom digest: [UInt8], signature: [UInt8]) {
            guard digest.count == 32, signature.count == 65, signature[64] < 4 else { return nil }
            var parsed = secp256k1_ecdsa_recoverable_signature()
            var key = secp256k1_pubkey()
            let context = Context.shared.handle
            guard
                secp256k1_ecdsa_recoverable_signature_parse_compact(
                    context, &parsed, signature, CInt(signature[64])) == 1,
                secp256k1_ecdsa_recover(context, &key, &parsed, digest) == 1
            else { return nil }
            self.init(key)
        }

        fileprivate init(_ key: secp256k1_pubkey) {
            compressed = PublicKey.bytes(of: key, 33, UInt32(SECP256K1_EC_COMPRESSED))
            uncompressed = PublicKey.bytes(of: key, 65, UInt32(SECP256K1_EC_UNCOMPRESSED))
        }

        private static func bytes(of key: secp256k1_pubkey, _ count: Int, _ form: UInt32) -> [UInt8] {
            var key = key
            var length = count
            return [UInt8](unsafeUninitializedCapacity: count) { output, written in
                // Fails for no key that was parsed or made by the library.
                let code = secp256k1_ec_pubkey_serialize(
                    Context.shared.handle, output.baseAddress!, &length, &key, form)
                precondition(code == 1 && length == count, "secp256k1 key of \(length) bytes")
                written = count
            }
        }

        fileprivate var parsed: secp256k1_pubkey {
            var key = secp256k1_pubkey()
            let code = secp256k1_ec_pubkey_parse(Context.shared.handle, &key, uncompressed, 65)
            precondition(code == 1, "a key that was read can't be read again")
            return key
        }
    }

    package struct PrivateKey: Sendable {
        /// The key's 32 bytes.
        package let secret: Secret
        package let publicKey: PublicKey

        /// Makes a key.
        ///
        /// - Parameter secret: 32 bytes, big-endian, above 0 and below the curve's order.
        package init(_ secret: Secret) throws(CryptoError) {
            var key = secp256k1_pubkey()
            guard secret.bytes.count == 32,
                secp256k1_ec_pubkey_create(Context.shared.handle, &key, secret.bytes) == 1
            else {
                throw .unreadable(what: "secp256k1 private key", reason: "not of 32 bytes, or out of range")
            }
            self.secret = secret
            publicKey = PublicKey(key)
        }

        /// Returns a new key.
        package static func random() -> PrivateKey {
            while true {
                // One in 2^127 is out of range.
                if let key = try? PrivateKey(Secret(randomBytes(32))) { return key }
            }
        }

        /// Signs a digest. Returns R, S (low), V of 0 or 1: 65 bytes, always the same for one digest (RFC
        /// 6979).
        ///
        /// - Parameter digest: 32 bytes.
        package func sign(_ digest: [UInt8]) -> [UInt8] {
            precondition(digest.count == 32, "digest of \(digest.count) bytes")
            var signature = secp256k1_ecdsa_recoverable_signature()
            let context = Context.shared.handle
            var code = secp256k1_ecdsa_sign_recoverable(
                context, &signature, digest, secret.bytes, nil, nil)
            precondition(code == 1, "secp256k1 signs nothing with a key that it took")
            var recovery: CInt = 0
            var bytes = [UInt8](repeating: 0, count: 65)
            code = secp256k1_ecdsa_recoverable_signature_serialize_compact(
                context, &bytes, &recovery, &signature)
            precondition(code == 1, "a secp256k1 signature has no form")
            bytes[64] = UInt8(recovery)
            return bytes
        }

        /// Returns the x coordinate of the shared point, 32 bytes, with leading zeros, and nothing derived
        /// from it.
        package func sharedX(with other: PublicKey) -> [UInt8] {
            var key = other.parsed
            return [UInt8](unsafeUninitializedCapacity: 32) { output, written in
                let code = onionbell_secp256k1_ecdh_x(
                    Context.shared.handle, output.baseAddress!, &key, secret.bytes)
                precondition(code == 1, "no shared point for a key that was taken")
                written = 32
            }
        }
    }

    /// The library's context, made once and kept for the process's life.
    private struct Context: @unchecked Sendable {
        // Unchecked: after it was blinded it never changes, and the library lets any thread use it so.
        let handle: OpaquePointer

        static let shared = Context()

        private init() {
            guard
                let handle = secp256k1_context_create(
                    UInt32(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY))
            else { preconditionFailure("out of memory for secp256k1") }
            // Blinds what is computed with secrets against those who measure it.
            let code = secp256k1_context_randomize(handle, randomBytes(32))
            precondition(code == 1, "secp256k1 takes no seed")
            self.handle = handle
        }
    }
}
