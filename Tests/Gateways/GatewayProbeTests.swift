import Crypto
import Lab
import Reactor
import TLS
import Testing

@testable import Gateways

/// What a probe learns of Apple's and Google's stand-ins.
@Suite(.serialized) @EventLoop struct GatewayProbeTests {
    private let lab: LabCredentials
    private let apple: GatewaySimulator
    private let google: GatewaySimulator

    init() throws {
        lab = try LabCredentials()
        let context = try lab.serverContext()
        apple = try GatewaySimulator(.apns(lab.apnsRules(topics: ["topic"])), context)
        google = try GatewaySimulator(.fcm(lab.fcmRules()), context)
    }

    private func apns(
        topic: String = "topic", keyID: String? = nil, trusts: LabCredentials? = nil, at url: String? = nil,
        certificate: Bool = false
    ) async throws -> GatewayProbe.Finding {
        let credentials: APNsCredentials =
            certificate
            ? .certificate(
                try PKCS12.open(try lab.certificateFile(topic: "topic", password: ""), password: ""))
            : .providerKey(
                try ProviderKey(
                    keyID: keyID ?? lab.keyID, teamID: lab.teamID, p8: try lab.providerKeyPEM()))
        let url = try GatewayURL(url ?? apple.url)
        return try await APNsSettings(
            topic: topic, credentials: credentials, productionURL: url, sandboxURL: url,
            trust: .authorities(pem: try (trusts ?? lab).authorityPEM())
        ).probe(.sandbox)
    }

    private func fcm(account: LabCredentials? = nil) async throws -> GatewayProbe.Finding {
        let file = try (account ?? lab).serviceAccountFile(tokenURL: google.url + "/token")
        return try await FCMSettings(
            account: try ServiceAccount(file: file), baseURL: try GatewayURL(google.url),
            trust: .authorities(pem: try lab.authorityPEM())
        ).probe()
    }

    @Test func credentialsThatAreTakenAreToldByTheTokensRefusal() async throws {
        #expect(try await apns() == .taken("BadDeviceToken"))
        #expect(try await apns(certificate: true) == .taken("BadDeviceToken"))
        #expect(try await fcm() == .taken("INVALID_ARGUMENT"))
        #expect(apple.book.isEmpty)
        #expect(google.book.isEmpty)
    }

    @Test func aWrongKeyIsRefused() async throws {
        #expect(try await apns(keyID: "ZZZZZZZZZZ") == .refused(reason: "InvalidProviderToken"))
        let other = try LabCredentials(accountKey: .generate(.rs256))
        #expect(try await fcm(account: other) == .refused(reason: "invalid_grant"))
    }

    @Test func aWrongTopicIsRefused() async throws {
        #expect(try await apns(topic: "other") == .refused(reason: "TopicDisallowed"))
    }

    @Test func anotherHostIsNotTrusted() async throws {
        guard case .untrusted = try await apns(trusts: LabCredentials()) else {
            Issue.record("it was trusted")
            return
        }
    }

    @Test func nobodyThereIsUnreachable() async throws {
        apple.close()
        guard case .unreachable = try await apns() else {
            Issue.record("it was reached")
            return
        }
    }

    @Test func aGatewayThatFailsTellsNothing() async throws {
        apple.faults = FaultScript([FaultRule(.answer(status: 503, reason: "ServiceUnavailable"))])
        #expect(try await apns() == .unclear(reason: "ServiceUnavailable"))
    }

    @Test func theLastWordOfAConnectionThatRefusesACertificateIsTold() async throws {
        apple.faults = FaultScript([
            FaultRule(.goaway(reason: "BadCertificateEnvironment", isGraceful: false))
        ])
        #expect(try await apns(certificate: true) == .refused(reason: "BadCertificateEnvironment"))
    }
}
