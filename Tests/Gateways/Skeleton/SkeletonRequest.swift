import Encodings
import HTTP2
import JSONCoding
import Relay

@testable import Gateways

/// A notification as the skeleton's service takes it: `POST /push` with a JSON object.
///
/// A credential goes into a field of the head that HTTP/2 never keeps in a table (`.never`). The device goes into the
/// body: paths stand in the logs of proxies.
struct SkeletonRequest {
    /// An address in the service's form that no phone has.
    static let nobody = DeviceToken("sk1:nobody")

    let head: HTTP2Headers
    let body: [UInt8]

    /// `nil` for a content that the service can't carry. The id lets the service drop a repetition: an attempt whose answer
    /// was lost is made again.
    init?(_ notification: Notification, at url: GatewayURL, key: String) {
        guard case .bisq(let content) = notification.content else { return nil }
        var head = HTTP2Headers(method: "POST", authority: url.authority, path: "/push")
        head.add("authorization", "Bearer \(key)", .never)
        head.add("content-type", "application/json")
        head.add("idempotency-key", notification.id.uuid)
        self.head = head
        var body = Array(#"{"device":"#.utf8)
        body.append(jsonString: notification.deviceToken.text)
        body += #","message":"#.utf8
        body.append(jsonString: content.message)
        body.append(UInt8(ascii: "}"))
        self.body = body
    }
}
