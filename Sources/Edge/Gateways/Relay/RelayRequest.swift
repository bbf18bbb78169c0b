import Clocks
import Encodings
import HTTP2
import Relay
import Wire

/// A notification as another relay takes it.
///
/// A checked message and a checked token hold nothing that JSON or a URL must escape.
struct RelayRequest: Equatable {
    var method: String
    /// The target with the query; of a frame, the uid.
    var target: String
    var body: [UInt8]

    /// The mark by which an Onionbell sees that another one has handed the request on. It must not hand the request on again.
    static let hops: UInt32 = 1

    init(
        _ notification: Notification, _ content: BisqContent, on platform: Platform, form: RelayForm,
        below base: String = "/", peer: RelayPeer = RelayPeer()
    ) {
        let base = base.hasSuffix("/") ? String(base.dropLast()) : base
        switch form {
        case .bisq1:
            method = "GET"
            target = base + RelayRequest.query(notification, content, on: platform)
            body = []
        case .bisq2:
            method = "POST"
            let service = platform == .android ? "fcm" : "apns"
            target = "\(base)/v1/\(service)/device/\(notification.deviceToken.text)"
            body = RelayRequest.json(content)
        case .p2p:
            method = ""
            target = notification.id.uuid
            body = RelayRequest.frame(notification, content, on: platform, to: peer)
        }
    }

    /// The time by which the other node's copy expires sooner than ours at the longest life. The other node's clock may be
    /// late, and a node refuses a notification with a longer life than that.
    static let clockSkew: Duration = .seconds(3600)

    /// Makes the frame of a request. The uid is made of the target and the sender's uid under this node's
    /// key, so a repetition has it again, also when this node no longer remembers the first one. So has all
    /// the rest of the request.
    private static func frame(
        _ notification: Notification, _ content: BisqContent, on platform: Platform, to peer: RelayPeer
    ) -> [UInt8] {
        var request = MobileNotificationRequest()
        request.uid = notification.id.uuid
        request.platform = platform
        request.app = peer.app
        request.deviceToken = notification.deviceToken.text
        request.message = content.message
        request.isUrgent = content.isUrgent
        request.hasSound = content.hasSound
        request.isMutableContent = content.isMutableContent
        request.isContentAvailable = content.isContentAvailable
        let longest = Validator.longestLifetime - clockSkew
        request.expiresAt = min(notification.expiresAt, notification.acceptedAt + longest).milliseconds
        request.awaitsOutcome = true
        request.hops = hops
        return Envelope(
            messageVersion: peer.network.messageVersion, message: .notificationRequest(request)
        ).frame
    }

    /// Makes the path and query: Bisq 1's parameters in Bisq 1's order, and `mutableContent` where it says
    /// something.
    private static func query(
        _ notification: Notification, _ content: BisqContent, on platform: Platform
    ) -> String {
        var query = "/relay?isAndroid=\(platform == .android)&isProduction=\(platform == .ios)"
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
        // Also with GET, which has no body: a newer relay of Bisq's takes no request without a type.
        if !method.isEmpty { head.add("content-type", "application/json") }
        head.add("onionbell-hops", String(RelayRequest.hops))
        return head
    }
}

/// The fields of a frame beside its notification.
struct RelayPeer: Equatable, Sendable {
    /// The other node's name for the app; empty: its default for the platform.
    var app = ""
    var network = BisqNetwork.mainnet
}
