import COpenSSL

/// Seals files under a passphrase: scrypt (RFC 7914; N 2^17, r 8, p 1: 128 MiB) makes the key, AES-256-GCM seals.
///
/// A sealed file is `magic (16 bytes) | salt (16) | nonce (12) | text | tag (16)`; magic and salt are associated bytes.
package struct PassphraseSeal: Sendable {
    private let salt: [UInt8]
    private let key: Secret

    private static let magic = Array("OnionbellSealed1".utf8)
    private static let anyMagic = Array("OnionbellSealed".utf8)
    private static let saltLength = 16

    /// Derives the key from a passphrase, which takes a third of a second of a processor.
    package init(passphrase: Secret, salt: [UInt8]? = nil) throws(CryptoError) {
        self.salt = salt ?? randomBytes(PassphraseSeal.saltLength)
        key = Secret(
            try PassphraseSeal.scrypt(
                passphrase.bytes, salt: self.salt, n: 1 << 17, r: 8, p: 1, length: 32))
    }

    package static func isSealed(_ file: [UInt8]) -> Bool { file.starts(with: magic) }

    /// Whether a file is sealed in a form that is not known here.
    package static func isSealedByNewer(_ file: [UInt8]) -> Bool {
        file.starts(with: anyMagic) && !isSealed(file)
    }

    /// Bytes that a sealed file has more than its text.
    package static let overhead = magic.count + saltLength + 12 + 16

    package func seal(_ text: [UInt8]) throws(CryptoError) -> [UInt8] {
        let head = PassphraseSeal.magic + salt
        let nonce = randomBytes(12)
        return head + nonce
            + (try AES256GCM.seal(text, key: key.bytes, nonce: nonce, associated: head))
    }

    /// Opens a sealed file.
    ///
    /// - Returns: The text, and the seal that it had, which seals the next one without a wait.
    /// - Throws: ``CryptoError/wrongPassword`` also where the file was changed.
    package static func open(
        _ file: [UInt8], passphrase: Secret
    ) throws(CryptoError) -> (text: [UInt8], seal: PassphraseSeal) {
        guard file.count >= overhead, isSealed(file) else {
            throw .wrongLength(of: "sealed file", bytes: file.count, allowed: "\(overhead) or more")
        }
        let head = Array(file.prefix(magic.count + saltLength))
        let seal = try PassphraseSeal(passphrase: passphrase, salt: Array(head.suffix(saltLength)))
        let rest = file.dropFirst(head.count)
        do {
            let text = try AES256GCM.open(
                Array(rest.dropFirst(12)), key: seal.key.bytes, nonce: Array(rest.prefix(12)),
                associated: head)
            return (text, seal)
        } catch {
            throw error == .notAuthentic ? .wrongPassword : error
        }
    }

    /// Opens a sealed file for a caller with faults of its own.
    ///
    /// - Returns: The text.
    package static func text<Fault: SealedFileFault>(
        of file: [UInt8], passphrase: Secret, orThrow: Fault.Type
    ) throws(Fault) -> [UInt8] {
        guard isSealed(file), file.count >= overhead else {
            throw isSealedByNewer(file) ? .newer : .unreadable
        }
        do throws(CryptoError) {
            return try open(file, passphrase: passphrase).text
        } catch {
            throw error == .wrongPassword ? .wrongPassphrase : .crypto(error)
        }
    }

    static func scrypt(
        _ passphrase: [UInt8], salt: [UInt8], n: UInt64, r: UInt64, p: UInt64, length: Int
    ) throws(CryptoError) -> [UInt8] {
        LibraryErrors.clear()
        var key = [UInt8](repeating: 0, count: length)
        // A null passphrase would only ask whether the parameters are good.
        let code = (passphrase + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                EVP_PBE_scrypt(
                    $0.baseAddress, passphrase.count, salt, salt.count, n, r, p, 256 << 20, &key, length)
            }
        }
        guard code == 1 else { throw LibraryErrors.failure("scrypt") }
        return key
    }
}
