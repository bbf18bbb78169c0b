import Crypto
import HTTP1
import Relay

/// The heads of answers that go on.
extension MailboxDoor {
    /// Returns the head of the answer; `nil`: the client wants a WebSocket and does not open one.
    static func head(of wanted: MailboxRequest, answering request: HTTPRequest) -> [UInt8]? {
        let type: String
        switch wanted.kind {
        case .ws: return WebSocketHandshake.answer(to: request, sha1: Hash.sha1)
        case .json, .auth: type = "application/x-ndjson; charset=utf-8"
        case .sse: type = "text/event-stream; charset=utf-8"
        case .raw: type = "text/plain; charset=utf-8"
        }
        var head: [UInt8] = []
        HTTPResponse.mailbox([], type: type).encodeHeadOfChunks(into: &head)
        return head
    }

    static let crossOrigin: HTTPResponse = {
        var response = HTTPResponse.mailbox([])
        response.fields.append("access-control-allow-methods", "GET, POST, PUT, DELETE")
        response.fields.append("access-control-allow-headers", "*, authorization")
        return response
    }()

    static func newID() -> String {
        MailboxMessage.id(of: NotificationID(high: .random(in: 0 ... .max), low: 0))
    }
}
