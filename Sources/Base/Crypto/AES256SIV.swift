import COpenSSL

/// AES-256-SIV (RFC 5297) without a nonce. One text under one key and context always has one sealed form, so a sealed text can
/// be looked for. The sealed form shows the length of its text, and nothing else.
///
/// Owned by one thread.
package final class AES256SIV {
    /// The cipher context with the key, and nothing else: each run begins with a copy, which costs a third of
    /// the key's set-up.
    private let keyed = CipherContext()
    /// The form and the text of the running call: OpenSSL's SIV takes all at once.
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var input: [UInt8] = []

    /// Bytes that a sealed text has more than its text.
    package static let overhead = 17
    /// The byte in front of the text: another form would have another one. So no text is empty, which
    /// OpenSSL's SIV does not take.
    private static let form: UInt8 = 1

    /// Makes a cipher for one purpose.
    ///
    /// - Parameter key: At least 32 random bytes, from which the cipher's own keys are made for this purpose.
    package init(derivedFrom key: Secret, for purpose: String) {
        let own = [1, 2].flatMap { HMAC.sha256(Array(purpose.utf8) + [$0], key: key.bytes) }
        guard EVP_CipherInit_ex2(keyed.handle, Cipher.aes256SIV.handle, own, nil, 1, nil) == 1 else {
            preconditionFailure("OpenSSL's AES-256-SIV took no key: \(LibraryErrors.takeReason())")
        }
    }

    /// Seals a text.
    ///
    /// - Parameters:
    ///   - context: The kind of text; opened as any other kind, it is not authentic.
    ///   - owner: The text's owner, in the same way.
    package func seal(
        _ text: some Collection<UInt8>, as context: String, of owner: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        var sealed: [UInt8] = []
        try seal(text, as: context, of: owner, into: &sealed)
        return sealed
    }

    /// Appends the sealed form, ``overhead`` bytes longer than the text.
    package func seal(
        _ text: some Collection<UInt8>, as context: String, of owner: [UInt8] = [], into sealed: inout [UInt8]
    ) throws(CryptoError) {
        input.removeAll(keepingCapacity: true)
        input.append(AES256SIV.form)
        input.append(contentsOf: text)
        let run = try begin(as: context, of: owner, encrypting: true)
        let start = sealed.count
        sealed.append(contentsOf: repeatElement(0, count: 16 + input.count))
        let isSealed = sealed.withUnsafeMutableBufferPointer { sealed in
            // The text comes behind the tag, which is known last.
            let tag = sealed.baseAddress! + start
            var count: CInt = 0
            var last: CInt = 0
            return EVP_CipherUpdate(run.handle, tag + 16, &count, input, CInt(input.count)) == 1
                && EVP_CipherFinal_ex(run.handle, tag + 16 + Int(count), &last) == 1
                && EVP_CIPHER_CTX_ctrl(run.handle, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1
        }
        guard isSealed else { throw LibraryErrors.failure("AES-SIV") }
    }

    package func open(
        _ sealed: [UInt8], as context: String, of owner: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        guard sealed.count >= AES256SIV.overhead else { throw .notAuthentic }
        let run = try begin(as: context, of: owner, encrypting: false)
        var tag = Array(sealed.prefix(16))
        var text = [UInt8](repeating: 0, count: sealed.count - 16)
        var count: CInt = 0
        let isAuthentic = sealed.withUnsafeBufferPointer { sealed in
            EVP_CIPHER_CTX_ctrl(run.handle, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1
                && EVP_CipherUpdate(run.handle, &text, &count, sealed.baseAddress! + 16, CInt(text.count))
                    == 1
        }
        guard isAuthentic, text.first == AES256SIV.form else {
            LibraryErrors.clear()
            throw .notAuthentic
        }
        text.removeFirst()
        return text
    }

    private func begin(
        as context: String, of owner: [UInt8], encrypting: Bool
    ) throws(CryptoError) -> CipherContext {
        LibraryErrors.clear()
        let run = CipherContext()
        var count: CInt = 0
        var context = context
        let isBegun = context.withUTF8 { context in
            EVP_CIPHER_CTX_copy(run.handle, keyed.handle) == 1
                && EVP_CipherInit_ex2(run.handle, nil, nil, nil, encrypting ? 1 : 0, nil) == 1
                && EVP_CipherUpdate(run.handle, nil, &count, context.baseAddress, CInt(context.count)) == 1
                // A string of its own in RFC 5297's chain: no context and owner together are another pair's.
                && (owner.isEmpty || EVP_CipherUpdate(run.handle, nil, &count, owner, CInt(owner.count)) == 1)
        }
        guard isBegun else { throw LibraryErrors.failure("AES-SIV set-up") }
        return run
    }
}
