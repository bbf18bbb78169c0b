import Clocks
import Crypto
import Encodings
import HTTP2
import Relay

/// A notification as a push service takes it (RFC 8030, section 5): `POST <path of the endpoint>`.
enum WebPushRequest {
    /// The lengths to which messages are filled up, so that the push service learns no kind by the length.
    static let steps = [1024, 2048, 2600]
    static let longestMessage = 2600
    /// Seconds that the push services keep a notification at most: 28 days for Firefox on Android.
    static let longestLife: Int64 = 2_419_200

    /// Seals the message for the subscription: 100 to 250 us of work.
    static func body(
        _ message: String, for subscription: WebPushSubscription
    ) throws(CryptoError) -> [UInt8] {
        let plain = Array(message.utf8)
        return try WebPushEncryption.seal(
            plain, paddedTo: steps.first { $0 >= plain.count } ?? plain.count, for: subscription.point,
            secret: subscription.auth)
    }

    /// Makes the head of a request. Path and authorization are secrets: HPACK never keeps them.
    ///
    /// - Parameter now: Milliseconds since 1970.
    static func head(
        of notification: Notification, to endpoint: PushEndpoint, authorization: Secret, now: UnixTime
    ) -> HTTP2Headers {
        var head = HTTP2Headers()
        head.add(":method", "POST")
        head.add(":scheme", endpoint.isOnion ? "http" : "https")
        head.add(":authority", endpoint.authority)
        head.add(":path", endpoint.path, .never)
        head.add("content-encoding", "aes128gcm")
        head.add("content-type", "application/octet-stream")
        // Apple wants a positive number.
        let left = ((notification.expiresAt - now).milliseconds + 999) / 1000
        head.add("ttl", String(min(max(left, 1), longestLife)))
        head.add("urgency", notification.content.isUrgent ? "high" : "normal")
        head.add("authorization", authorization.bytes.span, .verbatim)
        head.add("topic", topic(notification.id), .verbatim)
        return head
    }

    /// Returns the topic of a notification: the same on each attempt and for each repetition, and 32 characters, as Apple
    /// refuses lengths that base64 can't have.
    static func topic(_ id: NotificationID) -> String {
        let digest = Hash.sha256(Array("topic \(id.uuid)".utf8))
        return Base64.encodeForURL(Array(digest[..<24]))
    }
}
