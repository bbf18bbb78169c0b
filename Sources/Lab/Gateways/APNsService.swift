import Crypto
import HTTP2
import Reactor

/// What a simulated APNs knows and allows.
package struct APNsRules: Sendable {
    /// A provider's key as Apple knows it.
    package struct ProviderKey: Sendable {
        package let keyID: String
        package let teamID: String
        package let key: VerifyingKey

        package init(keyID: String, teamID: String, key: VerifyingKey) {
            self.keyID = keyID
            self.teamID = teamID
            self.key = key
        }
    }

    package var keys: [ProviderKey]
    /// The topics these keys may push to.
    package var topics: Set<String>
    /// Device tokens of this environment; `nil`: any.
    package var deviceTokens: Set<String>?
    /// Streams at once, after the first push under a provider token was accepted; 1 before.
    package var streamLimit = 1000
    /// A new provider token on a connection is refused for so long after the last one.
    package var tokenUpdateInterval = Duration.seconds(20 * 60)

    package init(keys: [ProviderKey], topics: Set<String>) {
        self.keys = keys
        self.topics = topics
    }
}

/// Apple's push service as far as facts/apns.md tells: `POST /3/device/<token>` over HTTP/2.
final class APNsService: SimulatedService {
    private let rules: APNsRules
    private static let payloadLimit = 4096
    private static let tokenLifetime: Int64 = 3_600_000
    private static let clockTolerance: Int64 = 60_000

    init(_ rules: APNsRules) { self.rules = rules }

    func streamLimit(hasCertificate: Bool) -> Int { hasCertificate ? rules.streamLimit : 1 }

    func call(_ request: GatewayRequest) -> GatewayCall {
        let prefix = "/3/device/"
        let path = request.headers.bytes(of: ":path") ?? []
        let token =
            path.starts(with: prefix.utf8)
            ? String(decoding: path.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
        return GatewayCall(request: request, subject: .push, deviceToken: token)
    }

    func judge(_ call: GatewayCall, on connection: inout ConnectionFacts, now: Int64) -> Verdict {
        let headers = call.request.headers
        let id = headers["apns-id"] ?? Self.newID()
        guard let deviceToken = call.deviceToken else { return refuse(404, "BadPath", id) }
        guard headers[":method"] == "POST" else { return refuse(405, "MethodNotAllowed", id) }
        if connection.certificateTopic == nil {
            if let reason = authorize(headers.bytes(of: "authorization"), on: &connection, now: now) {
                let isOver = reason == "ExpiredProviderToken"
                if isOver { connection.hasAcceptedPush = false }
                return refuse(
                    reason == "TooManyProviderTokenUpdates" ? 429 : 403, reason, id,
                    streamLimit: isOver ? 1 : nil)
            }
        }
        if let (status, reason) = fault(of: call.request, deviceToken, on: connection) {
            return refuse(status, reason, id)
        }
        var answer = GatewayAnswer(status: 200)
        answer.headers.add("apns-id", id)
        if connection.certificateTopic == nil, !connection.hasAcceptedPush {
            connection.hasAcceptedPush = true
            answer.streamLimit = rules.streamLimit
        }
        return .accepted(deviceToken: deviceToken, answer)
    }

    /// The reason for a refusal.
    private func authorize(
        _ authorization: ArraySlice<UInt8>?, on connection: inout ConnectionFacts, now: Int64
    ) -> String? {
        guard let authorization, authorization.starts(with: "bearer ".utf8) else {
            return "MissingProviderToken"
        }
        let bearer = authorization.dropFirst(7)
        if !bearer.elementsEqual(connection.bearer) {
            guard let token = WebToken(bearer), let known = key(of: token), token.isSigned(by: known.key),
                token.claims["iss"]?.string == known.teamID, let issuedAt = token.claims["iat"]?.integer,
                issuedAt < now / 1000 + Self.clockTolerance
            else { return "InvalidProviderToken" }
            if connection.keyID != "" {
                guard connection.keyID == known.keyID else { return "UnrelatedKeyIdInToken" }
                let interval = rules.tokenUpdateInterval.components.seconds * 1000
                guard now - connection.bearerSince >= interval else { return "TooManyProviderTokenUpdates" }
            }
            connection.bearer = Array(bearer)
            connection.keyID = known.keyID
            connection.bearerIssuedAt = issuedAt * 1000
            connection.bearerSince = now
        }
        let age = now - connection.bearerIssuedAt
        return age <= Self.tokenLifetime && age >= -Self.clockTolerance ? nil : "ExpiredProviderToken"
    }

    private func key(of token: WebToken) -> APNsRules.ProviderKey? {
        let keyID = token.header["kid"]?.string
        return rules.keys.first { $0.keyID == keyID }
    }

    /// What is wrong with a request from a provider that may push.
    private func fault(
        of request: GatewayRequest, _ deviceToken: String, on connection: ConnectionFacts
    ) -> (status: Int, reason: String)? {
        let headers = request.headers
        guard let topic = headers["apns-topic"] ?? connection.certificateTopic else {
            return (400, "MissingTopic")
        }
        guard connection.certificateTopic.map({ $0 == topic }) ?? rules.topics.contains(topic) else {
            return (400, "TopicDisallowed")
        }
        let digits = deviceToken.utf8
        guard digits.count >= 64, digits.count <= 512, digits.count.isMultiple(of: 2),
            digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            rules.deviceTokens?.contains(deviceToken.lowercased()) ?? true
        else { return (400, "BadDeviceToken") }
        guard !request.body.isEmpty else { return (400, "PayloadEmpty") }
        guard request.body.count <= Self.payloadLimit else { return (413, "PayloadTooLarge") }
        if let id = headers["apns-id"], !Self.isID(id) { return (400, "BadMessageId") }
        if let expiration = headers["apns-expiration"], Int64(expiration).map({ $0 < 0 }) ?? true {
            return (400, "BadExpirationDate")
        }
        if let collapseID = headers.bytes(of: "apns-collapse-id"), collapseID.count > 64 {
            return (400, "BadCollapseId")
        }
        let type = headers["apns-push-type"] ?? "alert"
        guard Self.pushTypes.contains(type) else { return (400, "InvalidPushType") }
        let priority = headers["apns-priority"] ?? "10"
        guard ["1", "5", "10"].contains(priority), type != "background" || priority != "10" else {
            return (400, "BadPriority")
        }
        return nil
    }

    func error(
        _ subject: FaultRule.Subject, status: Int, reason: String?, timestamp: Int64?,
        retryAfter: String?
    ) -> GatewayAnswer {
        var answer = GatewayAnswer(status: status)
        if let retryAfter { answer.headers.add("retry-after", retryAfter) }
        if let reason {
            answer.headers.add("content-type", "application/json")
            let time = timestamp.map { #","timestamp":\#($0)"# } ?? ""
            answer.body = Array(#"{"reason":"\#(reason)"\#(time)}"#.utf8)
        }
        return answer
    }

    private func refuse(_ status: Int, _ reason: String, _ id: String, streamLimit: Int? = nil)
        -> Verdict
    {
        var answer = error(.push, status: status, reason: reason, timestamp: nil, retryAfter: nil)
        answer.headers.add("apns-id", id)
        answer.streamLimit = streamLimit
        return .answered(answer)
    }

    private static let pushTypes: Set<String> = [
        "alert", "background", "complication", "controls", "fileprovider", "liveactivity", "location",
        "mdm",
        "pushtotalk", "voip", "widgets",
    ]

    /// 8-4-4-4-12 hex digits in lower case.
    private static func isID(_ text: String) -> Bool {
        let characters = Array(text.utf8)
        return characters.count == 36
            && characters.enumerated().allSatisfy { index, character in
                [8, 13, 18, 23].contains(index)
                    ? character == UInt8(ascii: "-")
                    : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
                        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(character)
            }
    }

    private static func newID() -> String {
        let digits = Array(Hex.encode(randomBytes(16)))
        let ends = [8, 12, 16, 20, 32]
        return zip([0] + ends, ends).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }
}
