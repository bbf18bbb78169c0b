import Encodings
import JSONCoding

/// The push that Apple gets for one element, as gorush makes it (`notify/notification_apns.go`).
package struct GorushApplePush: Equatable {
    /// A JSON object.
    package let body: String
    /// The header fields beside authorization, in this order.
    package let fields: [(name: String, value: String)]

    package static func == (one: GorushApplePush, other: GorushApplePush) -> Bool {
        one.body.hasSameBytes(as: other.body) && one.fields.elementsEqual(other.fields, by: ==)
    }

    /// Makes the push of a notification.
    ///
    /// - Throws: The word that APNs would answer, when a text can't be a header's value.
    package init(_ notification: GorushNotification) throws(GorushRefusal) {
        let apple = notification.apple
        var fields: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String, _ reason: String) throws(GorushRefusal) {
            guard !value.isEmpty else { return }
            guard value.utf8.count <= 64, value.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw GorushRefusal(reason: reason)
            }
            fields.append((name, value))
        }
        try add("apns-push-type", apple.pushType.isEmpty ? "alert" : apple.pushType, "InvalidPushType")
        switch notification.priority.name() {
        case "normal": fields.append(("apns-priority", "5"))
        case "high": fields.append(("apns-priority", "10"))
        default: break
        }
        if let expiration = apple.expiration, expiration > 0 {
            fields.append(("apns-expiration", String(expiration)))
        }
        try add("apns-id", apple.apnsID, "BadMessageId")
        try add("apns-collapse-id", apple.collapseID, "BadCollapseId")
        try add("apns-topic", notification.topic, "BadTopic")
        self.fields = fields
        // A key that would take the place of Apple's dictionary is not for senders to set.
        var root = notification.data
        root["aps"] = .object(GorushApplePush.aps(notification))
        body = JSON.object(root).text
    }

    private static func aps(_ notification: GorushNotification) -> JSON.Object {
        let apple = notification.apple
        var aps = apple.liveActivity
        aps["alert"] = alert(notification)
        if let badge = apple.badge, badge >= 0 { aps["badge"] = .integer(badge) }
        if notification.isMutableContent { aps["mutable-content"] = .integer(1) }
        if notification.isContentAvailable { aps["content-available"] = .integer(1) }
        aps["sound"] = sound(notification)
        if !apple.urlArguments.isEmpty { aps["url-args"] = .array(apple.urlArguments.map { .string($0) }) }
        for (key, text) in [
            ("thread-id", apple.threadID), ("category", apple.category),
            ("interruption-level", apple.interruptionLevel),
        ] where !text.isEmpty { aps[key] = .string(text) }
        return aps
    }

    private static func alert(_ notification: GorushNotification) -> JSON? {
        var members: JSON.Object = [:]
        if !notification.title.isEmpty {
            members["title"] = .string(notification.title)
            if !notification.message.isEmpty { members["body"] = .string(notification.message) }
        }
        members = members.merging(notification.apple.alert.members)
        if !members.isEmpty { return .object(members) }
        return notification.message.isEmpty ? nil : .string(notification.message)
    }

    private static func sound(_ notification: GorushNotification) -> JSON? {
        let apple = notification.apple
        var sound: JSON?
        switch notification.sound {
        case .string(let name): sound = name.isEmpty ? nil : .string(name)
        case .object(let members):
            var parts: JSON.Object = [:]
            if let critical = members["critical"]?.integer, critical != 0 {
                parts["critical"] = .integer(critical)
            }
            if let name = members["name"]?.string, !name.isEmpty { parts["name"] = .string(name) }
            switch members["volume"] {
            case .number(let volume) where volume != 0: parts["volume"] = .number(volume)
            case .integer(let volume) where volume != 0: parts["volume"] = .integer(volume)
            default: break
            }
            sound = .object(parts)
        default: break
        }
        guard !apple.soundName.isEmpty || apple.soundVolume > 0 else { return sound }
        var critical: JSON.Object = [
            "critical": .integer(1), "name": .string("default"), "volume": .integer(1),
        ]
        if !apple.soundName.isEmpty { critical["name"] = .string(apple.soundName) }
        if apple.soundVolume > 0 { critical["volume"] = .number(apple.soundVolume) }
        return .object(critical)
    }
}

/// Why one element, or one token of it, is not sent.
package struct GorushRefusal: Error, Equatable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
}
