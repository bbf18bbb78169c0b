import COpenSSL

extension Ed25519 {
    /// Returns the public key, 32 bytes, of an expanded key: the form without a seed in which tor keeps its
    /// keys.
    ///
    /// OpenSSL makes Ed25519 keys of seeds only. But it computes the same multiple of the base point for X25519 (RFC
    /// 7748, 4.1: `y = (u - 1) / (u + 1)`), which leaves the sign of `x` open. Of the two points the right one verifies
    /// a signature made with the secret scalar: one with the nonce 0, whose R is the neutral point, will do.
    ///
    /// - Throws: ``CryptoError/wrongLength(of:bytes:allowed:)`` unless it has 64 bytes;
    ///   ``CryptoError/unreadable(what:reason:)`` if the scalar is not clamped.
    package static func publicKey(expanded: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard expanded.count == 64 else {
            throw .wrongLength(of: "expanded Ed25519 key", bytes: expanded.count, allowed: "64")
        }
        guard expanded[0] & 7 == 0, expanded[31] & 0xC0 == 0x40 else {
            throw .unreadable(what: "expanded Ed25519 key", reason: "its scalar is not clamped")
        }
        let scalar = Number(littleEndian: expanded[..<32])
        let u = Number(littleEndian: try X25519.publicKey(secret: Array(expanded[..<32]))[...])
        let arithmetic = Arithmetic()
        let y = arithmetic.edwardsY(ofMontgomery: u)
        let neutralPoint: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)
        for sign: UInt8 in [0, 0x80] {
            var candidate = y.littleEndianBytes
            candidate[31] |= sign
            let hash = Number(littleEndian: Hash.sha512(neutralPoint + candidate)[...])
            let proof = arithmetic.product(of: hash, and: scalar, modulo: .groupOrder)
            if try verifies(neutralPoint + proof.littleEndianBytes, under: candidate) { return candidate }
        }
        throw .library(operation: "public key of an expanded key", reason: "neither point fits")
    }

    /// Whether a signature of the empty message is right.
    private static func verifies(_ signature: [UInt8], under publicKey: [UInt8]) throws(CryptoError) -> Bool {
        LibraryErrors.clear()
        // Not every `y` is a point's; its negative is none then either.
        guard let handle = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, publicKey, publicKey.count)
        else { throw LibraryErrors.failure("Ed25519 public key") }
        let key = Key(owning: handle)
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key.handle, nil) == 1 else {
            throw LibraryErrors.failure("Ed25519 verification")
        }
        defer { LibraryErrors.clear() }
        return EVP_DigestVerify(context, signature, signature.count, [], 0) == 1
    }
}

/// A non-negative integer of OpenSSL's, wiped when let go.
private final class Number {
    let handle: OpaquePointer

    init() {
        guard let handle = BN_new() else { preconditionFailure("out of memory for a number") }
        self.handle = handle
    }

    convenience init(littleEndian bytes: ArraySlice<UInt8>) {
        self.init()
        let bytes = Array(bytes)
        precondition(BN_lebin2bn(bytes, CInt(bytes.count), handle) != nil, "out of memory for a number")
    }

    /// Makes the number `2^power`, with `low` added to it or, where it has a minus sign, subtracted from it.
    private convenience init(twoToThe power: CInt, plus low: String) {
        self.init()
        var addend: OpaquePointer?
        precondition(
            BN_set_bit(handle, power) == 1 && BN_dec2bn(&addend, low) > 0
                && BN_add(handle, handle, addend) == 1,
            "out of memory for a number")
        BN_free(addend)
    }

    deinit { BN_clear_free(handle) }

    static var fieldPrime: Number { Number(twoToThe: 255, plus: "-19") }
    static var groupOrder: Number {
        Number(twoToThe: 252, plus: "27742317777372353535851937790883648493")
    }

    /// The number in 32 bytes.
    var littleEndianBytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        precondition(BN_bn2lebinpad(handle, &bytes, 32) == 32, "a number of more than 32 bytes")
        return bytes
    }
}

/// Modular arithmetic. Fails only for want of memory, or for a divisor of zero.
private final class Arithmetic {
    private let scratch: OpaquePointer

    init() {
        guard let scratch = BN_CTX_new() else { preconditionFailure("out of memory for a number") }
        self.scratch = scratch
    }

    deinit { BN_CTX_free(scratch) }

    func product(of left: Number, and right: Number, modulo modulus: Number) -> Number {
        let result = Number()
        let code = BN_mod_mul(result.handle, left.handle, right.handle, modulus.handle, scratch)
        precondition(code == 1, "no product: \(LibraryErrors.takeReason())")
        return result
    }

    /// Returns `(u - 1) / (u + 1)`.
    func edwardsY(ofMontgomery u: Number) -> Number {
        let (difference, sum, inverse) = (Number(), Number(), Number())
        let prime = Number.fieldPrime
        let isDone =
            BN_copy(difference.handle, u.handle) != nil && BN_sub_word(difference.handle, 1) == 1
            && BN_copy(sum.handle, u.handle) != nil && BN_add_word(sum.handle, 1) == 1
            && BN_mod_inverse(inverse.handle, sum.handle, prime.handle, scratch) != nil
        precondition(isDone, "no quotient: \(LibraryErrors.takeReason())")
        return product(of: difference, and: inverse, modulo: prime)
    }
}
