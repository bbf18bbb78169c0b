import Clocks
import JSONCoding
import Relay

/// A notification as FCM's HTTP v1 interface takes it: `POST /v1/projects/<project>/messages:send`.
package enum FCMMessage {
    /// The text that the system shows for a message that isn't data-only; the words are bisq-relay's.
    static let title = "You have received a Bisq notification"
    static let text = "Click to decrypt"

    /// Seconds that FCM keeps a message at most: four weeks.
    static let longestLife: Int64 = 2_419_200

    /// Makes the body of a request. No collapse key but a sender's own is in it: a device keeps messages of
    /// four different keys only, and Google slows colliding ones to one in three minutes, so a key for each
    /// notification would lose some and one for all would lose most.
    ///
    /// - Parameters:
    ///   - withNotification: Whether the body has the block that the system shows by itself, for apps that
    ///     can't show data messages.
    package static func body(_ notification: Notification, withNotification: Bool, now: UnixTime) -> [UInt8] {
        if case .prepared(let push) = notification.content, case .exact(_, let body) = push.payload {
            return Array(body.utf8)
        }
        let left = ((notification.expiresAt - now).milliseconds + 999) / 1000
        let life = min(max(left, 0), longestLife)
        var body: [UInt8] = []
        body.reserveCapacity(notification.size + 256)
        // Checked tokens and messages hold nothing that JSON must escape.
        body.append(contentsOf: #"{"message":{"token":""#.utf8)
        body.append(contentsOf: notification.deviceToken.text.utf8)
        switch notification.content {
        case .bisq(let content):
            body.append(contentsOf: #"","data":{"encrypted":""#.utf8)
            body.append(contentsOf: content.message.utf8)
            body.append(contentsOf: #""},"#.utf8)
            if withNotification {
                body.append(contentsOf: #""notification":{"title":"\#(title)","body":"\#(text)"},"#.utf8)
            }
            let priority = content.isUrgent ? "high" : "normal"
            body.append(contentsOf: #""android":{"ttl":"\#(life)s","priority":"\#(priority)"}}}"#.utf8)
        case .prepared(let push): append(push, life: life, to: &body)
        }
        return body
    }

    /// Appends the rest of the message, from the quote that ends the token.
    private static func append(_ push: PreparedPush, life: Int64, to body: inout [UInt8]) {
        body.append(contentsOf: #"","#.utf8)
        body.append(contentsOf: push.body.utf8)
        body.append(contentsOf: #","android":{"priority":"\#(push.isUrgent ? "high" : "normal")""#.utf8)
        switch push.expiry {
        case .withNotification: body.append(contentsOf: #","ttl":"\#(life)s""#.utf8)
        case .atOnce: body.append(contentsOf: #","ttl":"0s""#.utf8)
        case .unsaid: break
        }
        if let collapseID = push.collapseID {
            body.append(contentsOf: #","collapse_key":"#.utf8)
            body.append(jsonString: collapseID)
        }
        body.append(contentsOf: "}}}".utf8)
    }

    /// Counts the bytes that Google counts, keys and values of `data` and `notification`; it takes 4,096.
    package static func payloadSize(_ content: BisqContent, withNotification: Bool) -> Int {
        let shown = "title".utf8.count + title.utf8.count + "body".utf8.count + text.utf8.count
        return "encrypted".utf8.count + content.message.utf8.count + (withNotification ? shown : 0)
    }
}
