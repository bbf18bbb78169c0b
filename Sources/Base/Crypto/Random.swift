import COpenSSL

/// Returns bytes from OpenSSL's generator, which the kernel seeds. For keys, nonces and cookies.
package func randomBytes(_ count: Int) -> [UInt8] {
    precondition(count >= 0 && count <= Int(CInt.max), "\(count) random bytes")
    return [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
        let code = count == 0 ? 1 : RAND_bytes(output.baseAddress, CInt(count))
        // Without randomness every key would be guessable: nothing may go on.
        precondition(code == 1, "no random bytes: \(LibraryErrors.takeReason())")
        initialized = count
    }
}

/// Whether both are the same, in a time that depends only on their length.
package func equalInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
