import Encodings
import HTTP1
import JSONCoding
import Relay

/// Bisq 2's request: `POST /v1/{apns|fcm}/device/{token}`, or the token in the body as `deviceToken`, with the JSON
/// keys `encrypted`, `isUrgent`, `isMutableContent`; others are ignored (bisq-network/bisq2,
/// `MobileNotificationRelayClient.java`; bisq-network/bisq-relay 2.0.0).
enum RelayPostForm {
    /// A refusal of our own, in the JSON that the client reads.
    struct Refusal: Error {
        var status: Int
        var code: String

        var response: HTTPResponse {
            RelayPostForm.response(status: status, accepted: false, code: code, isUnregistered: false)
        }
    }

    static func submission(
        _ request: HTTPRequest, _ platform: Platform, token: Substring?, app: String
    ) -> Result<Submission, Refusal> {
        guard let body = try? JSON.members(of: request.body) else {
            return .failure(Refusal(status: 400, code: Reason.badMessage.code))
        }
        let deviceToken: String
        if let token {
            guard let decoded = try? String(percentEncoded: String(token)) else {
                return .failure(Refusal(status: 400, code: Reason.badDeviceToken.code))
            }
            deviceToken = decoded
        } else {
            // A request without a token is no verdict on one.
            guard let named = body.value(of: "deviceToken")?.string, !named.isEmpty else {
                return .failure(Refusal(status: 400, code: Reason.badMessage.code))
            }
            deviceToken = named
        }
        guard let encrypted = body.value(of: "encrypted")?.string,
            let isUrgent = flag(body.value(of: "isUrgent")),
            let isMutable = flag(body.value(of: "isMutableContent"))
        else { return .failure(Refusal(status: 400, code: Reason.badMessage.code)) }
        return .success(
            Submission(
                platform: platform, app: app, deviceToken: deviceToken,
                message: encrypted,
                isUrgent: isUrgent, isMutableContent: isMutable, isContentAvailable: true))
    }

    private static func flag(_ value: JSON?) -> Bool? {
        switch value {
        case nil, .null: false
        case .some(let value): value.bool
        }
    }

    /// Returns the answer to a receipt.
    ///
    /// - Parameter isDoubtful: Whether the gateway's verdicts on device tokens may be the fault of the
    ///   settings. A client that hears `isUnregistered` forgets the phone for good.
    static func response(to receipt: Receipt, isDoubtful: Bool = false) -> HTTPResponse {
        switch receipt.answer {
        case .taken: return accepted
        case .later(let busy):
            var response = response(
                status: busy.status, accepted: false, code: Reason.busy.code, isUnregistered: false)
            response.addRetryAfter(busy)
            return response
        case .failed(let failure):
            // As Bisq's relay says it: a token that Apple doesn't know is as good as unregistered.
            return response(
                status: failure.kind.bisqStatus, accepted: false, code: failure.code, text: failure.detail,
                isUnregistered: failure.kind == .deadToken || failure.kind == .unknownToken && !isDoubtful)
        }
    }

    /// Makes the answer for a time when nothing gets through here for long: another relay may do better.
    static func unavailable(_ reason: String) -> HTTPResponse {
        response(status: 503, accepted: false, code: reason, isUnregistered: false)
    }

    /// The answer to nearly all.
    private static let accepted = response(status: 200, accepted: true, isUnregistered: false)

    private static func response(
        status: Int, accepted: Bool, code: String? = nil, text: String? = nil, isUnregistered: Bool
    ) -> HTTPResponse {
        var body = Array("{\"wasAccepted\":\(accepted)".utf8)
        if let code {
            body.append(contentsOf: ",\"errorCode\":".utf8)
            body.append(jsonString: code)
        }
        if let text {
            body.append(contentsOf: ",\"errorMessage\":".utf8)
            body.append(jsonString: text)
        }
        body.append(contentsOf: ",\"isUnregistered\":\(isUnregistered)}".utf8)
        var response = HTTPResponse(status: status, body: body)
        response.fields.append("content-type", "application/json")
        return response
    }
}
