import Encodings
import PostgreSQL

/// What to do about a failure of a database, behind PostgreSQL's own words, which don't say it.
enum DatabaseAdvice {
    /// Empty: those words are enough. Else it begins with a full stop and a blank.
    static func sentence(for error: PostgreSQLError) -> String {
        switch error.state {
        case "42501":
            ". The role of storage.url needs: GRANT USAGE, CREATE ON SCHEMA onionbell TO it; what is in that schema has to be its own"
        case "42P01", "3F000", "42883":
            ". Its tables are gone, or the role of storage.url has lost its right to them: GRANT USAGE, CREATE ON SCHEMA onionbell TO it"
        case "25006":
            ". This server takes no changes: it is a standby server, or default_transaction_read_only is on. Name the primary server in storage.url, or add target_session_attrs=read-write"
        case _ where isPooled(error): ". \(pooled)"
        case _ where says("certificate verify failed", error.message):
            ". The server's certificate, or that of the authority in sslrootcert, has ended, or one is not the other's. Both dates: openssl s_client -starttls postgres -connect HOST:PORT -showcerts"
        case _: ""
        }
    }

    private static func says(_ words: String, _ message: String) -> Bool {
        let (bytes, wanted) = (Array(message.utf8), Array(words.utf8))
        return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
    }

    /// What was prepared is gone, or another's.
    static func isPooled(_ error: PostgreSQLError) -> Bool { ["42P05", "26000"].contains(error.state) }

    static let pooled =
        "A pooler gives each transaction to another connection of the server: set pool_mode = session in pgbouncer"
}
