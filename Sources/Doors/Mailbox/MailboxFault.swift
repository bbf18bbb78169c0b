import HTTP1
import JSONCoding

/// Why a reader gets nothing, with the codes of ntfy (binwiederhier/ntfy, `server/errors.go`).
enum MailboxFault: Int, Error {
    case badTopic = 40009
    case badSince = 40008
    case noWebSocket = 40016
    case badRequest = 40024
    case unauthorized = 40101
    case forbidden = 40301
    case tooManyRequests = 42901
    case tooManyReaders = 42903
    case tooLarge = 41301
    case storeFailed = 50001
    case noSubscriber = 50701
    case tooManyReplies = 50702

    private var words: String {
        switch self {
        case .badTopic: "invalid request: topic invalid"
        case .badSince: "invalid since parameter"
        case .noWebSocket: "invalid request: client not using the websocket protocol"
        case .badRequest: "invalid request: parameters could not be parsed"
        case .unauthorized: "unauthorized"
        case .forbidden: "forbidden"
        case .tooManyRequests: "limit reached: too many requests"
        case .tooManyReaders: "limit reached: too many active subscriptions"
        case .tooLarge: "message too large"
        case .noSubscriber: "cannot publish to UnifiedPush topic without previously active subscriber"
        case .tooManyReplies: "limit reached: too many replies wait"
        case .storeFailed: "internal server error"
        }
    }

    var response: HTTPResponse {
        let status = rawValue / 100
        var body = Array(#"{"code":\#(rawValue),"http":\#(status),"error":"#.utf8)
        body.append(jsonString: words)
        body.append(contentsOf: "}\n".utf8)
        return .mailbox(status: status, body)
    }
}

extension HTTPResponse {
    static func mailbox(
        status: Int = 200, _ body: [UInt8], type: String = "application/json"
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: body)
        response.fields.append("content-type", type)
        response.fields.append("access-control-allow-origin", "*")
        response.fields.append("cache-control", "no-store")
        return response
    }
}
