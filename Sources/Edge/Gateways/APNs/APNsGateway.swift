import Crypto
import Figures
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// One app at one of Apple's hosts.
@EventLoop
package final class APNsGateway: LinkedGateway {
    private let isSecure: Bool
    let link: GatewayLink
    private let tokens: ProviderTokens?
    private let log: Logger
    private let later = Later()
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) private var heads: APNsHeads
    static let suspicious = ["BadDeviceToken", "DeviceTokenNotForTopic"]
    static var nobody: DeviceToken { .hexadecimalOfNobody }

    /// Makes the app's gateways at both hosts; with a provider key they share its token.
    package static func both(
        _ settings: APNsSettings, log: Logger
    ) throws(GatewaySetupError) -> (production: APNsGateway, sandbox: APNsGateway) {
        let context = try settings.context()
        let tokens: ProviderTokens? =
            if case .providerKey(let key) = settings.credentials { ProviderTokens(key) } else { nil }
        return (
            APNsGateway(settings, at: settings.productionURL, context, tokens, log: log),
            APNsGateway(settings, at: settings.sandboxURL, context, tokens, log: log)
        )
    }

    init(
        _ settings: APNsSettings, at url: GatewayURL, _ context: TLSContext, _ tokens: ProviderTokens?,
        limits: ConnectionLife.Limits = ConnectionLife.Limits(), log: Logger
    ) {
        heads = APNsHeads(authority: url.authority, topic: settings.topic)
        isSecure = url.isSecure
        self.tokens = tokens
        self.log = log
        link = GatewayLink(
            GatewayLinkSettings(
                url: url, egress: settings.egress, version: .http2, needsProof: tokens != nil, limits: limits),
            context: url.isSecure ? context : nil, log: log)
        link.isFault = APNsAnswer.isBlocking
        note(settings.credentials)
    }

    package func start() { link.start() }

    package func stop() { link.stop() }

    package func look(then end: @escaping @EventLoop () -> Void) { link.look(then: end) }

    /// Takes over other credentials of the same kind: the present connections are drained, and a new one shows whether Apple
    /// takes them. The sandbox's and the production's gateway share their tokens, and each has to take them over.
    package func use(_ settings: APNsSettings) throws(GatewaySetupError) {
        let context = try settings.context()
        switch (settings.credentials, tokens) {
        case (.providerKey(let key), let tokens?): tokens.use(key)
        case (.certificate, nil): break
        case (.providerKey, nil), (.certificate, _?): throw .otherKind
        }
        link.use(isSecure ? context : nil)
        note(settings.credentials)
        look {}
    }

    package var capacity: Int { link.room }
    package var fault: String? { link.fault }
    package var figures: GatewayFigures { link.figures }

    private func note(_ credentials: APNsCredentials) {
        guard case .certificate(let identity) = credentials else { return }
        link.note(certificateEnd: identity.certificate.validUntil)
    }

    // MARK: Sending

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        guard let connection = link.roomiest else {
            return later { [link] in completion(link.outcomeWithoutRoom) }
        }
        var authorization: Secret?
        var generation = 0
        if let tokens {
            do throws(CryptoError) {
                (authorization, generation) = try tokens.current()
            } catch {
                log.error("gateway.signing_failed", metadata: ["reason": "\(error)"])
                return later { completion(.blocked(reason: OwnReason.signingFailed.code)) }
            }
        }
        let head = heads.head(of: notification, authorization: authorization)
        connection.send(head, body: APNsRequest.body(notification)) { [self] end, connection in
            completion(outcome(of: end, over: connection, generation, notification))
        }
    }

    func verdict(
        _ answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Verdict {
        let verdict = APNsAnswer.verdict(
            answer, isProven: connection.life.isProven, hasOwnTopic: heads.hasOwnTopic(notification))
        // Any judgement of the notification itself says that the credentials were taken.
        if case .accepted = verdict.outcome {
            connection.proved()
            return verdict
        }
        if answer.status != 403, answer.status < 500, verdict != .between(answer) { connection.proved() }
        if case .blocked(let reason) = verdict.outcome,
            tokens.map({ !$0.isPresent(generation) }) ?? connection.isOutdated
        {
            // What Apple says of the key or certificate before says nothing of the present one.
            return .deferred(reason, .device, isUnharmed: true)
        }
        return verdict
    }

    func renewCredential(_ generation: Int) -> Bool {
        guard tokens?.expired(generation: generation) == .clockFault else { return true }
        log.error(
            "gateway.clock_wrong",
            metadata: ["reason": "a provider token just signed has expired: set the clock"])
        return false
    }

    func keepCredential() { tokens?.changedTooOften() }
}
