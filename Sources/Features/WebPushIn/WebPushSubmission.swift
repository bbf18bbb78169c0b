import Clocks
import Encodings
import Relay

/// Makes submissions of messages.
enum WebPushSubmission {
    /// The time for which a message is tried that is to arrive at once or never (TTL 0), in milliseconds.
    static let shortestLife = Duration.seconds(30)

    /// Makes the submission of a message; `nil` when the operator has named no app for this form.
    ///
    /// - Parameters:
    ///   - query: The query as sent.
    static func make(
        _ message: WebPushMessage, to route: WebPushRoute, query: String?, _ settings: WebPushSettings,
        now: UnixTime
    ) -> Submission? {
        var expiry = PreparedPush.Expiry.unsaid
        var expiresAt: UnixTime = 0
        if let seconds = message.timeToLive {
            expiry = seconds == 0 ? .atOnce : .withNotification
            let longest = Validator.longestLifetime.milliseconds / 1000
            expiresAt = now + (seconds == 0 ? shortestLife : .seconds(min(Int64(seconds), longest)))
        }
        let platform: Platform
        let app: String
        let deviceToken: String
        let payload: PreparedPush.Payload
        var size: Int?
        switch route {
        case .relay(.fcm, let token, let extra):
            (platform, app, deviceToken) = (.android, settings.relay.android, token)
            let rendered = WebPushPayload.tootAtGoogle(message, extra: extra)
            payload = .members(rendered.body)
            size = rendered.size
        case .relay(let environment, let token, let extra):
            (platform, app, deviceToken) =
                (environment == .production ? .ios : .iosDev, settings.relay.ios, token)
            payload = .object(WebPushPayload.toot(message, extra: extra))
        case .push(let token, let id):
            let isSandbox = WebPushRoute.isSandbox(query)
            (platform, app, deviceToken) = (isSandbox ? .iosDev : .ios, settings.pushApp, token)
            payload = .object(WebPushPayload.metatext(message, id: id))
        case .state, .health, .unknown: return nil
        }
        guard !app.isEmpty else { return nil }
        var push = PreparedPush(
            payload, isUrgent: message.isUrgent, expiry: expiry, collapseID: message.topic)
        if platform != .android, !settings.givesIDs { push = withoutIDs(push, message, now: now) }
        return Submission(
            platform: platform, app: app, deviceToken: deviceToken, content: .prepared(push),
            payloadSize: size, expiresAt: expiresAt)
    }

    /// Returns the push as toot-relay would send it.
    private static func withoutIDs(_ push: PreparedPush, _ message: WebPushMessage, now: UnixTime)
        -> PreparedPush
    {
        var fields = [PreparedPush.Field("apns-push-type", "alert")]
        fields.append(.init("apns-priority", message.isUrgent ? "10" : "5"))
        if let seconds = message.timeToLive {
            let longest = Validator.longestLifetime.milliseconds / 1000
            fields.append(
                .init("apns-expiration", String(now.milliseconds / 1000 + min(Int64(seconds), longest))))
        }
        if let topic = message.topic { fields.append(.init("apns-collapse-id", topic)) }
        return PreparedPush(exactly: push.body, fields: fields, isUrgent: message.isUrgent)
    }
}
