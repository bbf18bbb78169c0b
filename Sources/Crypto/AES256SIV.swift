/// AES-256-SIV (RFC 5297) without a nonce: the same text under the same key and context has the same sealed form, so that
/// it can be looked for, and nothing else is seen of it but its length.
package struct AES256SIV: Sendable {
    private let key: Secret

    /// Bytes that a sealed text has more.
    package static let overhead = 17
    /// In front of the text: another form would have another one. So no text is empty, which OpenSSL's SIV does not take.
    private static let form: UInt8 = 1

    /// - Parameter key: At least 32 random bytes, from which its own are made for this purpose.
    package init(derivedFrom key: Secret, for purpose: String) {
        self.key = Secret(
            [1, 2].flatMap { HMAC.sha256(Array(purpose.utf8) + [$0], key: key.bytes) })
    }

    /// - Parameter context: What it is; opened as anything else, it is not authentic.
    package func seal(_ text: some Collection<UInt8>, as context: String) throws(CryptoError) -> [UInt8] {
        let run = CipherContext()
        let sealed = try run.run(
            .aes256SIV, [AES256SIV.form] + text, key: key.bytes, iv: [], associated: Array(context.utf8),
            encrypting: true, room: text.count + 1)
        return try run.tag() + sealed
    }

    package func open(_ sealed: [UInt8], as context: String) throws(CryptoError) -> [UInt8] {
        guard sealed.count >= AES256SIV.overhead else { throw .notAuthentic }
        let text: [UInt8]
        do throws(CryptoError) {
            text = try CipherContext().run(
                .aes256SIV, Array(sealed.dropFirst(16)), key: key.bytes, iv: [],
                associated: Array(context.utf8), tag: Array(sealed.prefix(16)), encrypting: false,
                room: sealed.count)
        } catch {
            // OpenSSL says it of this mode while it deciphers, in no other words than those for any failure.
            throw .notAuthentic
        }
        guard text.first == AES256SIV.form else { throw .notAuthentic }
        return Array(text.dropFirst())
    }
}
