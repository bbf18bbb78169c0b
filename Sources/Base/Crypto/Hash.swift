import COpenSSL

/// Cryptographic hashes of whole byte strings. FIPS 180-4 and FIPS 202.
package enum Hash {
    /// Returns the hash, 20 bytes. SHA-1 is broken as a hash; the handshake of WebSockets has it as a mere
    /// check sum (RFC 6455, section 1.3).
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] { Algorithm.sha1.hash(bytes) }
    /// Returns the hash, 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { Algorithm.sha256.hash(bytes) }
    /// Returns the hash, 64 bytes.
    package static func sha512(_ bytes: [UInt8]) -> [UInt8] { Algorithm.sha512.hash(bytes) }
    /// Returns the hash, 32 bytes.
    package static func sha3_256(_ bytes: [UInt8]) -> [UInt8] { Algorithm.sha3_256.hash(bytes) }
}

/// A hash fetched once from OpenSSL and kept for the process's life: fetching costs more than hashing a short message.
struct Algorithm: @unchecked Sendable {
    // Unchecked: a fetched EVP_MD never changes, and OpenSSL lets any thread use it.
    let handle: OpaquePointer
    let length: Int

    static let sha1 = Algorithm("SHA1")
    static let sha256 = Algorithm("SHA2-256")
    static let sha512 = Algorithm("SHA2-512")
    static let sha3_256 = Algorithm("SHA3-256")

    private init(_ name: String) {
        guard let handle = EVP_MD_fetch(nil, name, nil) else {
            preconditionFailure("OpenSSL's default provider has no \(name): \(LibraryErrors.takeReason())")
        }
        self.handle = handle
        length = Int(EVP_MD_get_size(handle))
    }

    func hash(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { output, count in
            let code = EVP_Digest(bytes, bytes.count, output.baseAddress, nil, handle, nil)
            precondition(code == 1, "hash of \(bytes.count) bytes: \(LibraryErrors.takeReason())")
            count = length
        }
    }
}
