import Clocks
import Crypto
import Encodings
import HTTP2
import Relay

/// Makes the header fields of the requests to one of Apple's hosts. One list is used for all requests; fields that many
/// requests share are made once.
struct APNsHeads {
    /// The two facts about a push that decide the header fields which many pushes share. A push whose sender has set its own
    /// fields (``PreparedPush``) has none of these.
    private struct Kind: Equatable {
        var isAlert: Bool
        var isUrgent: Bool
    }

    private let topic: String
    private var kind: Kind?
    /// The shared header fields of pushes of ``kind``.
    private var common = HTTP2Headers()
    /// The header fields of the request that was made last. The first ``opening`` fields stay from one request to the next.
    private var head = HTTP2Headers()
    private let opening: Int

    init(authority: String, topic: String) {
        self.topic = topic
        head.add(":method", "POST")
        head.add(":scheme", "https")
        head.add(":authority", authority)
        opening = head.count
    }

    /// Makes the head of one notification's request.
    ///
    /// `apns-id` and the collapse id are the notification's and the same on each attempt: a repetition after an unclear
    /// outcome takes the first one's place on the phone. A sender's own collapse id goes before it. `apns-expiration` is
    /// in whole seconds; what is to be tried once expires when it was accepted.
    ///
    /// Apple keeps a small HPACK table: nothing that differs each time comes into it, nor do path and provider token. To
    /// compress what is not kept would take a fifth of the whole way of a notification.
    ///
    /// - Parameter authorization: `bearer <provider token>`; `nil` where the connection's certificate says who we are.
    mutating func head(of notification: Notification, authorization: Secret?) -> HTTP2Headers {
        head.keepFirst(opening)
        head.add(":path", "/3/device/", notification.deviceToken.text, .never)
        let isUrgent = notification.content.isUrgent
        switch notification.content {
        case .bisq:
            add(Kind(isAlert: isUrgent, isUrgent: isUrgent))
            add(notification, expiresAt: notification.expiresAt, collapseID: nil)
        case .prepared(let push):
            let isAlert: Bool
            switch push.payload {
            case .exact(let fields, _):
                add(exact: fields)
                if let authorization { head.add("authorization", authorization.bytes.span, .verbatim) }
                return head
            case .object(_, let kind): isAlert = kind
            // The core lets none through.
            case .members: isAlert = false
            }
            let expiresAt: UnixTime? =
                switch push.expiry {
                case .withNotification: notification.expiresAt
                case .atOnce: notification.acceptedAt
                case .unsaid: nil
                }
            add(Kind(isAlert: isAlert, isUrgent: isUrgent))
            add(notification, expiresAt: expiresAt, collapseID: push.collapseID)
        }
        if let authorization { head.add("authorization", authorization.bytes.span, .verbatim) }
        return head
    }

    private mutating func add(_ kind: Kind) {
        if kind != self.kind {
            self.kind = kind
            common.keepFirst(0)
            common.add("apns-topic", topic)
            common.add("apns-push-type", kind.isAlert ? "alert" : "background")
            common.add("apns-priority", kind.isUrgent ? "10" : "5")
        }
        head.add(common)
    }

    private mutating func add(_ notification: Notification, expiresAt: UnixTime?, collapseID: String?) {
        if let expiresAt { head.add("apns-expiration", String(expiresAt.milliseconds / 1000), .verbatim) }
        let id = notification.id.uuidText
        head.add("apns-id", id.span, .verbatim)
        if let collapseID {
            head.add("apns-collapse-id", collapseID, .verbatim)
        } else {
            head.add("apns-collapse-id", id.span, .verbatim)
        }
    }

    private mutating func add(exact fields: [PreparedPush.Field]) {
        head.add("apns-topic", APNsHeads.ownTopic(fields) ?? topic)
        for name in APNsHeads.exactFields {
            guard let field = fields.first(where: { $0.name == name.description }) else { continue }
            head.add(name, field.value, .verbatim)
        }
    }

    /// Whether the sender has chosen another topic than the app's.
    func hasOwnTopic(_ notification: Notification) -> Bool {
        guard case .prepared(let push) = notification.content, case .exact(let fields, _) = push.payload
        else {
            return false
        }
        return (APNsHeads.ownTopic(fields) ?? topic) != topic
    }

    private static func ownTopic(_ fields: [PreparedPush.Field]) -> String? {
        fields.first { $0.name == "apns-topic" }?.value
    }

    /// The fields that a sender's own protocol may set beside the topic.
    private static let exactFields: [StaticString] = [
        "apns-push-type", "apns-priority", "apns-expiration", "apns-id", "apns-collapse-id",
    ]
}
