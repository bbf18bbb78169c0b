import Client
import Crypto
import Encodings
import HTTP1
import Wire

/// How Bisq asks.
enum RelayForm: String, CaseIterable {
    case get = "GET"
    case post = "POST"

    /// As Bisq's source has it.
    var host: String {
        switch self {
        case .get: "bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"
        case .post: "6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion"
        }
    }

    var port: UInt16 { self == .get ? 80 : 8021 }

    /// The word for it in an app's settings.
    var setting: String { self == .get ? "bisq1" : "bisq2" }

    /// The platforms that have a lane of their own. POST can't tell Apple's sandbox from its production.
    var platforms: [Platform] { self == .get ? [.android, .ios, .iosDev] : [.android, .ios] }

    func request(to phone: Phone) throws -> (HTTPRequest, message: String) {
        switch self {
        case .get:
            let request = try BisqSender(to: phone.pairingToken).httpRequest(
                for: PhoneText(sentDate: 1, title: "a", message: "b", kind: .trade))
            let sealed = request.query?.split(separator: "&").last.flatMap {
                Hex.decode(String($0.dropFirst(4)))
            }
            return (request, String(decoding: sealed ?? [], as: UTF8.self))
        case .post:
            let message = Base64.encode(randomBytes(120))
            let service = phone.pairingToken.platform == .android ? "fcm" : "apns"
            var request = HTTPRequest(
                method: "POST", path: "/v1/\(service)/device/\(phone.pairingToken.deviceToken)",
                body: Array(#"{"encrypted":"\#(message)","isUrgent":true,"isMutableContent":true}"#.utf8))
            request.fields.append("Content-Type", "application/json")
            return (request, message)
        }
    }

    /// Whether the answer says that the node has taken it.
    func isTaken(_ answer: HTTPResponse) -> Bool {
        let body = String(decoding: answer.body, as: UTF8.self)
        return self == .get ? body == "success" : body.contains(#""wasAccepted":true"#)
    }
}
