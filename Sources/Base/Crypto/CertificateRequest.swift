import COpenSSL

/// A request that a server's operator sends to an authority to get a certificate (PKCS#10), and the new key that it is for.
/// The key is on P-256, with which a TLS handshake costs a tenth of the time that it takes with RSA.
package struct CertificateRequest: Sendable {
    /// The private key in PKCS#8, not encrypted.
    package let keyPEM: Secret
    package let requestPEM: [UInt8]

    /// Makes a key and a request for a server.
    ///
    /// - Parameter name: The host's name, as ``isName(_:)`` takes it.
    package init(forServer name: String) throws(CryptoError) {
        precondition(CertificateRequest.isName(name), "a name that was not looked at")
        LibraryErrors.clear()
        let key = try Key.generate(.es256)
        guard let request = X509_REQ_new() else { throw LibraryErrors.failure("new certificate request") }
        // Owned here, freed when this returns.
        defer { X509_REQ_free(request) }
        let file = MemoryBIO()
        guard X509_REQ_set_version(request, CLong(X509_REQ_VERSION_1)) == 1,
            X509_REQ_set_pubkey(request, key.handle) == 1,
            onionbell_X509_REQ_add_names(request, "DNS:\(name)") == 1,
            X509_REQ_sign(request, key.handle, Algorithm.sha256.handle) > 0,
            PEM_write_bio_X509_REQ(file.handle, request) == 1
        else { throw LibraryErrors.failure("certificate request") }
        keyPEM = Secret(try key.privatePEM())
        requestPEM = file.bytes
    }

    /// Whether a certificate can be for it: labels of small letters, digits and hyphens, with a dot between them.
    package static func isName(_ name: String) -> Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.utf8.count <= 253 && labels.count > 1
            && labels.allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                    && label.last != UInt8(ascii: "-")
                    && label.allSatisfy {
                        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
                    }
            }
    }
}
