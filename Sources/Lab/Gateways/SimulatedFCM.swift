import Crypto
import Encodings
import HTTP2
import JSONCoding
import Reactor
import Relay

/// The knowledge and the rules of a simulated FCM, with Google's token endpoint beside it.
package struct FCMRules: Sendable {
    package var projectID: String
    package var account: ServiceAccount
    /// How long an access token is good.
    package var tokenLifetime = Duration.seconds(3599)
    package var streamLimit = 100

    /// A service account as Google knows it.
    package struct ServiceAccount: Sendable {
        package let email: String
        package let keyID: String
        package let key: VerifyingKey

        package init(email: String, keyID: String, key: VerifyingKey) {
            self.email = email
            self.keyID = keyID
            self.key = key
        }
    }

    package init(projectID: String, account: ServiceAccount) {
        self.projectID = projectID
        self.account = account
    }
}

/// Google's push service as far as Firebase describes it: `POST /v1/projects/<id>/messages:send`, and `POST /token`.
final class SimulatedFCM: SimulatedService {
    private let rules: FCMRules
    private let endpoint: TokenEndpoint
    private let path: String
    private var lastMessage = 0

    init(_ rules: FCMRules) {
        self.rules = rules
        endpoint = TokenEndpoint(account: rules.account, lifetime: rules.tokenLifetime)
        path = "/v1/projects/\(rules.projectID)/messages:send"
    }

    /// Access tokens that were handed out so far.
    var issuedTokens: Int { endpoint.issued }

    /// Makes every access token bad at once.
    func revokeTokens() { endpoint.revokeAll() }

    func streamLimit(hasCertificate: Bool) -> Int { rules.streamLimit }

    func call(_ request: GatewayRequest) -> GatewayCall {
        guard request.headers[":path"] != TokenEndpoint.path else {
            return GatewayCall(request: request, subject: .token, deviceToken: nil)
        }
        let document = try? JSON(request.body)
        let message = document?["message"]
        let target = message?["token"] ?? message?["topic"] ?? message?["condition"]
        return GatewayCall(request: request, subject: .push, deviceToken: target?.string, document: document)
    }

    func judge(_ call: GatewayCall, on connection: inout ConnectionFacts, now: Int64) -> SimulatedVerdict {
        let headers = call.request.headers
        if call.subject == .token {
            return .answered(endpoint.answer(headers, form: call.request.body, now: now))
        }
        // A wrong path is not a dead device: no FcmError here.
        guard headers[":path"] == path, headers[":method"] == "POST" else {
            return .answered(error(status: 404))
        }
        guard let authorization = headers["authorization"], authorization.hasPrefix("Bearer "),
            endpoint.accepts(String(authorization.dropFirst(7)), now: now)
        else { return .answered(error(status: 401)) }
        guard let message = call.document?["message"], let deviceToken = call.deviceToken else {
            return .answered(violation(of: "message.token"))
        }
        if let field = faultyField(of: message) { return .answered(violation(of: field)) }
        if message["token"] != nil {
            guard (32...4096).contains(deviceToken.utf8.count),
                deviceToken.utf8.allSatisfy(Self.isTokenByte), deviceToken != DeviceToken.opaqueOfNobody.text
            else { return .answered(error(status: 400, code: "INVALID_ARGUMENT")) }
        }
        lastMessage += 1
        var answer = SimulatedAnswer(status: 200)
        answer.headers.add("content-type", "application/json; charset=UTF-8")
        answer.headers.add("date", DateField.now)
        answer.body = Array(#"{"name":"projects/\#(rules.projectID)/messages/0:\#(lastMessage)"}"#.utf8)
        // Checked like any other, and brought to nobody.
        guard call.document?["validate_only"]?.bool != true else { return .answered(answer) }
        return .accepted(deviceToken: deviceToken, answer)
    }

    /// Returns the first field that breaks a rule.
    private func faultyField(of message: JSON) -> String? {
        guard let members = message.object, let data = (message["data"] ?? .object([:])).object else {
            return "message.data"
        }
        guard ["token", "topic", "condition"].count(where: { members[$0] != nil }) == 1 else {
            return "message.topic"
        }
        var size = 0
        for (key, value) in data {
            let isReserved =
                key == "from" || key == "message_type" || key.hasPrefix("google") || key.hasPrefix("gcm")
            guard let text = value.string, !isReserved else { return "message.data" }
            size += key.utf8.count + text.utf8.count
        }
        guard size <= 4096 else { return "message.data" }
        let android = message["android"]
        if let priority = android?["priority"],
            !["high", "normal"].contains(priority.string?.lowercased())
        {
            return "message.android.priority"
        }
        if let ttl = android?["ttl"] {
            guard let text = ttl.string, text.hasSuffix("s"), let seconds = Double(text.dropLast()),
                (0...2_419_200).contains(seconds)
            else { return "message.android.ttl" }
        }
        if let key = android?["collapse_key"], key.string == nil {
            return "message.android.collapse_key"
        }
        return nil
    }

    func error(
        _ subject: FaultRule.Subject, status: Int, reason: String?, timestamp: Int64?,
        retryAfter: String?
    ) -> SimulatedAnswer {
        var answer =
            switch subject {
            case .push: error(status: status, code: reason)
            case .token: TokenEndpoint.error(status: status, reason ?? "internal_failure")
            }
        if let retryAfter { answer.headers.add("retry-after", retryAfter) }
        return answer
    }

    /// Returns an error in Google's form (Google, "API design guide", errors).
    private func error(status: Int, code: String? = nil) -> SimulatedAnswer {
        let detail = code.map {
            #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"#
        }
        return error(status: status, detail: detail)
    }

    private func violation(of field: String) -> SimulatedAnswer {
        error(
            status: 400,
            detail: """
                {"@type":"type.googleapis.com/google.rpc.BadRequest",\
                "fieldViolations":[{"field":"\(field)","description":"Invalid value"}]}
                """)
    }

    private func error(status: Int, detail: String?) -> SimulatedAnswer {
        var answer = SimulatedAnswer(status: status)
        answer.headers.add("content-type", "application/json; charset=UTF-8")
        let details = detail.map { #","details":[\#($0)]"# } ?? ""
        let word = Self.statusWords[status] ?? "UNKNOWN"
        // Google's own words for a token that is gone.
        let text = status == 404 ? "Requested entity was not found." : "Simulated."
        answer.body = Array(
            #"{"error":{"code":\#(status),"message":"\#(text)","status":"\#(word)"\#(details)}}"#.utf8)
        return answer
    }

    private static let statusWords = [
        400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
    ]

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        ASCII.letter(byte) | ASCII.digit(byte) == 1 || "_:.-".utf8.contains(byte)
    }
}
