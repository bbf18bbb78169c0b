import Encodings
import HTTP1
import JSONCoding

/// An answer as gorush gives it.
package struct GorushAnswer {
    /// The fields of a push that are listed if it fails: gorush lists no others.
    package struct Push {
        package let id: String
        package let platform: Platform
        package let token: String
        package let message: String

        package init(_ notification: GorushNotification, to token: String) {
            id = notification.id
            platform = notification.platform ?? .ios
            self.token = token
            message = notification.message
        }
    }

    /// Bytes of all failures together: each repeats its message, and what is over this is not listed.
    package static let longestLogs = 1 << 20

    package var count = 0
    /// Whether tokens are shown with their first and last ten characters masked.
    private let hidesTokens: Bool
    /// JSON of the failures, with commas between them.
    private var logs: [UInt8] = []
    private var isFull = false

    package init(hidesTokens: Bool) { self.hidesTokens = hidesTokens }

    /// Lists a push that failed, while there is room.
    package mutating func add(_ push: Push, error: String) {
        guard !isFull else { return }
        let length = logs.count
        if length > 0 { logs.append(UInt8(ascii: ",")) }
        append(push, error, to: &logs)
        isFull = logs.count > GorushAnswer.longestLogs
        if isFull { logs.removeLast(logs.count - length) }
    }

    package var response: HTTPResponse {
        var body = Array("{\"counts\":\(count),\"logs\":[".utf8)
        body.append(contentsOf: logs)
        body.append(contentsOf: "],\"success\":\"ok\"}".utf8)
        return .gorush(status: 200, body)
    }

    private func append(_ push: Push, _ error: String, to body: inout [UInt8]) {
        body.append(UInt8(ascii: "{"))
        if !push.id.isEmpty {
            body.append(contentsOf: "\"notif_id\":".utf8)
            body.append(jsonString: push.id)
            body.append(UInt8(ascii: ","))
        }
        let platform = push.platform == .ios ? "ios" : "android"
        body.append(contentsOf: "\"type\":\"failed-push\",\"platform\":\"\(platform)\"".utf8)
        let token = hidesTokens ? GorushAnswer.masked(push.token) : push.token
        for (key, text) in [("token", token), ("message", push.message), ("error", error)] {
            body.append(contentsOf: ",\"\(key)\":".utf8)
            body.append(jsonString: text)
        }
        body.append(UInt8(ascii: "}"))
    }

    package static func response(to fault: GorushFault) -> HTTPResponse {
        var body = Array("{\"code\":400,\"message\":".utf8)
        body.append(jsonString: fault.message)
        body.append(UInt8(ascii: "}"))
        return .gorush(status: 400, body)
    }

    /// Masks the first and the last ten characters of a token, wherever these strings occur, as gorush does.
    package static func masked(_ token: String) -> String {
        // As bytes, which gorush counts too. Of what is far longer than any token is, nothing is shown.
        let bytes = Array(token.utf8)
        guard (20...4096).contains(bytes.count) else {
            return String(repeating: "*", count: min(bytes.count, 4096))
        }
        let prefixMasked = masked(bytes, wherever: Array(bytes.prefix(10)))
        return String(decoding: masked(prefixMasked, wherever: Array(bytes.suffix(10))), as: UTF8.self)
    }

    private static func masked(_ text: [UInt8], wherever part: [UInt8]) -> [UInt8] {
        var masked: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            if rest.starts(with: part) {
                masked += repeatElement(UInt8(ascii: "*"), count: part.count)
                rest = rest.dropFirst(part.count)
            } else {
                masked.append(rest.removeFirst())
            }
        }
        return masked
    }
}

extension HTTPResponse {
    fileprivate static func gorush(status: Int, _ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: body)
        response.fields.append("content-type", "application/json; charset=utf-8")
        response.fields.append("x-gorush-version", "onionbell")
        return response
    }
}
