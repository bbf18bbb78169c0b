import COpenSSL

/// One X.509 certificate; freed when the last reference goes.
package final class Certificate: @unchecked Sendable {
    // Unchecked: never changed once made, and OpenSSL counts its references atomically.
    let handle: OpaquePointer

    /// Makes a certificate, and takes ownership of the handle.
    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { X509_free(handle) }

    /// Reads the first certificate of a PEM text.
    package convenience init(pem: [UInt8]) throws(CryptoError) {
        LibraryErrors.clear()
        let file = MemoryBIO(pem)
        guard let handle = PEM_read_bio_X509(file.handle, nil, nil, nil) else {
            let reason = LibraryErrors.takeReason()
            throw .unreadable(
                what: "certificate", reason: MistakenFile.words(for: pem, wanted: .certificate) ?? reason)
        }
        self.init(owning: handle)
    }

    package func pem() throws(CryptoError) -> [UInt8] {
        let file = MemoryBIO()
        guard PEM_write_bio_X509(file.handle, handle) == 1 else {
            throw LibraryErrors.failure("writing a certificate")
        }
        return file.bytes
    }

    /// The last second it is valid, counted from 1970, UTC.
    package var validUntil: Int64 { onionbell_ASN1_TIME_seconds(X509_get0_notAfter(handle)) }

    /// The subject's `UID`: in Apple's push certificates the default topic.
    package var userID: String? { subject(NID_userId) }

    package var commonName: String? { subject(NID_commonName) }

    func belongs(to key: Key) -> Bool {
        defer { LibraryErrors.clear() }
        return X509_check_private_key(handle, key.handle) == 1
    }

    private func subject(_ nid: CInt) -> String? {
        let name = X509_get_subject_name(handle)
        let index = X509_NAME_get_index_by_NID(name, nid, -1)
        guard index >= 0, let entry = X509_NAME_get_entry(name, index) else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let length = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
        // OpenSSL allocated the text.
        defer { CRYPTO_free(text, #file, #line) }
        guard length >= 0, let text else { return nil }
        return String(decoding: UnsafeBufferPointer(start: text, count: Int(length)), as: UTF8.self)
    }
}
