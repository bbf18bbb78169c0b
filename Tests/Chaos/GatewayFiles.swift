import Crypto
import Encodings
import Lab
import TLS

/// The files by which driver, node and gateways share keys and certificates.
struct GatewayFiles {
    static let topic = "bisqremote.joachimneumann.com"

    let directory: String

    var control: String { directory + "/gateway" }

    /// Once, by the driver.
    func write(_ credentials: LabCredentials) throws {
        let vapid = try SigningKey.generate(.es256)
        let server = try credentials.authority.server(names: ["localhost", "127.0.0.1"])
        let files: [(String, [UInt8])] = [
            ("ca.pem", try credentials.authorityPEM()), ("AuthKey.p8", try credentials.providerKeyPEM()),
            ("account-key.pem", try credentials.accountKey.privatePEM().bytes),
            ("server.pem", try server.chainPEM()), ("server-key.pem", try server.keyPEM().bytes),
            (
                "names",
                Array(
                    [
                        credentials.keyID, credentials.teamID, credentials.projectID,
                        credentials.accountEmail, credentials.accountKeyID,
                    ].joined(separator: "\n").utf8)
            ),
            ("vapid-key", try vapid.privatePEM().bytes),
            ("push.p12", try credentials.certificateFile(topic: GatewayFiles.topic, password: "")),
            (
                "blocked.p12",
                try credentials.certificateFile(topic: "\(ChaosWorld.blocked).example", password: "")
            ),
        ]
        for (name, bytes) in files { try LabDirectory.write(bytes, to: "\(directory)/\(name)") }
    }

    func serverContext() throws -> TLSContext {
        try TLSContext(
            serverWith: TLSCredentials(chainPEM: try read("server.pem"), keyPEM: try read("server-key.pem")),
            protocols: ["h2", "http/1.1"], clientAuthorities: .authorities(pem: try read("ca.pem")))
    }

    func apnsRules() throws -> APNsRules {
        let names = try names()
        let key = try SigningKey(pem: try read("AuthKey.p8"), algorithm: .es256).verifyingKey
        return APNsRules(
            keys: [APNsRules.ProviderKey(keyID: names[0], teamID: names[1], key: key)],
            topics: [GatewayFiles.topic])
    }

    func fcmRules() throws -> FCMRules {
        let names = try names()
        let key = try SigningKey(pem: try read("account-key.pem"), algorithm: .rs256).verifyingKey
        return FCMRules(
            projectID: names[2],
            account: FCMRules.ServiceAccount(email: names[3], keyID: names[4], key: key))
    }

    /// Push services of browsers, one with the manners of each maker: they know the node's key at every path, also after
    /// they were killed.
    func webPushRules() throws -> [WebPushRules] {
        let key = try SigningKey(pem: try read("vapid-key"), algorithm: .es256).publicPoint()
        return GatewayFiles.manners.map { manner in
            var rules = WebPushRules(manner)
            rules.knownKey = Base64.encodeForURL(key)
            return rules
        }
    }

    static let manners: [WebPushRules.Manner] = [.mozilla, .google, .apple]

    private func names() throws -> [String] {
        String(decoding: try read("names"), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func read(_ name: String) throws -> [UInt8] { try LabDirectory.read("\(directory)/\(name)") }
}
