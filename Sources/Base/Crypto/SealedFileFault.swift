/// A reason why a kind of file that is sealed by ``PassphraseSeal`` can't be used.
package protocol SealedFileFault: Error {
    /// The fault of a file that is not sealed, or not as this kind is.
    static var unreadable: Self { get }
    /// The fault of a file that a newer version has sealed.
    static var newer: Self { get }
    /// The fault of another passphrase, or of a file that was changed or cut.
    static var wrongPassphrase: Self { get }
    static func crypto(_ error: CryptoError) -> Self
}
