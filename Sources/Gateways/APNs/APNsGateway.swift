import Crypto
import Delivery
import Logging
import Metrics
import Reactor
import Relay
import TLS

/// One app at one of Apple's hosts.
@EventLoop
package final class APNsGateway: Gateway {
    package var onCapacity: (@EventLoop () -> Void)?

    private let isSecure: Bool
    private let link: GatewayLink
    private let tokens: ProviderTokens?
    private let log: Logger
    private let later = Later()
    private var heads: APNsHeads
    /// Words for refused device tokens that, in bulk, mean a wrong configuration.
    private static let suspicious = ["BadDeviceToken", "DeviceTokenNotForTopic"]

    /// The app's gateways at both hosts; with a provider key they share its token.
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
            GatewayLink.Settings(
                url: url, egress: settings.egress, version: .http2, needsProof: tokens != nil, limits: limits),
            context: url.isSecure ? context : nil, log: log)
        link.isFault = APNsAnswer.isBlocking
        link.onRoom = { [unowned self] in onCapacity?() }
        note(settings.credentials)
    }

    /// Connects, and stays connected.
    package func start() { link.start() }

    package func stop() { link.stop() }

    /// Takes over other credentials of the same kind: the present connections are drained and new ones opened. The
    /// sandbox's and the production's gateway share their tokens, and each needs to be told.
    package func use(_ settings: APNsSettings) throws(GatewaySetupError) {
        let context = try settings.context()
        switch (settings.credentials, tokens) {
        case (.providerKey(let key), let tokens?): tokens.use(key)
        case (.certificate, nil): break
        case (.providerKey, nil), (.certificate, _?): throw .otherKind
        }
        link.use(isSecure ? context : nil)
        note(settings.credentials)
    }

    package var figures: GatewayFigures { link.figures }

    private func note(_ credentials: APNsCredentials) {
        guard case .certificate(let identity) = credentials else { return }
        link.note(certificateEnd: identity.certificate.validUntil)
    }

    // MARK: Sending

    /// With a fault that only the operator can mend it is 1, so that the lane learns of it.
    package var capacity: Int {
        let room = link.room
        return room == 0 && link.fault != nil ? 1 : room
    }

    package func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void) {
        guard let connection = link.roomiest else {
            return later { [link] in completion(link.outcomeWithoutRoom) }
        }
        var authorization: String?
        var generation = 0
        if let tokens {
            do throws(CryptoError) {
                (authorization, generation) = try tokens.current()
            } catch {
                log.error("gateway.signing", metadata: ["reason": "\(error)"])
                return later { completion(.blocked(reason: "SigningFailed")) }
            }
        }
        let head = heads.head(
            of: notification, authorization: authorization, isFirst: connection.requests == 0)
        connection.send(head, body: APNsRequest.body(notification)) { [self] end, connection in
            completion(outcome(of: end, over: connection, generation, notification))
        }
    }

    private func outcome(
        of end: ExchangeEnd, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Outcome {
        switch end {
        case .unharmed(let reason):
            // A word in a GOAWAY that names what the operator must mend.
            APNsAnswer.isBlocking(goAwayReason: reason)
                ? .blocked(reason: reason)
                : .deferred(Deferral(reason: reason, scope: .device, isUnharmed: true))
        case .unclear(let reason): link.unclear(reason)
        case .answered(let answer): outcome(of: answer, over: connection, generation, notification)
        }
    }

    private func outcome(
        of answer: GatewayAnswer, over connection: GatewayConnection, _ generation: Int,
        _ notification: Notification
    ) -> Outcome {
        let verdict = APNsAnswer.verdict(
            answer, isProven: connection.life.isProven, hasOwnTopic: heads.hasOwnTopic(notification))
        // Any judgement of the notification itself says that the credentials were taken.
        if answer.status != 403, answer.status < 500 { connection.proved() }
        if case .blocked(let reason) = verdict.outcome, tokens?.isPresent(generation) == false {
            // What Apple says of the key before says nothing of the present one.
            return .deferred(Deferral(reason: reason, scope: .device, isUnharmed: true))
        }
        link.judge(verdict, of: notification, suspicious: APNsGateway.suspicious)
        // That token can't die: it is to be refused each time anew.
        if case .tokenDead(let reason, _, _) = verdict.outcome, notification.isForNobody {
            return .refused(reason: reason)
        }
        switch verdict.consequence {
        case .none, .ownFault: break
        case .reconnect: connection.drain()
        case .keepCredential:
            tokens?.changedTooOften()
            // Apple lets nothing through on it for a while.
            connection.drain()
        case .renewCredential:
            guard tokens?.expired(generation: generation) == .clockFault else { break }
            log.error(
                "gateway.clock",
                metadata: ["reason": "a provider token just signed has expired: set the clock"])
            link.note(fault: "ExpiredProviderToken")
            return .blocked(reason: "ExpiredProviderToken")
        }
        return verdict.outcome
    }
}
