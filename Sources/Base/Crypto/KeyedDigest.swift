import COpenSSL

/// HMAC-SHA256 (RFC 2104) of whole byte strings.
package enum HMAC {
    /// Returns the authentication code, 32 bytes.
    package static func sha256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let mac = KeyedDigest(key: key)
        return message.withUnsafeBytes { mac.full($0) }
    }
}

/// HMAC-SHA256 under one key for many short messages, cut to its first 16 bytes: names what must not be named, such
/// as a device token.
///
/// The key is expanded once. Not thread-safe: one owner, one isolation.
package final class KeyedDigest {
    // Owned, freed in deinit. The EVP_MAC behind it is counted by the context.
    private let context: OpaquePointer

    /// Makes a digest with a key of any length; 32 random bytes are right.
    package init(key: [UInt8]) {
        context = Self.make(key)
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// Returns the first 16 of the code's 32 bytes, most significant byte first.
    package func callAsFunction(_ message: RawSpan) -> (high: UInt64, low: UInt64) {
        message.withUnsafeBytes { first16($0) }
    }

    package func callAsFunction(_ message: [UInt8]) -> (high: UInt64, low: UInt64) {
        message.withUnsafeBytes { first16($0) }
    }

    package func callAsFunction(_ message: String) -> (high: UInt64, low: UInt64) {
        var message = message
        return message.withUTF8 { first16(UnsafeRawBufferPointer($0)) }
    }

    fileprivate func full(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { output, count in
            compute(message, into: output.baseAddress!)
            count = 32
        }
    }

    private func first16(_ message: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { output in
            compute(message, into: output.baseAddress!)
            let words = UnsafeRawBufferPointer(output)
            return (
                UInt64(bigEndian: words.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: words.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    private func compute(_ message: UnsafeRawBufferPointer, into output: UnsafeMutablePointer<UInt8>) {
        var length = 0
        // Without a key: starts anew under the key of the context.
        guard EVP_MAC_init(context, nil, 0, nil) == 1,
            EVP_MAC_update(context, message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count)
                == 1,
            EVP_MAC_final(context, output, &length, 32) == 1
        else { preconditionFailure("HMAC of \(message.count) bytes: \(LibraryErrors.takeReason())") }
    }

    private static func make(_ key: [UInt8]) -> OpaquePointer {
        let mac = EVP_MAC_fetch(nil, "HMAC", nil)
        defer { EVP_MAC_free(mac) }
        // An empty array's address may be null, which would mean "the key of before": give OpenSSL a byte to point at.
        let bytes = key.isEmpty ? [0] : key
        guard let context = EVP_MAC_CTX_new(mac) else {
            preconditionFailure("OpenSSL's default provider has no HMAC: \(LibraryErrors.takeReason())")
        }
        let code = onionbell_EVP_MAC_init_sha256(context, bytes, key.count)
        precondition(code == 1, "HMAC key of \(key.count) bytes: \(LibraryErrors.takeReason())")
        return context
    }
}
