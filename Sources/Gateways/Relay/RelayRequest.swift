import Encodings
import HTTP2
import Relay

/// A notification as another relay takes it.
///
/// A checked message and a checked token hold nothing that JSON or a URL must escape.
struct RelayRequest: Equatable {
    var method: String
    /// With the query.
    var target: String
    var body: [UInt8]

    /// Tells an Onionbell that this one hands on what came to it: it must not do the same.
    static let hops = "1"

    init(_ notification: Notification, _ content: BisqContent, form: RelayForm, below base: String) {
        let base = base.hasSuffix("/") ? String(base.dropLast()) : base
        let isAndroid = notification.lane.host == .android
        switch form {
        case .bisq1:
            method = "GET"
            target = base + RelayRequest.query(notification, content, isAndroid: isAndroid)
            body = []
        case .bisq2:
            method = "POST"
            target = "\(base)/v1/\(isAndroid ? "fcm" : "apns")/device/\(notification.deviceToken.text)"
            body = RelayRequest.json(content)
        }
    }

    /// Bisq 1's parameters in Bisq 1's order, and one more where it says something.
    private static func query(
        _ notification: Notification, _ content: BisqContent, isAndroid: Bool
    ) -> String {
        let isProduction = notification.lane.host == .ios
        var query = "/relay?isAndroid=\(isAndroid)&isProduction=\(isProduction)"
        query += "&isContentAvailable=\(content.isContentAvailable)&snd=\(content.hasSound)"
        query += "&token=\(Hex.encode(Array(notification.deviceToken.text.utf8)))"
        query += "&msg=\(Hex.encode(Array(content.message.utf8)))"
        if content.isMutableContent { query += "&mutableContent=true" }
        return query
    }

    private static func json(_ content: BisqContent) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(content.message.utf8.count + 64)
        body.append(contentsOf: #"{"encrypted":""#.utf8)
        body.append(contentsOf: content.message.utf8)
        body.append(contentsOf: #"","isUrgent":\#(content.isUrgent)"#.utf8)
        body.append(contentsOf: #","isMutableContent":\#(content.isMutableContent)}"#.utf8)
        return body
    }

    func head(authority: String) -> HTTP2Headers {
        var head = HTTP2Headers(method: method, authority: authority, path: target)
        if !body.isEmpty { head.add("content-type", "application/json") }
        head.add("onionbell-hops", RelayRequest.hops)
        return head
    }
}
