import JSON
import Relay

/// A notification as FCM's HTTP v1 interface takes it: `POST /v1/projects/<project>/messages:send`.
package enum FCMMessage {
    /// The text that the system shows for a message that isn't data-only; the words are bisq-relay's.
    static let title = "You have received a Bisq notification"
    static let text = "Click to decrypt"

    /// Seconds that FCM keeps a message at most: four weeks.
    static let longestLife: Int64 = 2_419_200

    /// No collapse key: a device keeps messages of four different keys only, and Google slows colliding ones to one in
    /// three minutes, so a key for each notification would lose some and one for all would lose most.
    ///
    /// - Parameters:
    ///   - withNotification: the block that the system shows by itself, for apps that can't show data messages.
    ///   - now: milliseconds since 1970.
    package static func body(_ notification: Notification, withNotification: Bool, now: Int64) -> [UInt8] {
        let left = (notification.expiresAt - now + 999) / 1000
        let life = min(max(left, 0), longestLife)
        var body: [UInt8] = []
        body.reserveCapacity(notification.message.utf8.count + notification.deviceToken.utf8.count + 256)
        // Checked tokens and messages hold nothing that JSON must escape.
        body.append(contentsOf: #"{"message":{"token":""#.utf8)
        body.append(contentsOf: notification.deviceToken.utf8)
        body.append(contentsOf: #"","data":{"encrypted":""#.utf8)
        body.append(contentsOf: notification.message.utf8)
        body.append(contentsOf: #""},"#.utf8)
        if withNotification {
            body.append(contentsOf: #""notification":{"title":"\#(title)","body":"\#(text)"},"#.utf8)
        }
        let priority = notification.isUrgent ? "high" : "normal"
        body.append(contentsOf: #""android":{"ttl":"\#(life)s","priority":"\#(priority)"}}}"#.utf8)
        return body
    }

    /// Bytes that Google counts, keys and values of `data` and `notification`; it takes 4,096.
    package static func payloadSize(_ notification: Notification, withNotification: Bool) -> Int {
        let shown = "title".utf8.count + title.utf8.count + "body".utf8.count + text.utf8.count
        return "encrypted".utf8.count + notification.message.utf8.count + (withNotification ? shown : 0)
    }
}
