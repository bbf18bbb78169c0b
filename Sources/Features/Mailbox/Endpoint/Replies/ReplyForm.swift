import Encodings
import HTTP1
import Relay

/// The way back over HTTP: `POST /v1/replies/<channel>` leaves a reply, `GET` fetches what waits. Both show the mailbox's
/// address as a token.
enum ReplyForm: Equatable {
    case post([UInt8])
    case fetch(acknowledged: Int64, wait: Duration)

    private static let path = "/v1/replies/"

    /// Returns the channel that a path names; `nil`: the path names none.
    static func channel(inPath path: String) -> String? {
        guard path.utf8.count == ReplyForm.path.utf8.count + 32, path.hasPrefix(ReplyForm.path) else {
            return nil
        }
        return String(path.dropFirst(ReplyForm.path.count))
    }

    init(_ request: HTTPRequest) throws(MailboxFault) {
        guard request.method == "GET" else {
            guard !request.body.isEmpty else { throw .badRequest }
            guard request.body.count <= MailboxReply.longest else { throw .tooLarge }
            self = .post(request.body)
            return
        }
        let query: HTTPQuery
        do throws(HTTPFault) {
            query = try HTTPQuery(request.query ?? "")
        } catch {
            throw .badRequest
        }
        guard let acknowledged = ReplyForm.number(query["acknowledge"]),
            let wait = ReplyForm.number(query["wait"])
        else { throw .badRequest }
        self = .fetch(acknowledged: acknowledged, wait: .seconds(min(wait, 3600)))
    }

    /// Reads a number of digits; a missing text is 0.
    private static func number(_ text: String?) -> Int64? {
        guard let text else { return 0 }
        guard (1...18).contains(text.utf8.count), text.consists(of: ASCII.digit) else {
            return nil
        }
        return Int64(text)
    }

    static func body(of replies: [MailboxReply]) -> [UInt8] {
        let items = replies.map { #"{"number":\#($0.number),"sealed":"\#(Base64.encode($0.sealed))"}"# }
        return Array(#"{"replies":[\#(items.joined(separator: ","))]}"#.utf8) + [UInt8(ascii: "\n")]
    }
}
