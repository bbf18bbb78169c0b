import COpenSSL

/// The version of the library that the process runs with.
package var cryptoLibraryVersion: String {
    let words = String(cString: OpenSSL_version(OPENSSL_VERSION)).split(separator: " ")
    return words.prefix(2).joined(separator: " ")
}
