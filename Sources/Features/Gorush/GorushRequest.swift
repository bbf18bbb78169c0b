import Encodings
import JSONCoding

/// Why a whole request is refused, with gorush's own texts but for the last. There is one for all that can't be read.
package enum GorushFault: Error, Equatable {
    case missing
    case empty
    case tooMany(count: Int, limit: Int)
    /// Gorush takes any number.
    case tooManyTokens(count: Int, limit: Int)

    package var message: String {
        switch self {
        case .missing: "Missing notifications field."
        case .empty: "Notifications field is empty."
        case .tooMany(let count, let limit): "Number of notifications(\(count)) over limit(\(limit))"
        case .tooManyTokens(let count, let limit): "Number of tokens(\(count)) over limit(\(limit))"
        }
    }
}

/// The body of `POST /api/push` (appleboy/gorush, `notify/notification.go`).
package struct GorushRequest {
    package let notifications: [GorushNotification]

    /// The most tokens of all elements together.
    package static let mostTokens = 1000

    /// Reads a request.
    ///
    /// - Parameter limit: The most elements that there may be.
    package init(_ body: [UInt8], limit: Int) throws(GorushFault) {
        let document: JSON
        do {
            document = try JSON(body, maximumDepth: 32, ignoresRest: true)
        } catch {
            throw .missing
        }
        guard let members = document.object,
            let elements = GorushFields(members).any("notifications")?.array
        else { throw .missing }
        guard !elements.isEmpty else { throw .empty }
        // Before they are read: each element has some fifty names to look for.
        guard elements.count <= limit else { throw .tooMany(count: elements.count, limit: limit) }
        var notifications: [GorushNotification] = []
        for element in elements {
            switch element {
            case .object(let members): notifications.append(try GorushNotification(GorushFields(members)))
            case .null: notifications.append(try GorushNotification(GorushFields([:])))
            default: throw .missing
            }
        }
        let tokens = notifications.reduce(0) { $0 + $1.tokens.count + ($1.to.isEmpty ? 0 : 1) }
        guard tokens <= GorushRequest.mostTokens else {
            throw .tooManyTokens(count: tokens, limit: GorushRequest.mostTokens)
        }
        self.notifications = notifications
    }
}

/// One element: the same text for several phones of one platform.
package struct GorushNotification {
    package let id: String
    package var tokens: [String]
    /// The platform; `nil` for a number that is neither: left out in silence.
    package let platform: Platform?
    package let message: String
    package let title: String
    package let image: String
    package let priority: String
    package let isContentAvailable: Bool
    package let isMutableContent: Bool
    /// A text or an object.
    package let sound: JSON?
    package let data: JSON.Object
    package let topic: String
    /// Android: one more token, which gorush doesn't count.
    package let to: String
    /// Android: whom it is for, said in topics.
    package let condition: String
    package let apple: GorushAppleFields
    package let google: GorushGoogleFields

    init(_ fields: GorushFields) throws(GorushFault) {
        id = try fields.string("notif_id")
        tokens = try fields.strings("tokens")
        platform =
            switch try fields.integer("platform") {
            case 1: .ios
            case 2: .android
            case _: nil
            }
        message = try fields.string("message")
        title = try fields.string("title")
        image = try fields.string("image")
        priority = try fields.string("priority")
        isContentAvailable = try fields.bool("content_available")
        isMutableContent = try fields.bool("mutable_content")
        sound = fields.any("sound")
        data = try fields.object("data") ?? [:]
        topic = try fields.string("topic")
        to = try fields.string("to")
        condition = try fields.string("condition")
        // How often to repeat is the node's to decide, but the type counts.
        _ = try fields.integer("retry")
        apple = try GorushAppleFields(fields)
        google = try GorushGoogleFields(fields)
    }

    /// The number of pushes as gorush counts: a topic is one more, on Apple's side too, where it only names
    /// the app.
    package var count: Int { tokens.count + (topic.isEmpty ? 0 : 1) }
}

/// The fields that only Apple's phones get.
package struct GorushAppleFields {
    /// Seconds since 1970.
    package let expiration: Int64?
    package let apnsID: String
    package let collapseID: String
    package let pushType: String
    package let badge: Int64?
    package let category: String
    package let threadID: String
    package let urlArguments: [String]
    package let alert: GorushAlert
    package let isProduction: Bool
    package let isDevelopment: Bool
    package let soundName: String
    package let soundVolume: Double
    package let interruptionLevel: String
    /// The fields of a Live Activity, by the names that Apple has for them too.
    package let liveActivity: JSON.Object

    init(_ fields: GorushFields) throws(GorushFault) {
        expiration = try fields.integer("expiration")
        apnsID = try fields.string("apns_id")
        collapseID = try fields.string("collapse_id")
        pushType = try fields.string("push_type")
        badge = try fields.integer("badge")
        category = try fields.string("category")
        threadID = try fields.string("thread-id")
        urlArguments = try fields.strings("url-args")
        alert = try GorushAlert(GorushFields(try fields.object("alert") ?? [:]))
        isProduction = try fields.bool("production")
        isDevelopment = try fields.bool("development")
        soundName = try fields.string("name")
        soundVolume = try fields.number("volume")
        interruptionLevel = try fields.string("interruption_level")
        var activity: JSON.Object = [:]
        for key in ["event", "attributes-type"] {
            let text = try fields.string(key)
            if !text.isEmpty { activity[key] = .string(text) }
        }
        for key in ["timestamp", "stale-date", "dismissal-date"] {
            if let time = try fields.integer(key), time != 0 { activity[key] = .integer(time) }
        }
        for key in ["content-state", "attributes"] {
            if let members = try fields.object(key) { activity[key] = .object(members) }
        }
        let score = try fields.number("relevance-score")
        if score != 0 { activity["relevance-score"] = .number(score) }
        liveActivity = activity
    }
}

/// The alert that is shown, in Apple's words: any of it makes the alert an object.
package struct GorushAlert {
    package let members: JSON.Object

    init(_ fields: GorushFields) throws(GorushFault) {
        var members: JSON.Object = [:]
        for key in [
            "title", "body", "subtitle", "loc-key", "title-loc-key", "action", "action-loc-key",
            "launch-image",
            "summary-arg",
        ] {
            let text = try fields.string(key)
            if !text.isEmpty { members[key] = .string(text) }
        }
        for key in ["loc-args", "title-loc-args"] {
            let texts = try fields.strings(key)
            if !texts.isEmpty { members[key] = .array(texts.map { .string($0) }) }
        }
        if let count = try fields.integer("summary-arg-count"), count > 0 {
            members["summary-arg-count"] = .integer(count)
        }
        self.members = members
    }
}

/// The blocks of FCM's HTTP v1 interface, as they are passed on.
package struct GorushGoogleFields {
    package let notification: JSON.Object?
    package let android: JSON.Object?
    package let webpush: JSON.Object?
    package let apns: JSON.Object?
    package let options: JSON.Object?

    init(_ fields: GorushFields) throws(GorushFault) {
        notification = try GorushGoogleFields.block(fields, "notification", ["title", "body", "image"])
        android = try GorushGoogleFields.block(
            fields, "android",
            [
                "collapse_key", "priority", "ttl", "restricted_package_name", "data", "notification",
                "fcm_options", "direct_boot_ok",
            ])
        webpush = try GorushGoogleFields.block(
            fields, "webpush", ["headers", "data", "notification", "fcm_options"])
        apns = try GorushGoogleFields.block(
            fields, "apns", ["headers", "payload", "fcm_options", "live_activity_token"])
        options = try GorushGoogleFields.block(fields, "fcm_options", ["analytics_label"])
    }

    /// Reads an object's known members. Keys that gorush's library doesn't know vanish in it.
    private static func block(
        _ fields: GorushFields, _ key: String, _ known: [String]
    ) throws(GorushFault) -> JSON.Object? {
        try fields.object(key)?.filter { known.contains($0.key) }
    }
}
