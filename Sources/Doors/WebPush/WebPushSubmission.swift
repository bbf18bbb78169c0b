import Relay

/// Makes submissions of messages.
enum WebPushSubmission {
    /// How long a message is tried that is to arrive at once or never (TTL 0).
    static let shortestLife: Int64 = 30_000

    /// `nil` when the operator has named no app for this form.
    ///
    /// - Parameter now: Milliseconds since 1970.
    static func make(
        _ message: WebPushMessage, to route: WebPushRoute, _ settings: WebPushSettings, now: Int64
    ) -> Submission? {
        var push = PreparedPush(
            body: "", isUrgent: message.isUrgent, expiry: .unsaid, collapseID: message.topic)
        var expiresAt: Int64 = 0
        if let seconds = message.timeToLive {
            push.expiry = seconds == 0 ? .atOnce : .withNotification
            let longest = Validator.longestLifetime.milliseconds / 1000
            expiresAt = now + (seconds == 0 ? shortestLife : min(Int64(seconds), longest) * 1000)
        }
        let platform: Platform
        let app: String
        let deviceToken: String
        var size: Int?
        switch route {
        case .relay(.fcm, let token, let extra):
            (platform, app, deviceToken) = (.android, settings.relay.android, token)
            let rendered = WebPushPayload.tootAtGoogle(message, extra: extra)
            push.body = rendered.body
            size = rendered.size
        case .relay(let environment, let token, let extra):
            (platform, app, deviceToken) =
                (environment == .production ? .ios : .iosDev, settings.relay.ios, token)
            push.body = WebPushPayload.toot(message, extra: extra)
        case .push(let isSandbox, let token, let id):
            (platform, app, deviceToken) = (isSandbox ? .iosDev : .ios, settings.pushApp, token)
            push.body = WebPushPayload.metatext(message, id: id)
        case .state, .health, .unknown: return nil
        }
        guard !app.isEmpty else { return nil }
        if platform != .android, !settings.givesIDs { push = withoutIDs(push, message, now: now) }
        return Submission(
            platform: platform, app: app, deviceToken: deviceToken, content: .prepared(push),
            payloadSize: size, expiresAt: expiresAt)
    }

    /// As toot-relay would send it.
    private static func withoutIDs(_ push: PreparedPush, _ message: WebPushMessage, now: Int64)
        -> PreparedPush
    {
        var fields = [(name: "apns-push-type", value: "alert")]
        fields.append(("apns-priority", message.isUrgent ? "10" : "5"))
        if let seconds = message.timeToLive {
            let longest = Validator.longestLifetime.milliseconds / 1000
            fields.append(("apns-expiration", String(now / 1000 + min(Int64(seconds), longest))))
        }
        if let topic = message.topic { fields.append(("apns-collapse-id", topic)) }
        return PreparedPush(exactly: push.body, fields: fields, isUrgent: message.isUrgent)
    }
}
