import COpenSSL

/// The name and version of OpenSSL, as loaded at run time.
package var cryptoLibraryVersion: String {
    let words = String(cString: OpenSSL_version(OPENSSL_VERSION)).split(separator: " ")
    return words.prefix(2).joined(separator: " ")
}
