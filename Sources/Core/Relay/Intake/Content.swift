import Encodings

/// The content that a phone gets.
package enum Content: Equatable, Sendable {
    /// Bisq's message, from which each service makes its payload.
    case bisq(BisqContent)
    /// A payload that the door has made.
    indirect case prepared(PreparedPush)

    /// Whether the notification is sent before those that are not urgent.
    package var isUrgent: Bool {
        switch self {
        case .bisq(let content): content.isUrgent
        case .prepared(let push): push.isUrgent
        }
    }

    /// The number of bytes that are kept of the content.
    package var byteCount: Int {
        switch self {
        case .bisq(let content): content.message.utf8.count
        case .prepared(let push): push.byteCount
        }
    }
}

/// The content and flags of one of Bisq's notifications.
package struct BisqContent: Equatable, Sendable {
    /// The text that the phone gets under the key `encrypted`: printable ASCII, nothing that JSON must escape.
    package var message: String
    /// Whether the notification is shown at once, as an alert; otherwise it is a background push.
    package var isUrgent: Bool
    package var hasSound: Bool
    package var isMutableContent: Bool
    package var isContentAvailable: Bool

    /// The text that a phone shows when nothing on it can decrypt the message.
    package static let bell = "Something happened in Bisq. Open it to see what."

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
    package enum Payload: Equatable, Sendable {
        /// A whole body, a JSON object; shown at once, or for the app in the background.
        case object(_ body: String, isAlert: Bool = true)
        /// Members of a JSON object without the braces around them, `"data":{"p":"…"}`: the gateway adds the others.
        case members(String)
        /// The push as the sender's own protocol has it, to the last byte: the whole body of the request, and
        /// fields of its head beside authorization. What it says there goes before the app's. No line breaks
        /// in fields.
        case exact(fields: [Field] = [], body: String)
    }

    /// A field of a request's head.
    package struct Field: Equatable, Sendable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The time until which the gateway keeps a push for a phone that is away.
    package enum Expiry: Int64, Equatable, Sendable {
        /// The gateway keeps the push until the notification expires.
        case withNotification = 0
        /// The push is tried once.
        case atOnce = 1
        /// The gateway keeps the push for as long as it likes: the request says nothing of it.
        case unsaid = 2
    }

    package var payload: Payload
    /// Whether the push is urgent, also on its way to the phone. The node sends it before those that are not.
    package var isUrgent: Bool
    package var expiry: Expiry
    /// The id by which a later notification takes this one's place on the phone. At most ``longestCollapseID`` bytes.
    /// `nil`: as the gateway has it.
    package var collapseID: String?

    /// The least of the services' limits, in bytes.
    package static let longestCollapseID = 64

    /// The body that the door has made, without what stands in the request's head.
    package var body: String {
        switch payload {
        case .object(let body, _), .members(let body), .exact(_, let body): body
        }
    }

    /// The number of bytes that are kept of the content.
    var byteCount: Int {
        var count = body.utf8.count + (collapseID?.utf8.count ?? 0)
        if case .exact(let fields, _) = payload {
            // As the outbox writes them: `name: value`, a line each.
            count += fields.reduce(max(fields.count - 1, 0)) {
                $0 + $1.name.utf8.count + 2 + $1.value.utf8.count
            }
        }
        return count
    }
}

// By the memberwise initializer: a value that one of our own fills is copied once more as a whole, and dropped.
extension PreparedPush {
    package init(
        _ payload: Payload, isUrgent: Bool = true, expiry: Expiry = .withNotification,
        collapseID: String? = nil
    ) {
        self.init(payload: payload, isUrgent: isUrgent, expiry: expiry, collapseID: collapseID)
    }

    /// Makes a push that is the sender's to its last byte. No id, no expiry and no collapse id of ours goes
    /// along, so that a repetition after an unclear outcome shows twice.
    package init(exactly body: String, fields: [Field] = [], isUrgent: Bool = true) {
        self.init(.exact(fields: fields, body: body), isUrgent: isUrgent, expiry: .unsaid)
    }
}
