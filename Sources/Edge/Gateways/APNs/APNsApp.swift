import Crypto
import Encodings
import Logging
import Reactor
import Relay
import TLS

/// One app at Apple: its keys under `apps`, and what becomes of them.
package struct APNsApp: ConfiguredApp {
    package var bundleID = ""
    package var keyFile = ""
    package var keyID = ""
    package var teamID = ""
    package var certificateFile = ""
    package var certificatePasswordFile = ""
    package var productionURL = "https://api.push.apple.com"
    package var sandboxURL = "https://api.sandbox.push.apple.com"
    package var caFile = ""

    package static let gateway = "apns"
    package static let wordsOfNobody = ["BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered"]

    package init() {}

    package init(_ section: any SettingsSection) {
        section.identifier("topic", &bundleID)
        section.mark(.live).credential("key_file", &keyFile)
        section.mark(.live).identifier("key_id", &keyID)
        if keyID.isEmpty, let id = AppleName.keyID(inFileName: keyFile) { keyID = id }
        section.mark(.live).identifier("team_id", &teamID)
        section.mark(.live).credential("certificate_file", &certificateFile)
        section.mark(.live).credential("certificate_password_file", &certificatePasswordFile)
        section.origin("production_url", &productionURL)
        section.origin("sandbox_url", &sandboxURL)
        section.mark(.live).path("ca_file", &caFile)
        if bundleID.isEmpty { section.fault("topic", "the app's bundle id is missing") }
        if !keyFile.isEmpty && !certificateFile.isEmpty {
            section.fault("certificate_file", "set key_file or certificate_file, not both")
        }
        for (key, value) in [("key_id", keyID), ("team_id", teamID)] where keyFile.isEmpty != value.isEmpty {
            section.fault(
                key,
                value.isEmpty
                    ? "is needed with key_file (Apple's 10 characters)" : "has no effect without key_file")
        }
        if certificateFile.isEmpty && !certificatePasswordFile.isEmpty {
            section.fault("certificate_password_file", "has no effect without certificate_file")
        }
    }

    package var service: any PushService { APNsService() }
    package var hosts: [LaneHost] { [.production, .sandbox] }
    package var hasCredentials: Bool { !keyFile.isEmpty || !certificateFile.isEmpty }
    package var secretFiles: [String] { [keyFile, certificateFile, certificatePasswordFile] }
    package var files: [String] { secretFiles + [caFile] }
    package var changeable: [String] { files + [keyID, teamID] }
    package var topic: String? { bundleID }

    package var doubt: (words: String, advice: String)? {
        guard !keyFile.isEmpty else { return nil }
        guard AppleName.isIdentifier(keyID), AppleName.isIdentifier(teamID) else {
            return ("key_id or team_id has not Apple's form", "both have 10 capital letters and digits")
        }
        guard let id = AppleName.keyID(inFileName: keyFile), id != keyID else { return nil }
        return (
            "key_id is not the one in the name of key_file", "a new key needs its own key_id, or none is set"
        )
    }

    package func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp {
        let settings = try load(by: egress, reading: file)
        let (production, sandbox) = try setUp { () throws(GatewaySetupError) in
            try APNsGateway.both(settings, log: log)
        }
        var current = settings
        return OpenedApp([(.production, production), (.sandbox, sandbox)]) {
            app, file async throws(CredentialFault) in
            guard let app = app as? APNsApp, app.bundleID == bundleID,
                app.productionURL == productionURL, app.sandboxURL == sandboxURL
            else {
                throw CredentialFault(key: "", problem: "restart the node: only files and ids can change")
            }
            let settings = try app.load(by: egress, reading: file)
            if let end = settings.certificateEnd, end <= EventLoop.unixMilliseconds / 1000 {
                throw CredentialFault(key: "certificate_file", problem: "\(app.certificateFile) has ended")
            }
            if settings.hasOtherKey(than: current), let reason = await settings.refusal {
                throw CredentialFault(
                    key: "key_file",
                    problem: "Apple refuses \(app.keyFile) with key_id \(app.keyID): \(reason)")
            }
            try setUp { () throws(GatewaySetupError) in
                try production.use(settings)
                try sandbox.use(settings)
            }
            current = settings
        }
    }

    package func probes(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> [GatewayProbe] {
        let settings = try load(by: egress, reading: file)
        return hosts.map { host in
            GatewayProbe(of: host, at: settings.url(of: host), certificateEnd: settings.certificateEnd) {
                () async throws(GatewaySetupError) in try await settings.probe(host)
            }
        }
    }

    private func load(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> APNsSettings {
        var settings = APNsSettings(
            topic: bundleID, credentials: try credentials(reading: file),
            productionURL: try GatewayURL(productionURL, key: "production_url"),
            sandboxURL: try GatewayURL(sandboxURL, key: "sandbox_url"),
            trust: try trust(in: caFile, by: file))
        settings.egress = egress
        return settings
    }

    private func credentials(reading file: FileReader) throws(CredentialFault) -> APNsCredentials {
        let key = keyFile.isEmpty ? "certificate_file" : "key_file"
        let path = keyFile.isEmpty ? certificateFile : keyFile
        let bytes = try read(path, key: key, by: file)
        var password = Secret("")
        if keyFile.isEmpty, !certificatePasswordFile.isEmpty {
            let text = try read(certificatePasswordFile, key: "certificate_password_file", by: file)
            password = Secret(Array(text.prefix { $0 != 0x0a && $0 != 0x0d }))
        }
        let identity: Identity
        do throws(CryptoError) {
            guard keyFile.isEmpty else {
                return .providerKey(try ProviderKey(keyID: keyID, teamID: teamID, p8: bytes))
            }
            identity = try PKCS12.open(bytes, password: password.text)
        } catch {
            let advice = error == .passwordNeeded ? ": write it into certificate_password_file" : ""
            throw CredentialFault(key: key, problem: "\(path): \(error)\(advice)")
        }
        if let words = misfit(of: identity.certificate) {
            throw CredentialFault(key: key, problem: "\(path): \(words)")
        }
        return .certificate(identity)
    }

    /// Returns the reason why a certificate can't push for this app; `nil`: it can, as far as it says.
    private func misfit(of certificate: Certificate) -> String? {
        if let name = certificate.commonName,
            let use = APNsApp.otherUses.first(where: { name.utf8.starts(with: "\($0): ".utf8) })
        {
            return "this is a certificate for \"\(use)\", and one for pushing is needed "
                + "(developer.apple.com, Certificates, Apple Push Notification service SSL)"
        }
        // One certificate is for the app and for topics below it, such as its complications.
        guard let topic = certificate.userID, bundleID != topic, !bundleID.utf8.starts(with: "\(topic).".utf8)
        else { return nil }
        return
            "the certificate is for the topic \(topic.filter { !$0.isWhitespace }.prefix(200)), and topic is "
            + "\(bundleID): set topic to the former, or use a certificate for \(bundleID)"
    }

    /// The names of Apple's other certificates, which stand before whose they are.
    private static let otherUses = [
        "Apple Development", "Apple Distribution", "iPhone Developer", "iPhone Distribution",
        "Developer ID Application", "Developer ID Installer", "Mac Developer", "Pass Type ID",
        "Website Push ID", "VoIP Services",
    ]

    package static func advice(for reason: String) -> String? {
        switch reason {
        case "ExpiredProviderToken":
            "the token was signed a moment ago, so this machine's clock is wrong: timedatectl set-ntp true"
        case "InvalidProviderToken":
            "key_file, key_id and team_id must belong together (developer.apple.com, Keys and Membership), the key must not be revoked, and the clock must be right"
        case "TopicDisallowed", "BadTopic", "MissingTopic", "DeviceTokenNotForTopic":
            "topic must be the app's bundle id, and the app must belong to the team of the key or certificate"
        case "BadCertificate", "BadCertificateEnvironment":
            "the certificate was revoked, has expired, or is for the other of Apple's two hosts: use the right .p12"
        case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
            "Apple issued this key for the other of its two hosts: make a key for both, or for this one"
        case OwnReason.signingFailed.code: "the app's key cannot sign: put the right file in its place"
        case "TooManyRequests", "ServiceUnavailable", "InternalServerError", "Shutdown", "IdleTimeout":
            patience
        case _: nil
        }
    }
}
