import Crypto
import HTTP2
import Lab
import Reactor
import Relay
import TLS

@testable import Gateways

/// A simulated Apple, and a gateway that pushes to it.
@EventLoop
struct APNsWorld {
    static let topic = "bisqremote.joachimneumann.com"
    let lab: LabCredentials
    let apple: GatewaySimulator
    let gateway: APNsGateway

    init(
        certificate: Bool = false, trusts: LabCredentials? = nil, topic: String = APNsWorld.topic,
        faults: [FaultRule] = [],
        limits: ConnectionLife.Limits = ConnectionLife.Limits(),
        rules change: (inout APNsRules) -> Void = { _ in }
    ) throws {
        lab = try LabCredentials()
        var rules = lab.apnsRules(topics: [APNsWorld.topic])
        change(&rules)
        apple = try GatewaySimulator(.apns(rules), try lab.serverContext())
        apple.faults = FaultScript(faults)
        let url = try GatewayURL(apple.url)
        let credentials: APNsCredentials =
            certificate
            ? .certificate(
                try PKCS12.open(try lab.certificateFile(topic: topic, password: "x"), password: "x"))
            : .providerKey(
                try ProviderKey(keyID: lab.keyID, teamID: lab.teamID, p8: try lab.providerKeyPEM()))
        let settings = APNsSettings(
            topic: topic, credentials: credentials, productionURL: url, sandboxURL: url,
            trust: .authorities(pem: try (trusts ?? lab).authorityPEM()))
        let tokens: ProviderTokens? =
            if case .providerKey(let key) = credentials { ProviderTokens(key) } else { nil }
        gateway = APNsGateway(settings, at: url, try settings.context(), tokens, limits: limits, log: quiet)
        gateway.start()
    }

    func end() {
        gateway.stop()
        apple.close()
    }

    /// Accepted pushes by their id: how often.
    var accepted: [String: Int] {
        Dictionary(apple.book.map { ($0.headers["apns-id"] ?? "", 1) }, uniquingKeysWith: +)
    }
}

func apnsNotifications(_ count: Int) -> [Notification] {
    (0..<count).map { notification(id: NotificationID(high: 7, low: UInt64($0))) }
}
