import Encodings
import HTTP1
import JSONCoding

/// Why somebody gets nothing here, with the codes of ntfy (binwiederhier/ntfy, `server/errors.go`).
enum MailboxFault: Error, Equatable {
    case badRequest
    /// A part of ntfy's publishing that this topic does not have, by its name.
    case option(String)
    /// A text that would pass for Bisq's or the node's.
    case reserved
    case badTopic
    case badText
    case badMessage
    case badPriority
    case badSince
    case badDelay
    case shortDelay
    case longDelay
    case badSequence
    case noWebSocket
    case badMatrix
    case badIcon
    case unauthorized
    case forbidden
    case tooLarge
    case tooManyRequests
    case tooManyReaders
    case storeFailed
    case noSubscriber
    case tooManyReplies
    case tooManyDelayed

    /// Whether a guest who asks so again and again guesses.
    var isStrike: Bool {
        switch self {
        case .unauthorized, .forbidden, .noSubscriber: true
        case .badRequest, .option, .reserved, .badTopic, .badText, .badMessage, .badPriority, .badSince,
            .badDelay, .shortDelay, .longDelay, .badSequence, .noWebSocket, .badMatrix, .badIcon, .tooLarge,
            .tooManyRequests, .tooManyReaders, .storeFailed, .tooManyReplies, .tooManyDelayed:
            false
        }
    }

    /// The code of the error, whose first three digits are the status.
    var code: Int {
        switch self {
        case .option, .reserved: 40000
        case .badDelay: 40004
        case .shortDelay: 40005
        case .longDelay: 40006
        case .badPriority: 40007
        case .badSince: 40008
        case .badTopic: 40009
        case .badText: 40011
        case .noWebSocket: 40016
        case .badMessage: 40017
        case .badMatrix: 40019
        case .badIcon: 40021
        case .badRequest: 40024
        case .badSequence: 40049
        case .unauthorized: 40101
        case .forbidden: 40301
        case .tooLarge: 41301
        case .tooManyRequests: 42901
        case .tooManyReaders: 42903
        case .storeFailed: 50001
        case .noSubscriber: 50701
        case .tooManyReplies: 50702
        case .tooManyDelayed: 50703
        }
    }

    private var words: String {
        switch self {
        case .option(let name): "invalid request: this topic takes no \(name)"
        case .reserved: "invalid request: a published text begins neither as Bisq's nor as the node's"
        case .badTopic: "invalid request: topic invalid"
        case .badText: "invalid message: message must be UTF-8 encoded"
        case .badMessage: "invalid request: request body must be message JSON"
        case .badDelay:
            "invalid delay parameter: unable to parse delay: it is a duration (30m, 2 days) or seconds since 1970"
        case .shortDelay: "invalid delay parameter: too small: it is 10 seconds at least"
        case .longDelay: "invalid delay parameter: too large: it is 3 days at most"
        case .badSequence: "invalid request: sequence ID invalid"
        case .badPriority: "invalid priority parameter"
        case .badSince: "invalid since parameter"
        case .noWebSocket: "invalid request: client not using the websocket protocol"
        case .badMatrix: "invalid request: Matrix JSON invalid"
        case .badIcon: "invalid request: icon URL is invalid"
        case .badRequest: "invalid request: parameters could not be parsed"
        case .unauthorized: "unauthorized"
        case .forbidden: "forbidden"
        case .tooManyRequests: "limit reached: too many requests"
        case .tooManyReaders: "limit reached: too many active subscriptions"
        case .tooLarge: "message too large"
        case .noSubscriber: "cannot publish to UnifiedPush topic without previously active subscriber"
        case .tooManyReplies: "limit reached: too many replies wait"
        case .tooManyDelayed: "limit reached: too many messages of this publisher wait for their time"
        case .storeFailed: "internal server error"
        }
    }

    /// The time after which to retry, in seconds: at the slowest rate one place is free each second.
    private var retryAfter: Int? {
        switch self {
        case .tooManyRequests: 1
        case .tooManyReaders: 60
        case .badRequest, .option, .reserved, .badTopic, .badText, .badMessage, .badPriority, .badSince,
            .badDelay, .shortDelay, .longDelay, .badSequence, .noWebSocket, .badMatrix, .badIcon, .tooLarge,
            .unauthorized, .forbidden, .storeFailed, .noSubscriber, .tooManyReplies, .tooManyDelayed:
            nil
        }
    }

    var response: HTTPResponse {
        var response = HTTPResponse.mailbox(fault: code, words)
        if let retryAfter { response.fields.append("retry-after", String(retryAfter)) }
        return response
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

    /// Makes the error of a code, as ntfy's clients read it.
    fileprivate static func mailbox(fault code: Int, _ words: String) -> HTTPResponse {
        let status = code / 100
        var body = Array(#"{"code":\#(code),"http":\#(status),"error":"#.utf8)
        body.append(jsonString: words)
        if let page = page(on: code) {
            body.append(contentsOf: #","link":"https://ntfy.sh/docs/\#(page)""#.utf8)
        }
        body.append(contentsOf: "}\n".utf8)
        return .mailbox(status: status, body)
    }

    /// Returns the page of ntfy's documentation about an error; `nil`: there is none.
    private static func page(on code: Int) -> String? {
        switch code {
        case 40004, 40005, 40006: "publish/#scheduled-delivery"
        case 40021: "publish/#icons"
        case 40049: "publish/#updating-deleting-notifications"
        case 40007: "publish/#message-priority"
        case 40008: "subscribe/api/#fetch-cached-messages"
        case 40016: "subscribe/api/#websockets"
        case 40019: "publish/#matrix-gateway"
        case 40017: "publish/#publish-as-json"
        case 40101, 40301: "publish/#authentication"
        case 41301, 42901, 42903: "publish/#limitations"
        case _: nil
        }
    }

    /// An error in plain text as ntfy says it: with the code of ntfy where there is one, else with the status and two zeros.
    var inFormOfNtfy: HTTPResponse {
        let code =
            switch status {
            case 404, 413, 429: status * 100 + 1
            case _: status * 100
            }
        let words = status == 404 ? "page not found" : String(decoding: body, as: UTF8.self)
        var response = HTTPResponse.mailbox(fault: code, words)
        for name in ["allow", "retry-after"] {
            if let value = fields[name] { response.fields.append(name, value) }
        }
        response.isKeptAlive = isKeptAlive
        return response
    }
}
