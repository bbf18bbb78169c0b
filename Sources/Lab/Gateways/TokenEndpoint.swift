import Crypto
import Encodings
import HTTP1
import HTTP2
import JSONCoding
import Reactor

/// Google's OAuth token endpoint for service accounts (RFC 7523): a signed assertion in, an access token out.
@EventLoop
final class TokenEndpoint {
    static let path = "/token"
    private static let scopes: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging",
        "https://www.googleapis.com/auth/cloud-platform",
    ]
    private static let clockTolerance: Int64 = 300

    private let account: FCMRules.ServiceAccount
    private let lifetime: Duration
    /// Each with its end, in milliseconds since 1970.
    private var tokens: [String: Int64] = [:]
    private(set) var issued = 0

    init(account: FCMRules.ServiceAccount, lifetime: Duration) {
        self.account = account
        self.lifetime = lifetime
    }

    func accepts(_ token: String, now: Int64) -> Bool { tokens[token].map { now < $0 } ?? false }

    func revokeAll() { tokens = [:] }

    func answer(_ headers: HTTP2Headers, form body: [UInt8], now: Int64) -> SimulatedAnswer {
        guard headers[":method"] == "POST",
            headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true,
            let form = try? HTTPQuery(String(decoding: body, as: UTF8.self)),
            form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer",
            let assertion = form["assertion"]
        else { return Self.error(status: 400, "invalid_request") }
        guard let token = WebToken(assertion.utf8), token.header["kid"]?.string == account.keyID,
            token.isSigned(by: account.key), token.claims["iss"]?.string == account.email,
            token.claims["aud"]?.string == "https://\(headers[":authority"] ?? "")\(Self.path)"
        else { return Self.error(status: 400, "invalid_grant") }
        guard let issuedAt = token.claims["iat"]?.integer, let end = token.claims["exp"]?.integer,
            end > now / 1000, end - issuedAt <= 3600, abs(issuedAt - now / 1000) <= Self.clockTolerance
        else { return Self.error(status: 400, "invalid_grant") }
        guard let scope = token.claims["scope"]?.string, Self.scopes.contains(scope) else {
            return Self.error(status: 400, "invalid_scope")
        }
        issued += 1
        let access = "lab.\(Base64.encodeForURL(randomBytes(24)))"
        let seconds = lifetime.components.seconds
        tokens = tokens.filter { $0.value > now }
        tokens[access] = now + seconds * 1000
        var answer = SimulatedAnswer(status: 200)
        answer.headers.add("content-type", "application/json; charset=utf-8")
        answer.body = Array(
            #"{"access_token":"\#(access)","expires_in":\#(seconds),"token_type":"Bearer"}"#.utf8)
        return answer
    }

    static func error(status: Int, _ reason: String) -> SimulatedAnswer {
        var answer = SimulatedAnswer(status: status)
        answer.headers.add("content-type", "application/json; charset=utf-8")
        answer.body = Array(#"{"error":"\#(reason)","error_description":"Simulated."}"#.utf8)
        return answer
    }
}
