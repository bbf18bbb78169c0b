import Crypto
import Encodings
import HTTP2
import Reactor

/// Apple's push service as far as Apple describes it: `POST /3/device/<token>` over HTTP/2.
final class SimulatedAPNs: SimulatedService {
    var rules: APNsRules
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

    func judge(_ call: GatewayCall, on connection: inout ConnectionFacts, now: Int64) -> SimulatedVerdict {
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
        if let (status, reason) = rules.fault(
            of: call.request, to: deviceToken, certificateTopic: connection.certificateTopic)
        {
            return refuse(status, reason, id)
        }
        var answer = SimulatedAnswer(status: 200)
        answer.headers.add("apns-id", id)
        if connection.certificateTopic == nil, !connection.hasAcceptedPush {
            connection.hasAcceptedPush = true
            answer.streamLimit = rules.streamLimit
        }
        return .accepted(deviceToken: deviceToken, answer)
    }

    /// Returns the reason for which a provider token is refused; `nil`: it is accepted.
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

    func error(
        _ subject: FaultRule.Subject, status: Int, reason: String?, timestamp: Int64?,
        retryAfter: String?
    ) -> SimulatedAnswer {
        var answer = SimulatedAnswer(status: status)
        if let retryAfter { answer.headers.add("retry-after", retryAfter) }
        if let reason {
            answer.headers.add("content-type", "application/json")
            let time = timestamp.map { #","timestamp":\#($0)"# } ?? ""
            answer.body = Array(#"{"reason":"\#(reason)"\#(time)}"#.utf8)
        }
        return answer
    }

    private func refuse(_ status: Int, _ reason: String, _ id: String, streamLimit: Int? = nil)
        -> SimulatedVerdict
    {
        var answer = error(.push, status: status, reason: reason, timestamp: nil, retryAfter: nil)
        answer.headers.add("apns-id", id)
        answer.streamLimit = streamLimit
        return .answered(answer)
    }

    private static func newID() -> String {
        let digits = Array(Hex.encode(randomBytes(16)))
        let ends = [8, 12, 16, 20, 32]
        return zip([0] + ends, ends).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }
}
