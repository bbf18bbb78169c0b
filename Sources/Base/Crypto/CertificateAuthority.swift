import COpenSSL
import Glibc

/// Makes certificates for the Lab and the tests: a root, servers and clients below it. P-256 keys, SHA-256.
package struct CertificateAuthority: Sendable {
    /// The root: its certificate is what a CA file holds.
    package let root: Identity

    /// Makes an authority with a new key.
    ///
    /// - Parameters:
    ///   - name: the root's common name, at most 64 bytes.
    ///   - validity: seconds since 1970; `nil`: from yesterday for ten years.
    package init(
        name: String = "Onionbell Lab", validity: ClosedRange<Int64>? = nil
    ) throws(CryptoError) {
        let key = try Key.generate(.es256)
        let certificate = try Self.issue(
            to: key, name: [(NID_commonName, name)], by: nil,
            validity: validity ?? Self.now - 86_400...Self.now + 10 * 31_536_000,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign"),
            ])
        root = try Identity(chain: [certificate], key: key)
    }

    /// Returns the text of a CA file.
    package func rootPEM() throws(CryptoError) -> [UInt8] { try root.certificate.pem() }

    /// Makes a server's certificate, with a new key.
    ///
    /// - Parameters:
    ///   - names: host names and IP addresses the certificate is for.
    ///   - validity: seconds since 1970; `nil`: from yesterday for a year.
    package func server(
        names: [String], validity: ClosedRange<Int64>? = nil
    ) throws(CryptoError) -> Identity {
        let key = try Key.generate(.es256)
        let alternatives = names.map { Self.isAddress($0) ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ",")
        let certificate = try Self.issue(
            to: key, name: [(NID_commonName, String(names.first?.prefix(64) ?? ""))], by: root,
            validity: validity ?? Self.year,
            extensions: [(NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, alternatives)])
        return try Identity(chain: [certificate], key: key)
    }

    /// Makes a certificate as Apple gives it to a provider: the topic is the subject's UID.
    package func client(
        topic: String, validity: ClosedRange<Int64>? = nil
    ) throws(CryptoError) -> Identity {
        let key = try Key.generate(.es256)
        let certificate = try Self.issue(
            to: key, name: [(NID_userId, topic), (NID_commonName, "Push Services")], by: root,
            validity: validity ?? Self.year, extensions: [(NID_ext_key_usage, "clientAuth")])
        return try Identity(chain: [certificate, root.certificate], key: key)
    }

    private static var now: Int64 { Int64(time(nil)) }
    private static var year: ClosedRange<Int64> { now - 86_400...now + 31_536_000 }

    private static func isAddress(_ name: String) -> Bool {
        name.utf8.contains(UInt8(ascii: ":"))
            || name.utf8.allSatisfy {
                $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }

    /// Makes a certificate for `key`. `issuer` nil: signed by the key itself.
    private static func issue(
        to key: Key, name: [(CInt, String)], by issuer: Identity?, validity: ClosedRange<Int64>,
        extensions: [(CInt, String)]
    ) throws(CryptoError) -> Certificate {
        LibraryErrors.clear()
        guard let handle = X509_new() else { throw LibraryErrors.failure("new certificate") }
        let certificate = Certificate(owning: handle)
        let serial = BN_bin2bn([0x01] + randomBytes(15), 16, nil)
        defer { BN_free(serial) }
        let subject = X509_get_subject_name(handle)
        var isDone =
            X509_set_version(handle, CLong(X509_VERSION_3)) == 1
            && BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(handle)) != nil
            && ASN1_TIME_set(X509_getm_notBefore(handle), time_t(validity.lowerBound)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(handle), time_t(validity.upperBound)) != nil
            && X509_set_pubkey(handle, key.handle) == 1
        for (nid, text) in name {
            isDone =
                isDone
                && X509_NAME_add_entry_by_NID(
                    subject, nid, MBSTRING_UTF8, Array(text.utf8), CInt(text.utf8.count), -1, 0) == 1
        }
        let issuerHandle = issuer?.certificate.handle ?? handle
        isDone = isDone && X509_set_issuer_name(handle, X509_get_subject_name(issuerHandle)) == 1
        let keyIDs = [(NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid")]
        for (nid, value) in keyIDs + extensions {
            isDone = isDone && onionbell_X509_add_extension(handle, issuerHandle, nid, value) == 1
        }
        guard isDone, X509_sign(handle, (issuer?.key ?? key).handle, Algorithm.sha256.handle) > 0 else {
            throw LibraryErrors.failure("issuing a certificate")
        }
        return certificate
    }
}
