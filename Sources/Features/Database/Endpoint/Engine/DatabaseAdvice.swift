import Encodings
import PostgreSQL

/// Advice about a failure of a database, behind PostgreSQL's own words, which have none.
enum DatabaseAdvice {
    /// Returns the advice, which begins with a full stop and a blank; empty where those words are enough.
    static func sentence(for error: PostgreSQLError) -> String {
        switch error.state {
        case "42501":
            ". The role of storage.url needs: GRANT USAGE, CREATE ON SCHEMA onionbell TO it; what is in that schema has to be its own"
        case "42P01", "3F000", "42883":
            ". Its tables are gone, or the role of storage.url has lost its right to them: GRANT USAGE, CREATE ON SCHEMA onionbell TO it"
        case "25006":
            ". This server takes no changes: it is a standby server, or default_transaction_read_only is on. Name the primary server in storage.url, or add target_session_attrs=read-write"
        case _ where isPooled(error): ". \(pooled)"
        case _: words(about: error).map { ". \($0)" } ?? ""
        }
    }

    /// Returns words about TLS. The first that fits is the one: OpenSSL's words come behind libpq's.
    private static func words(about error: PostgreSQLError) -> String? {
        certificates.first { error.says($0.said) }?.advice
    }

    private static let certificates: [(said: String, advice: String)] = [
        (
            "certificate has expired" + PostgreSQLConnection.ofAuthority,
            "Put the authority's new certificate into the file that sslrootcert in storage.url names"
        ),
        (
            "certificate has expired",
            "Give the database server a new certificate (its ssl_cert_file), then reload it; if the old one should still be good, look at this machine's clock: timedatectl"
        ),
        (
            "certificate is not yet valid",
            "Look at this machine's clock: timedatectl. The certificate becomes good later than it says"
        ),
        (
            "certificate verify failed",
            "The authority in sslrootcert of storage.url has not signed the server's certificate: name there the file of the one that has. If it is right, another server answers"
        ),
        (
            "does not match host name",
            "The certificate is for another host than storage.url names: name there the one it is for, with hostaddr=ADDRESS if that leads elsewhere, or give the server a certificate for this name"
        ),
        (
            "root certificate file",
            "Put the certificate of the authority that has signed the server's own into a file that the node's user can read, and name it in storage.url: sslrootcert=FILE"
        ),
        (
            "alert certificate expired",
            "The certificate in sslcert of storage.url, which is this node's, has expired: put a new one into that file"
        ),
        (
            "alert unknown ca",
            "The server does not know the authority of the certificate in sslcert of storage.url: its ssl_ca_file names those it knows"
        ),
        (
            "requires a valid client certificate",
            "The server wants a certificate of this node: sslcert=FILE and sslkey=FILE in storage.url"
        ),
    ]

    /// Whether a prepared statement is gone, or another's: a pooler stands in between.
    static func isPooled(_ error: PostgreSQLError) -> Bool { ["42P05", "26000"].contains(error.state) }

    static let pooled =
        "A pooler gives each transaction to another connection of the server: set pool_mode = session in pgbouncer"
}
