import COpenSSL
import CPostgreSQL
import Glibc

/// Finds out what is wrong with a server's certificate: libpq says only that it is not trusted.
extension PostgreSQLConnection {
    /// Behind whose fault it is that an authority's certificate, and not the server's, has.
    package static let ofAuthority = " (the authority's)"

    /// Milliseconds for each step of a handshake.
    private static let step: Int32 = 2000

    /// OpenSSL's words, `nil` if it has none. Shakes hands once more, believes whatever certificate comes, and goes away before
    /// anything is said over that line.
    func certificateFault(_ parameters: [(name: String, value: String)]) -> String? {
        guard let authorities = parameters.first(where: { $0.name == "sslrootcert" })?.value else {
            return nil
        }
        // Files that can't be there: libpq would look for others. Whoever is not believed sees nothing of this node's.
        let nowhere = "/dev/null/none"
        let instead = [
            ("sslmode", "require"), ("sslrootcert", nowhere), ("sslcert", nowhere), ("sslkey", nowhere),
            ("gssencmode", "disable"),
        ]
        let left = parameters.filter { one in one.name != "password" && !instead.contains { $0.0 == one.name }
        }
        let made = PostgreSQLConnection.withCStrings(left + instead) { names, values in
            libpq.connectStartParams(names, values, 0)
        }
        guard let made else { return nil }
        defer { libpq.finish(made) }
        var wanted = PGRES_POLLING_WRITING
        // Connect, ask for TLS, and a hello, each way; more hosts have more.
        for _ in 0..<20 {
            var wait = pollfd(
                fd: libpq.socket(made), events: Int16(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT),
                revents: 0)
            guard poll(&wait, 1, PostgreSQLConnection.step) == 1 else { return nil }
            wanted = libpq.connectPoll(made)
            guard wanted == PGRES_POLLING_READING || wanted == PGRES_POLLING_WRITING else { return nil }
            if let tls = libpq.sslStruct(made, "OpenSSL"),
                let chain = SSL_get_peer_cert_chain(OpaquePointer(tls))
            {
                return PostgreSQLConnection.fault(of: chain, for: authorities)
            }
        }
        return nil
    }

    /// - Parameter chain: The server's own certificate first; it stays its owner's.
    private static func fault(of chain: OpaquePointer, for authorities: String) -> String? {
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
        return X509_STORE_CTX_get_error_depth(context) > 0 ? words + ofAuthority : words
    }
}
