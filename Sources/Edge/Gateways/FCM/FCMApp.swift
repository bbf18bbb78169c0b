import Encodings
import Logging
import Reactor
import Relay
import TLS

/// One app at Google: its keys under `apps`, and what becomes of them.
package struct FCMApp: ConfiguredApp {
    package var serviceAccountFile = ""
    package var baseURL = "https://fcm.googleapis.com"
    /// The URL that gives access tokens; empty: the service account's own.
    package var tokenURL = ""
    package var caFile = ""
    /// Whether messages have a notification block, for phones whose app can't show data-only messages (Bisq Remote before
    /// 1.3.4).
    package var hasNotificationBlock = false

    package static let gateway = "fcm"
    package static let wordsOfNobody = ["INVALID_ARGUMENT", "UNREGISTERED"]

    package init() {}

    package init(_ section: any SettingsSection) {
        section.credential("service_account_file", &serviceAccountFile)
        section.origin("base_url", &baseURL)
        section.url("token_url", &tokenURL)
        section.path("ca_file", &caFile)
        section.flag("notification_block", &hasNotificationBlock)
    }

    package var service: any PushService { FCMService(withNotification: hasNotificationBlock) }
    package var hosts: [LaneHost] { [.production] }
    package var hasCredentials: Bool { !serviceAccountFile.isEmpty }
    package var secretFiles: [String] { [serviceAccountFile] }
    package var files: [String] { secretFiles + [caFile] }

    package func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp {
        let settings = try load(by: egress, reading: file)
        let project = settings.account.projectID
        let gateway = try setUp { () throws(GatewaySetupError) in try FCMGateway(settings, log: log) }
        return OpenedApp([(.production, gateway)]) { _, file throws(CredentialFault) in
            let settings = try load(by: egress, reading: file)
            guard settings.account.projectID == project else {
                throw CredentialFault(
                    key: "service_account_file",
                    problem: "\(serviceAccountFile) is of another project: that needs a restart")
            }
            try setUp { () throws(GatewaySetupError) in try gateway.use(settings) }
        }
    }

    package func probes(
        by egress: Egress, reading file: FileReader
    ) throws(CredentialFault) -> [GatewayProbe] {
        let settings = try load(by: egress, reading: file)
        return [
            GatewayProbe(of: .production, at: settings.baseURL) { () async throws(GatewaySetupError) in
                try await settings.probe()
            }
        ]
    }

    private func load(by egress: Egress, reading file: FileReader) throws(CredentialFault) -> FCMSettings {
        let bytes = try read(serviceAccountFile, key: "service_account_file", by: file)
        let account: ServiceAccount
        do throws(ServiceAccount.Fault) {
            account = try ServiceAccount(file: bytes)
        } catch {
            throw CredentialFault(key: "service_account_file", problem: "\(serviceAccountFile): \(error)")
        }
        var settings = FCMSettings(
            account: account, baseURL: try GatewayURL(baseURL, key: "base_url"),
            tokenURL: tokenURL.isEmpty ? nil : try GatewayURL(tokenURL, key: "token_url"),
            trust: try trust(in: caFile, by: file),
            withNotification: hasNotificationBlock)
        settings.egress = egress
        return settings
    }

    package static func advice(for reason: String) -> String? {
        switch reason {
        case "invalid_grant":
            "the service account's key was deleted or belongs to another account, or this machine's clock is wrong: make a new key in the Firebase console"
        case "UNAUTHENTICATED":
            "Google rejects the token it issued: make a new key for the service account"
        case "PERMISSION_DENIED", "SENDER_ID_MISMATCH":
            "enable the Firebase Cloud Messaging API (V1) for the project, and give the service account its role (Firebase Admin, or cloudmessaging.messages.create)"
        case "NOT_FOUND":
            "the project does not exist: does the service account belong to the app's own Firebase project?"
        case OwnReason.tokenFailed.code: "the app's key cannot sign: put the right file in its place"
        case "QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL": patience
        case _: nil
        }
    }
}
