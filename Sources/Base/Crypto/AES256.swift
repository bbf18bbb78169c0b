import COpenSSL

/// AES-256 in CBC mode without padding: the message cipher of Bisq's phones.
package enum AES256CBC {
    /// Encrypts a text.
    ///
    /// - Parameters:
    ///   - plain: a multiple of 16 bytes.
    ///   - key: 32 bytes.
    ///   - iv: 16 bytes.
    package static func encrypt(_ plain: [UInt8], key: [UInt8], iv: [UInt8]) throws(CryptoError) -> [UInt8] {
        try run(plain, key: key, iv: iv, encrypting: true)
    }

    /// Decrypts a text, and leaves whatever padding its writer put there.
    package static func decrypt(_ sealed: [UInt8], key: [UInt8], iv: [UInt8]) throws(CryptoError) -> [UInt8] {
        try run(sealed, key: key, iv: iv, encrypting: false)
    }

    private static func run(
        _ input: [UInt8], key: [UInt8], iv: [UInt8], encrypting: Bool
    ) throws(CryptoError) -> [UInt8] {
        guard input.count.isMultiple(of: 16), input.count <= Int(CInt.max) else {
            throw .wrongLength(of: "CBC text", bytes: input.count, allowed: "a multiple of 16")
        }
        guard key.count == 32 else { throw .wrongLength(of: "AES-256 key", bytes: key.count, allowed: "32") }
        guard iv.count == 16 else { throw .wrongLength(of: "CBC IV", bytes: iv.count, allowed: "16") }
        let context = CipherContext()
        return try context.run(.aes256CBC, input, key: key, iv: iv, encrypting: encrypting, room: input.count)
    }
}

/// AES-256 in GCM mode (NIST SP 800-38D): sealed text is as long as the plain one, then a tag of 16 bytes.
package enum AES256GCM {
    /// Seals a text.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes, never twice under one key.
    ///   - associated: bytes that are not sealed but must be the same to open.
    /// - Returns: cipher text, then the tag.
    package static func seal(
        _ plain: [UInt8], key: [UInt8], nonce: [UInt8], associated: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        try check(key: key, nonce: nonce)
        let context = CipherContext()
        let sealed = try context.run(
            .aes256GCM, plain, key: key, iv: nonce, associated: associated, encrypting: true,
            room: plain.count)
        return sealed + (try context.tag())
    }

    /// Opens a sealed text.
    ///
    /// - Throws: ``CryptoError/notAuthentic`` when text, associated bytes, nonce or key are not those of sealing.
    package static func open(
        _ sealed: [UInt8], key: [UInt8], nonce: [UInt8], associated: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        try check(key: key, nonce: nonce)
        guard sealed.count >= 16 else {
            throw .wrongLength(of: "GCM text", bytes: sealed.count, allowed: "16 or more")
        }
        let text = Array(sealed.dropLast(16))
        return try CipherContext().run(
            .aes256GCM, text, key: key, iv: nonce, associated: associated, tag: Array(sealed.suffix(16)),
            encrypting: false, room: text.count)
    }

    /// Opens what has its nonce of 12 bytes in front, as Go's programs like to write it.
    package static func open(_ noncedText: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard noncedText.count >= 28 else {
            throw .wrongLength(of: "GCM text with its nonce", bytes: noncedText.count, allowed: "28 or more")
        }
        return try open(Array(noncedText.dropFirst(12)), key: key, nonce: Array(noncedText.prefix(12)))
    }

    private static func check(key: [UInt8], nonce: [UInt8]) throws(CryptoError) {
        guard key.count == 32 else { throw .wrongLength(of: "AES-256 key", bytes: key.count, allowed: "32") }
        guard nonce.count == 12 else {
            throw .wrongLength(of: "GCM nonce", bytes: nonce.count, allowed: "12")
        }
    }
}

/// A cipher fetched once and kept for the process's life.
struct Cipher: @unchecked Sendable {
    // Unchecked: a fetched EVP_CIPHER never changes, and OpenSSL lets any thread use it.
    let handle: OpaquePointer

    static let aes256CBC = Cipher("AES-256-CBC")
    static let aes256GCM = Cipher("AES-256-GCM")
    static let aes128GCM = Cipher("AES-128-GCM")
    static let aes256SIV = Cipher("AES-256-SIV")

    private init(_ name: String) {
        guard let handle = EVP_CIPHER_fetch(nil, name, nil) else {
            preconditionFailure("OpenSSL's default provider has no \(name): \(LibraryErrors.takeReason())")
        }
        self.handle = handle
    }
}

/// One run of a cipher; freed, with the key in it wiped, when it lets go.
struct CipherContext: ~Copyable {
    let handle: OpaquePointer

    init() {
        guard let handle = EVP_CIPHER_CTX_new() else {
            preconditionFailure("out of memory for a cipher context")
        }
        self.handle = handle
    }

    deinit { EVP_CIPHER_CTX_free(handle) }

    /// Returns the tag of what was sealed in GCM mode: 16 bytes.
    func tag() throws(CryptoError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: 16)
        guard EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1 else {
            throw LibraryErrors.failure("AES-GCM tag")
        }
        return tag
    }

    func run(
        _ cipher: Cipher, _ input: [UInt8], key: [UInt8], iv: [UInt8], associated: [UInt8] = [],
        tag: [UInt8]? = nil,
        encrypting: Bool, room: Int
    ) throws(CryptoError) -> [UInt8] {
        LibraryErrors.clear()
        guard EVP_CipherInit_ex2(handle, cipher.handle, key, iv, encrypting ? 1 : 0, nil) == 1,
            EVP_CIPHER_CTX_set_padding(handle, 0) == 1
        else { throw LibraryErrors.failure("cipher set-up") }
        var count: CInt = 0
        if !associated.isEmpty {
            guard EVP_CipherUpdate(handle, nil, &count, associated, CInt(associated.count)) == 1 else {
                throw LibraryErrors.failure("associated bytes")
            }
        }
        if var tag {
            guard EVP_CIPHER_CTX_ctrl(handle, EVP_CTRL_AEAD_SET_TAG, CInt(tag.count), &tag) == 1 else {
                throw LibraryErrors.failure("tag")
            }
        }
        // One block more than needed: OpenSSL may be handed no null pointer, even for no bytes.
        var output = [UInt8](repeating: 0, count: room + 16)
        guard input.isEmpty || EVP_CipherUpdate(handle, &output, &count, input, CInt(input.count)) == 1 else {
            throw LibraryErrors.failure("cipher")
        }
        var last: CInt = 0
        let written = input.isEmpty ? 0 : Int(count)
        let code = output.withUnsafeMutableBufferPointer {
            EVP_CipherFinal_ex(handle, $0.baseAddress! + written, &last)
        }
        guard code == 1 else {
            LibraryErrors.clear()
            throw .notAuthentic
        }
        output.removeLast(output.count - written - Int(last))
        return output
    }
}
