import Crypto
import HTTP2
import Reactor
import Relay
import TLS

/// One request to a push service that no phone receives, to learn whether it would take ours.
///
/// APNs is sent a background push to a device token that no phone has, which it can only refuse once it has taken the
/// credentials and the topic. FCM is sent the same with `validate_only`, which delivers nothing whatever the token is.
@EventLoop
package enum GatewayProbe {
    package enum Finding: Equatable, Sendable {
        /// The service judged the device token, so it has taken all that comes before. With its word for that.
        case taken(String)
        /// Credentials, topic, project or clock: the operator has to mend something.
        case refused(reason: String)
        /// Neither: it is overloaded, or something between us answered.
        case unclear(reason: String)
        /// No TLS connection to the host that it must be, or not with our certificate.
        case untrusted(reason: String)
        case unreachable(reason: String)
    }

    package static func apns(
        _ settings: APNsSettings, at host: LaneHost
    ) async throws(GatewaySetupError) -> Finding {
        let url = host == .sandbox ? settings.sandboxURL : settings.productionURL
        let notification = notification(to: .apns)
        var authorization: String?
        if case .providerKey(let key) = settings.credentials {
            do {
                authorization = "bearer \(try key.token(now: EventLoop.unixMilliseconds / 1000))"
            } catch {
                throw .credentials(error)
            }
        }
        var heads = APNsHeads(authority: url.authority, topic: settings.topic)
        let head = heads.head(of: notification, authorization: authorization, isFirst: true)
        let end = await exchange(
            url, by: settings.egress, try settings.context(), .http2, head, APNsRequest.body(notification))
        return switch end {
        case .success(let answer): finding(APNsAnswer.verdict(answer, isProven: false))
        case .failure(let failure): finding(failure)
        }
    }

    package static func fcm(_ settings: FCMSettings) async throws(GatewaySetupError) -> Finding {
        let context = try settings.context()
        let authorization: String
        switch try await accessToken(settings, context) {
        case .success(let token): authorization = "Bearer \(token)"
        case .failure(let finding): return finding.value
        }
        let url = settings.baseURL
        var head = HTTP2Headers(
            method: "POST", authority: url.authority, path: FCMGateway.path(at: url, of: settings.account))
        head.add("authorization", authorization, .never)
        head.add("content-type", "application/json")
        let message = FCMMessage.body(
            notification(to: .fcm), withNotification: settings.withNotification,
            now: EventLoop.unixMilliseconds)
        let body = Array(#"{"validate_only":true,"#.utf8) + message.dropFirst()
        return switch await exchange(url, by: settings.egress, context, .http1, head, body) {
        case .success(let answer): finding(FCMAnswer.verdict(answer))
        case .failure(let failure): finding(failure)
        }
    }

    /// What came of the attempt instead of a token.
    private struct NoToken: Error {
        let value: Finding
    }

    private static func accessToken(
        _ settings: FCMSettings, _ context: TLSContext
    ) async throws(GatewaySetupError) -> Result<String, NoToken> {
        let url = try settings.whereTokensAre()
        let assertion: String
        do {
            assertion = try settings.account.assertion(now: EventLoop.unixMilliseconds / 1000)
        } catch {
            throw .credentials(error)
        }
        var head = HTTP2Headers(method: "POST", authority: url.authority, path: url.path)
        head.add("content-type", OAuthExchange.contentType)
        switch await exchange(
            url, by: settings.egress, context, .http1, head, OAuthExchange.body(assertion: assertion))
        {
        case .failure(let failure): return .failure(NoToken(value: finding(failure)))
        case .success(let answer):
            return switch OAuthExchange.read(answer) {
            case .token(let token, _): .success(token)
            case .refused(let reason): .failure(NoToken(value: .refused(reason: reason)))
            case .failed(let reason, _): .failure(NoToken(value: .unclear(reason: reason)))
            }
        }
    }

    private static func exchange(
        _ url: GatewayURL, by egress: Egress, _ context: TLSContext,
        _ version: GatewayConnection.HTTPVersion,
        _ head: HTTP2Headers, _ body: [UInt8]
    ) async -> Result<GatewayAnswer, SingleExchange.Failure> {
        var exchange: SingleExchange?
        let result = await withUnsafeContinuation { continuation in
            exchange = SingleExchange(
                to: url, by: egress, url.isSecure ? context : nil, version: version, head: head, body: body
            ) { continuation.resume(returning: $0) }
        }
        return withExtendedLifetime(exchange) { result }
    }

    private static func finding(_ failure: SingleExchange.Failure) -> Finding {
        if let word = failure.goAwayWord, APNsAnswer.isBlocking(goAwayReason: word) {
            return .refused(reason: word)
        }
        return failure.isUntrusted
            ? .untrusted(reason: failure.reason) : .unreachable(reason: failure.reason)
    }

    private static func finding(_ verdict: Verdict) -> Finding {
        switch (verdict.outcome, verdict.consequence) {
        case (.accepted, _): .taken("accepted")
        case (.refused(let reason, _), .ownFault): .unclear(reason: reason)
        case (.refused(let reason, _), _), (.tokenDead(let reason, _, _), _): .taken(reason)
        case (.blocked(let reason), _): .refused(reason: reason)
        // It was made a moment ago.
        case (.deferred(let deferral), .renewCredential): .refused(reason: deferral.reason)
        case (.deferred(let deferral), _): .unclear(reason: deferral.reason)
        }
    }

    private static func notification(to gateway: GatewayKind) -> Notification {
        let now = EventLoop.unixMilliseconds
        return Notification(
            id: NotificationID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)),
            lane: LaneID(app: "", host: .production), deviceToken: DeviceToken.ofNobody(at: gateway),
            message: "onionbell",
            isUrgent: false, hasSound: false, isMutableContent: false, isContentAvailable: true,
            expiresAt: now + 60_000, acceptedAt: now)
    }
}
