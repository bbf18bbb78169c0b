/// What a phone gets.
package enum Content: Equatable, Sendable {
    /// Bisq's message, from which the gateways make their payload.
    case bisq(BisqContent)
    /// A payload that the door has made.
    indirect case prepared(PreparedPush)

    /// Sent before those that are not.
    package var isUrgent: Bool {
        switch self {
        case .bisq(let content): content.isUrgent
        case .prepared(let push): push.isUrgent
        }
    }

    /// Bytes that are kept of it.
    package var byteCount: Int {
        switch self {
        case .bisq(let content): content.message.utf8.count
        case .prepared(let push):
            push.body.utf8.count + push.android.utf8.count + (push.collapseID?.utf8.count ?? 0)
        }
    }
}

/// What Bisq's senders say of a notification.
package struct BisqContent: Equatable, Sendable {
    /// What the phone gets under the key `encrypted`: printable ASCII, nothing that JSON must escape.
    package var message: String
    /// Shown at once, as an alert; otherwise a background push.
    package var isUrgent: Bool
    package var hasSound: Bool
    package var isMutableContent: Bool
    package var isContentAvailable: Bool

    package init(
        message: String, isUrgent: Bool, hasSound: Bool, isMutableContent: Bool, isContentAvailable: Bool
    ) {
        self.message = message
        self.isUrgent = isUrgent
        self.hasSound = hasSound
        self.isMutableContent = isMutableContent
        self.isContentAvailable = isContentAvailable
    }
}

/// A push whose payload its door has made: the gateways add token, ids and times, and look at nothing else.
///
/// The door answers for the JSON: valid, UTF-8, no line break in ``collapseID``.
package struct PreparedPush: Equatable, Sendable {
    /// How Apple is to treat it (`apns-push-type`).
    package enum Kind: Equatable, Sendable {
        case alert, background
        /// As the sender's own protocol has it, with nothing of ours beside it: see ``init(exactly:fields:isUrgent:)``.
        case exact
    }

    /// Until when the gateway keeps it for a phone that is away.
    package enum Expiry: Int64, Equatable, Sendable {
        /// Until the notification expires.
        case withNotification = 0
        /// It is tried once.
        case atOnce = 1
        /// As the gateway itself likes: it is told nothing.
        case unsaid = 2
    }

    /// APNs: the whole body, a JSON object. FCM: the members of `message` beside `token` and `android`, without the
    /// braces around them: `"data":{"p":"…"}`.
    package var body: String
    /// FCM: members of `android` beside `ttl`, `priority` and `collapse_key`, without the braces; may be empty. APNs gets
    /// nothing of it, but for ``Kind/exact``: there it is header fields, `name: value` on a line each.
    package var android: String
    package var kind: Kind
    /// APNs priority 10 or 5, FCM `high` or `normal`.
    package var isUrgent: Bool
    package var expiry: Expiry
    /// What a later notification with the same one replaces on the phone: `apns-collapse-id`, FCM's `collapse_key`.
    /// At most ``longestCollapseID`` bytes. `nil`: APNs gets the notification's id, FCM nothing.
    package var collapseID: String?

    /// Apple's limit, in bytes; for FCM as well.
    package static let longestCollapseID = 64

    package init(
        body: String, android: String = "", kind: Kind = .alert, isUrgent: Bool = true,
        expiry: Expiry = .withNotification, collapseID: String? = nil
    ) {
        self.body = body
        self.android = android
        self.kind = kind
        self.isUrgent = isUrgent
        self.expiry = expiry
        self.collapseID = collapseID
    }

    /// A push that is the sender's to its last byte. No id, no expiry and no collapse id of ours goes along, so that a
    /// repetition after an unclear outcome shows twice.
    ///
    /// - Parameters:
    ///   - body: APNs: the whole body. FCM: the whole request with its target.
    ///   - fields: for APNs, beside authorization and topic; an `apns-topic` goes before the app's. No line breaks.
    ///   - isUrgent: sent by the node before those that are not.
    package init(exactly body: String, fields: [(name: String, value: String)] = [], isUrgent: Bool = true) {
        self.init(
            body: body, android: fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"),
            kind: .exact,
            isUrgent: isUrgent, expiry: .unsaid)
    }

    /// The fields of ``init(exactly:fields:isUrgent:)``.
    package var fields: [(name: Substring, value: Substring)] {
        android.split(separator: "\n").compactMap { line in
            line.firstRange(of: ": ").map { (line[..<$0.lowerBound], line[$0.upperBound...]) }
        }
    }
}
