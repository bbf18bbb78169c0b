import COpenSSL

/// The certificates that a server has shown on a TLS connection of another library; they stay the connection's.
package struct ShownChain {
    private let chain: OpaquePointer

    /// Finds the chain, the server's own certificate first; `nil`: none has come yet.
    ///
    /// - Parameter connection: OpenSSL's `SSL`. It has to outlive this value.
    package init?(of connection: UnsafeMutableRawPointer) {
        guard let chain = SSL_get_peer_cert_chain(OpaquePointer(connection)) else { return nil }
        self.chain = chain
    }

    /// Says in OpenSSL's words why a client would not believe the server; `nil`: it would, or it is not known.
    ///
    /// - Parameter authorities: The path of a PEM file, or `system`.
    /// - Returns: `isAuthoritys`: whether the certificate at fault is an authority's, and not the server's own.
    package func fault(for authorities: String) -> (words: String, isAuthoritys: Bool)? {
        // Both are freed here, and the context does not keep what it lends.
        let (store, context) = (X509_STORE_new(), X509_STORE_CTX_new())
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
            ERR_clear_error()
        }
        let isLoaded =
            authorities == "system"
            ? X509_STORE_set_default_paths(store) : X509_STORE_load_file(store, authorities)
        guard isLoaded == 1,
            X509_STORE_CTX_init(context, store, onionbell_sk_X509_value(chain, 0), chain) == 1,
            X509_STORE_CTX_set_default(context, "ssl_server") == 1, X509_verify_cert(context) != 1
        else { return nil }
        let words = String(cString: X509_verify_cert_error_string(CLong(X509_STORE_CTX_get_error(context))))
        return (words, X509_STORE_CTX_get_error_depth(context) > 0)
    }
}
