import HTTP2
import Relay

/// A notification as APNs takes it: `POST /3/device/<token>` (Apple, "Sending notification requests to APNs").
package enum APNsRequest {
    /// The body that the door has made, or Bisq's, byte for byte as bisq-relay 2.0.0 writes it:
    /// `{"encrypted":"…","aps":{"alert":{"loc-key":"notification"},"content-available":1,"mutable-content":1}}`.
    ///
    /// One that is not urgent is a true background push: no alert and no sound, as Apple's rule for that push type asks.
    package static func body(_ notification: Notification) -> [UInt8] {
        switch notification.content {
        case .bisq(let content): body(content)
        case .prepared(let push): Array(push.body.utf8)
        }
    }

    private static func body(_ content: BisqContent) -> [UInt8] {
        let ending = ending(content)
        var body: [UInt8] = []
        body.reserveCapacity(opening.count + content.message.utf8.count + ending.count)
        body.append(contentsOf: opening)
        // A checked message holds nothing that JSON must escape.
        body.append(contentsOf: content.message.utf8)
        body.append(contentsOf: ending)
        return body
    }

    /// Bytes of ``body(_:)``; Apple takes 4,096.
    package static func payloadSize(_ content: BisqContent) -> Int {
        opening.count + content.message.utf8.count + ending(content).count
    }

    private static let opening = Array(#"{"encrypted":""#.utf8)
    private static let backgroundEnding = Array(#"","aps":{"content-available":1}}"#.utf8)

    private static func ending(_ content: BisqContent) -> [UInt8] {
        guard content.isUrgent else { return backgroundEnding }
        return alertEndings[
            (content.isContentAvailable ? 1 : 0) + (content.hasSound ? 2 : 0)
                + (content.isMutableContent ? 4 : 0)]
    }

    /// For each choice of content-available (1), sound (2) and mutable-content (4).
    private static let alertEndings: [[UInt8]] = (0..<8).map { choice in
        var ending = #"","aps":{"alert":{"loc-key":"notification"}"#
        if choice & 1 != 0 { ending += #","content-available":1"# }
        if choice & 2 != 0 { ending += #","sound":"default""# }
        if choice & 4 != 0 { ending += #","mutable-content":1"# }
        return Array((ending + "}}").utf8)
    }
}

extension APNsRequest {
    /// Puts the head of one notification's request in place of what `head` holds.
    ///
    /// `apns-id` and the collapse id are the notification's and the same on each attempt: a repetition after an unclear
    /// outcome takes the first one's place on the phone. A sender's own collapse id goes before it. `apns-expiration` is
    /// in whole seconds; what is to be tried once expires when it was accepted.
    ///
    /// Apple keeps a small HPACK table: what differs each time is indexed on a connection's first request only, so that
    /// the names are known; path and provider token never are (nghttp2 indexes no `authorization` by itself).
    ///
    /// - Parameters:
    ///   - authorization: `bearer <provider token>`; `nil` where the connection's certificate says who we are.
    ///   - isFirst: whether it is the first on its connection.
    static func write(
        _ notification: Notification, authority: String, topic: String, authorization: String?, isFirst: Bool,
        to head: inout HTTP2Headers
    ) {
        let changing: HTTP2Headers.Indexing = isFirst ? .automatic : .never
        head.begin(method: "POST", authority: authority) { path in
            path += "/3/device/".utf8
            path += notification.deviceToken.utf8
        }
        if let authorization { head.add("authorization", authorization, .never) }
        var isAlert = notification.content.isUrgent
        var expiresAt: Int64? = notification.expiresAt
        var ownCollapseID: String?
        if case .prepared(let push) = notification.content {
            guard push.kind != .exact else { return write(exactly: push, topic: topic, changing, to: &head) }
            isAlert = push.kind == .alert
            ownCollapseID = push.collapseID
            switch push.expiry {
            case .withNotification: break
            case .atOnce: expiresAt = notification.acceptedAt
            case .unsaid: expiresAt = nil
            }
        }
        head.add("apns-topic", topic)
        head.add("apns-push-type", isAlert ? "alert" : "background")
        head.add("apns-priority", notification.content.isUrgent ? "10" : "5")
        if let expiresAt { head.add("apns-expiration", String(expiresAt / 1000), changing) }
        let id = notification.id.uuid
        head.add("apns-id", id, changing)
        head.add("apns-collapse-id", ownCollapseID ?? id, changing)
    }

    /// The same by itself.
    static func head(
        _ notification: Notification, authority: String, topic: String, authorization: String?, isFirst: Bool
    ) -> HTTP2Headers {
        var head = HTTP2Headers()
        write(
            notification, authority: authority, topic: topic, authorization: authorization, isFirst: isFirst,
            to: &head)
        return head
    }

    private static func write(
        exactly push: PreparedPush, topic: String, _ changing: HTTP2Headers.Indexing,
        to head: inout HTTP2Headers
    ) {
        let fields = push.fields
        let own = fields.first { $0.name == "apns-topic" }.map { String($0.value) }
        head.add("apns-topic", own ?? topic)
        for name in exactFields {
            guard let field = fields.first(where: { $0.name == name.description }) else { continue }
            head.add(name, String(field.value), changing)
        }
    }

    /// What a sender's own protocol may say beside the topic.
    private static let exactFields: [StaticString] = [
        "apns-push-type", "apns-priority", "apns-expiration", "apns-id", "apns-collapse-id",
    ]
}
