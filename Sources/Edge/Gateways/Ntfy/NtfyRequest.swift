import Crypto
import Encodings
import HTTP2
import JSONCoding
import Relay

/// A notification as ntfy takes it: `POST /` with the topic in the body, where no proxy's log has it.
enum NtfyRequest {
    static let title = "Bisq"

    /// A topic for looking whether the server takes the node's token. Nothing is published there.
    static let nobody = DeviceToken("nt1:onionbell-watch-no-such-device")

    static func body(to topic: String, _ content: BisqContent, show: NtfyApp.Show) -> [UInt8] {
        var body = Array(#"{"topic":"#.utf8)
        body.append(jsonString: topic)
        body += #","title":"\#(title)","message":"#.utf8
        body.append(jsonString: show == .sealed ? content.message : BisqContent.bell)
        body += #","priority":\#(priority(of: content))}"#.utf8
        return body
    }

    /// Returns the priority: 4 is high, 3 the default, 2 without sound.
    private static func priority(of content: BisqContent) -> Int {
        content.isUrgent ? 4 : content.hasSound ? 3 : 2
    }

    /// Makes the head of a request. The id makes a repetition replace itself, where server and app know it
    /// (ntfy 2.16).
    static func head(
        _ id: NotificationID, at url: GatewayURL, _ login: NtfyGateway.Login?
    ) -> HTTP2Headers {
        var head = HTTP2Headers(method: "POST", authority: url.authority, path: "/")
        add(login, to: &head)
        head.add("content-type", "application/json")
        head.add("x-sequence-id", id.uuid)
        return head
    }

    static func add(_ login: NtfyGateway.Login?, to head: inout HTTP2Headers) {
        if let login { head.add("authorization", login.authorization.bytes.span, .never) }
    }
}
