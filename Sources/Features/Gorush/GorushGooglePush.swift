import Encodings
import JSONCoding

/// The push that FCM gets for one element, as gorush makes it (`notify/notification_fcm.go`).
package struct GorushGooglePush {
    /// Whom one message is for.
    package enum Target: Equatable {
        case token(String)
        /// All phones that subscribed to this topic.
        case topic(String)
        /// All phones for which a condition is true, said in topics.
        case condition(String)
    }

    /// The targets in gorush's order: the broadcast first.
    package let targets: [Target]
    private let members: JSON.Object

    /// The most tokens of a notification: gorush's library takes no more at once.
    private static let mostTokens = 500

    /// Makes the pushes of a notification.
    ///
    /// - Throws: The reason why FCM, or the library before it, would take none of it.
    package init(_ notification: GorushNotification) throws(GorushRefusal) {
        var targets: [Target] = []
        if !notification.topic.isEmpty {
            let prefix = "/topics/"
            targets.append(
                .topic(
                    notification.topic.hasPrefix(prefix)
                        ? String(notification.topic.utf8.dropFirst(prefix.utf8.count))! : notification.topic))
        } else if !notification.condition.isEmpty {
            targets.append(.condition(notification.condition))
        }
        let tokens = notification.tokens + (notification.to.isEmpty ? [] : [notification.to])
        guard tokens.count <= GorushGooglePush.mostTokens else {
            throw GorushRefusal(reason: "too many tokens")
        }
        targets += tokens.map { .token($0) }
        guard !targets.isEmpty else {
            throw GorushRefusal(reason: "the message must specify at least one registration ID")
        }
        self.targets = targets
        members = try GorushGooglePush.members(notification)
    }

    package var isBroadcast: Bool {
        if case .token = targets.first { false } else { true }
    }

    /// Returns the whole request of one message.
    package func body(for target: Target) -> String {
        var message = members
        switch target {
        case .token(let token): message["token"] = .string(token)
        case .topic(let topic): message["topic"] = .string(topic)
        case .condition(let condition): message["condition"] = .string(condition)
        }
        return JSON.object(["message": .object(message)]).text
    }

    /// Bytes that Google counts: keys and values of `data` and `notification`.
    package var payloadSize: Int {
        ["data", "notification"].reduce(0) { sum, block in
            (members[block]?.object ?? [:]).reduce(sum) { sum, member in
                sum + member.key.utf8.count + (member.value.string?.utf8.count ?? 0)
            }
        }
    }

    package var isUrgent: Bool { members["android"]?["priority"] != "normal" }

    private static func members(_ notification: GorushNotification) throws(GorushRefusal) -> JSON.Object {
        let google = notification.google
        var members: JSON.Object = [:]
        var apns = google.apns
        var shown = google.notification ?? [:]
        let texts = [
            ("title", notification.title), ("body", notification.message), ("image", notification.image),
        ]
        for (key, text) in texts where !text.isEmpty { shown[key] = .string(text) }
        if notification.isMutableContent, texts.contains(where: { !$0.1.isEmpty }) {
            apns = ["payload": ["aps": ["mutable-content": 1]]]
        }
        if notification.isContentAvailable {
            var aps = notification.data
            aps["content-available"] = .integer(1)
            apns = ["headers": ["apns-priority": "5"], "payload": ["aps": .object(aps)]]
        }
        var android = google.android
        if case .string(let sound) = notification.sound, !sound.isEmpty {
            var payload = apns?["payload"]?.object ?? [:]
            var aps = payload["aps"]?.object ?? [:]
            aps["sound"] = .string(sound)
            payload["aps"] = .object(aps)
            apns = (apns ?? [:]).merging(["payload": .object(payload)])
            android = android ?? ["notification": ["sound": .string(sound)]]
        }
        if !notification.priority.isEmpty, android?["priority"]?.string?.isEmpty != false {
            android = (android ?? [:]).merging(["priority": .string(notification.priority)])
        }
        if let priority = android?["priority"], priority != "normal", priority != "high" {
            throw GorushRefusal(reason: "priority must be 'normal' or 'high'")
        }
        if !shown.isEmpty { members["notification"] = .object(shown) }
        if !notification.data.isEmpty { members["data"] = .object(notification.data.mapValues(text)) }
        if let android { members["android"] = .object(android) }
        if let apns { members["apns"] = .object(apns) }
        if let webpush = google.webpush { members["webpush"] = .object(webpush) }
        if let options = google.options { members["fcm_options"] = .object(options) }
        return members
    }

    /// Returns a value as text. FCM takes texts only: every other value is its JSON, as Go writes it.
    private static func text(_ value: JSON) -> JSON {
        switch value {
        case .string: value
        case .number(let number): .string(Int64(exactly: number).map { "\($0)" } ?? value.text)
        case _: .string(value.text)
        }
    }
}
