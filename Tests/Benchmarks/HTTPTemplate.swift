import Encodings
import Foundation

/// A request over HTTP/1.1; only the device token changes.
struct HTTPTemplate {
    let head: [UInt8]
    let rest: [UInt8]
    /// What is answered when the gateway has.
    let awaitsOutcome: Bool

    /// - Parameter directory: Of a running `gateway` command.
    init(_ form: HTTPCommand.Form, directory: String) throws {
        awaitsOutcome = form != .get
        switch form {
        case .get:
            let message = RequestTemplate.message.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            head = Array(
                "GET /relay?isAndroid=false&isProduction=true&isContentAvailable=true&snd=true&token=".utf8)
            rest = Array("&msg=\(message.joined()) HTTP/1.1\r\nHost: node\r\n\r\n".utf8)
        case .post:
            let body =
                #"{"encrypted":"\#(RequestTemplate.message)","isUrgent":true,"isMutableContent":true}"#
            head = Array("POST /v1/apns/device/".utf8)
            rest = HTTPTemplate.rest(["Content-Type: application/json"], body: Array(body.utf8))
        case .webPush:
            // As Mastodon sends them: the key is a point of P-256 (RFC 8291, appendix A), the body about that long.
            let fields = [
                "Content-Type: application/octet-stream", "Content-Encoding: aesgcm", "TTL: 172800",
                "Urgency: normal",
                "Encryption: salt=DGv6ra1nlYgDCS1FRnbzlw",
                "Crypto-Key: dh=BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8;"
                    + "p256ecdsa="
                    + "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            ]
            head = Array("POST /relay-to/production/".utf8)
            rest = HTTPTemplate.rest(
                fields, behindToken: "/1/subscriber",
                body: (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 73) })
        case .apns:
            // The names of HTTP/2's own fields begin with a colon: they are in the first line here.
            let fields = try String(contentsOfFile: "\(directory)/headers", encoding: .utf8)
                .split(separator: "\n").map(String.init).filter { !$0.hasPrefix(":") }
            head = Array("POST /3/device/".utf8)
            rest = HTTPTemplate.rest(
                fields, body: Array(try Data(contentsOf: URL(fileURLWithPath: "\(directory)/body"))))
        }
    }

    private static func rest(_ fields: [String], behindToken: String = "", body: [UInt8]) -> [UInt8] {
        let lines =
            ["\(behindToken) HTTP/1.1", "Host: node"] + fields + ["Content-Length: \(body.count)", "", ""]
        return Array(lines.joined(separator: "\r\n").utf8) + body
    }
}
