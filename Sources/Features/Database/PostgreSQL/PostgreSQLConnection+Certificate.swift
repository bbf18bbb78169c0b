import CPostgreSQL
import Crypto
import Glibc

/// Finds out what is wrong with a server's certificate: libpq says only that it is not trusted.
extension PostgreSQLConnection {
    /// The end of a sentence about a certificate's fault that says that an authority's certificate, and not
    /// the server's, has it.
    package static let ofAuthority = " (the authority's)"

    /// Milliseconds for each step of a handshake.
    private static let step: Int32 = 2000

    /// Returns OpenSSL's words for what is wrong with the server's certificate, `nil` if it has none. Shakes
    /// hands once more, believes whatever certificate comes, and goes away before anything is said over that
    /// line.
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
            if let tls = libpq.sslStruct(made, "OpenSSL"), let chain = ShownChain(of: tls) {
                return chain.fault(for: authorities).map {
                    $0.isAuthoritys ? $0.words + PostgreSQLConnection.ofAuthority : $0.words
                }
            }
        }
        return nil
    }
}
