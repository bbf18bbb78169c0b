import Crypto
import TLS

/// The Lab's authority with all keys and certificates that gateways and providers need, made anew for each world but for the
/// service account's key.
package struct LabCredentials: Sendable {
    package let authority: CertificateAuthority
    /// The provider's key, and its names, as Apple gives them.
    package let providerKey: SigningKey
    package let keyID = "ABC123DEFG"
    package let teamID = "DEF123GHIJ"
    /// The service account's key, and its names, as Google gives them.
    package let accountKey: SigningKey
    package let accountKeyID = "0123456789abcdef0123456789abcdef01234567"
    package let accountEmail: String
    package let projectID = "onionbell-lab"

    private let server: TLSCredentials
    /// Two large primes take a tenth of a second to find: one key of a service account is enough for a process.
    private static let account = Result { () throws(CryptoError) in try SigningKey.generate(.rs256) }

    /// Makes the authority, the keys and the server's certificate.
    ///
    /// - Parameters:
    ///   - names: Those of the server, besides this machine's.
    ///   - accountKey: The service account's, if it is not the one of all.
    package init(names: [String] = [], accountKey: SigningKey? = nil) throws(CryptoError) {
        accountEmail = "relay@\(projectID).iam.gserviceaccount.com"
        authority = try CertificateAuthority()
        providerKey = try SigningKey.generate(.es256)
        self.accountKey = if let accountKey { accountKey } else { try Self.account.get() }
        let identity = try authority.server(names: ["localhost", "127.0.0.1", "::1"] + names)
        server = TLSCredentials(chainPEM: try identity.chainPEM(), keyPEM: try identity.keyPEM().bytes)
    }

    /// Returns the text of the CA file that clients of the Lab trust.
    package func authorityPEM() throws(CryptoError) -> [UInt8] { try authority.rootPEM() }

    /// Returns the text of the `.p8` file.
    package func providerKeyPEM() throws(CryptoError) -> [UInt8] {
        try providerKey.privatePEM().bytes
    }

    /// Returns the bytes of a `.p12` file with a certificate for `topic`.
    package func certificateFile(topic: String, password: String) throws(CryptoError) -> [UInt8] {
        try PKCS12.write(authority.client(topic: topic), password: password, kind: .modern)
    }

    /// Returns the text of a service account's file.
    ///
    /// - Parameter tokenURL: the simulator's ``GatewaySimulator/url``, then `/token`.
    package func serviceAccountFile(tokenURL: String) throws(CryptoError) -> [UInt8] {
        // The only characters in a PEM text that JSON escapes are its line ends.
        let key = String(decoding: try accountKey.privatePEM().bytes, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).joined(separator: #"\n"#)
        return Array(
            """
            {
              "type": "service_account",
              "project_id": "\(projectID)",
              "private_key_id": "\(accountKeyID)",
              "private_key": "\(key)",
              "client_email": "\(accountEmail)",
              "client_id": "100000000000000000001",
              "token_uri": "\(tokenURL)"
            }

            """.utf8)
    }

    package func apnsRules(topics: Set<String>) -> APNsRules {
        APNsRules(
            keys: [APNsRules.ProviderKey(keyID: keyID, teamID: teamID, key: providerKey.verifyingKey)],
            topics: topics)
    }

    package func fcmRules() -> FCMRules {
        FCMRules(
            projectID: projectID,
            account: FCMRules.ServiceAccount(
                email: accountEmail, keyID: accountKeyID, key: accountKey.verifyingKey))
    }

    /// Makes a context for a simulator; clients may show a certificate of the Lab's authority.
    package func serverContext(protocols: [String] = ["h2", "http/1.1"]) throws -> TLSContext {
        try TLSContext(
            serverWith: server, protocols: protocols,
            clientAuthorities: .authorities(pem: try authority.rootPEM()))
    }

    /// Makes a context for a client that trusts the Lab, with a certificate for `topic` if one is named.
    package func clientContext(topic: String? = nil) throws -> TLSContext {
        var credentials: TLSCredentials?
        if let topic {
            let identity = try authority.client(topic: topic)
            credentials = TLSCredentials(
                chainPEM: try identity.chainPEM(), keyPEM: try identity.keyPEM().bytes)
        }
        return try TLSContext(
            trusting: .authorities(pem: try authority.rootPEM()), protocols: ["h2"], credentials: credentials)
    }
}
