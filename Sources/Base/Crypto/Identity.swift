import COpenSSL

/// A certificate with its private key: what one end of a TLS connection shows and proves.
package struct Identity: Sendable {
    /// The own certificate first, then those that lead to its authority.
    package let chain: [Certificate]
    let key: Key

    package var certificate: Certificate { chain[0] }

    init(chain: [Certificate], key: Key) throws(CryptoError) {
        guard let first = chain.first, first.belongs(to: key) else {
            throw .unreadable(
                what: "certificate", reason: "the private key is not the one of the certificate")
        }
        self.chain = chain
        self.key = key
    }

    /// Reads a certificate and its private key.
    ///
    /// - Parameters:
    ///   - certificatePEM: the certificate, then those that lead to its authority.
    ///   - keyPEM: its private key without a pass phrase.
    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(CryptoError) {
        LibraryErrors.clear()
        let file = MemoryBIO(certificatePEM)
        var chain: [Certificate] = []
        while chain.count < 16, let handle = PEM_read_bio_X509(file.handle, nil, nil, nil) {
            chain.append(Certificate(owning: handle))
        }
        guard !chain.isEmpty else {
            let reason = LibraryErrors.takeReason()
            throw .unreadable(
                what: "certificate file",
                reason: MistakenFile.words(for: certificatePEM, wanted: .certificate) ?? reason)
        }
        LibraryErrors.clear()
        try self.init(chain: chain, key: Key(pem: keyPEM, called: "private key file"))
    }

    /// Returns all certificates of the chain, one after the other.
    package func chainPEM() throws(CryptoError) -> [UInt8] {
        var text: [UInt8] = []
        for certificate in chain { text += try certificate.pem() }
        return text
    }

    /// Returns the private key in PKCS#8, not encrypted.
    package func keyPEM() throws(CryptoError) -> Secret { Secret(try key.privatePEM()) }
}
