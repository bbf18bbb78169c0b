/// The digest that is kept of a passphrase to know it again: scrypt (RFC 7914; N 2^15, r 8, p 3: 32 MiB), with a salt of
/// its own. Two are compared in a time that does not tell where they differ.
package struct PassphraseDigest: Equatable, Sendable {
    package let salt: [UInt8]
    package let key: Secret

    private static let saltLength = 16
    private static let keyLength = 32

    /// Makes a digest that was kept; `nil`: its parts have not the lengths that this one makes.
    package init?(salt: [UInt8], key: Secret) {
        guard salt.count == Self.saltLength, key.bytes.count == Self.keyLength else { return nil }
        (self.salt, self.key) = (salt, key)
    }

    /// Makes the digest of a passphrase, which takes a quarter of a second of a processor.
    package init(of passphrase: Secret, salt: [UInt8]? = nil) throws(CryptoError) {
        self.salt = salt ?? randomBytes(Self.saltLength)
        key = Secret(
            try PassphraseSeal.scrypt(
                passphrase.bytes, salt: self.salt, n: 1 << 15, r: 8, p: 3, length: Self.keyLength))
    }
}
