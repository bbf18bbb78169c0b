import Crypto
import HTTP1
import JSON

/// The tokens that installations show with each request: JWTs of our own, `HS256`, so that nothing has to be kept.
///
/// Official servers read `exp` from the middle part and look at nothing else; they go on using one for up to five
/// minutes after it.
struct BitwardenTokens: Sendable {
    /// Seconds that one is good for: the cloud's.
    static let life: Int64 = 86_400
    static let grace: Int64 = 300
    static let scope = "api.push"
    static let clientPrefix = "installation."

    private let key: [UInt8]
    private static let header = Base64.encodeForURL(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    init(key: Secret) {
        // The node's key for digests signs nothing else in this form.
        self.key = HMAC.sha256(Array("bitwarden access tokens".utf8), key: key.bytes)
    }

    /// - Parameters:
    ///   - installation: its GUID in lower case.
    ///   - now: seconds since 1970.
    func token(for installation: String, at now: Int64) -> String {
        let claims =
            #"{"client_id":"\#(Self.clientPrefix)\#(installation)","client_sub":"\#(installation)","scope":["\#(Self.scope)"],"nbf":\#(now),"exp":\#(now + Self.life)}"#
        let text = "\(Self.header).\(Base64.encodeForURL(Array(claims.utf8)))"
        return "\(text).\(signature(text))"
    }

    /// The installation that a token is for; `nil` when it is none of ours, or too old.
    func installation(of token: String, at now: Int64) -> String? {
        guard token.utf8.count <= 1024 else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            equalInConstantTime(Array(signature("\(parts[0]).\(parts[1])").utf8), Array(parts[2].utf8)),
            let claims = Base64.decodeFromURL(String(parts[1])).flatMap({ try? JSON($0) }),
            let end = claims["exp"]?.integer, now <= end + Self.grace
        else { return nil }
        return claims["client_sub"]?.string
    }

    private func signature(_ text: String) -> String {
        Base64.encodeForURL(HMAC.sha256(Array(text.utf8), key: key))
    }
}

/// What an installation asks a token with: OAuth's client credentials, form-encoded.
struct BitwardenTokenRequest: Equatable {
    /// OAuth's words.
    enum Fault: String, Error {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidScope = "invalid_scope"
        case unsupportedGrantType = "unsupported_grant_type"

        /// Official servers stay away for a day after a 400: it is for what only the operator can mend.
        var response: HTTPResponse { .token(status: 400, #"{"error":"\#(rawValue)"}"#) }
    }

    /// Its GUID in lower case.
    let installation: String
    let key: String

    init(_ body: [UInt8]) throws(Fault) {
        guard let form = try? HTTPQuery(String(decoding: body, as: UTF8.self)) else { throw .invalidRequest }
        guard form["grant_type"] == "client_credentials" else { throw .unsupportedGrantType }
        let prefix = BitwardenTokens.clientPrefix
        guard let client = form["client_id"], client.hasPrefix(prefix), let key = form["client_secret"],
            BitwardenBody.isGUID(String(client.dropFirst(prefix.count)))
        else { throw .invalidClient }
        guard form["scope"] == BitwardenTokens.scope else { throw .invalidScope }
        installation = client.dropFirst(prefix.count).lowercased()
        self.key = key
    }
}

extension HTTPResponse {
    static func token(status: Int, _ body: String) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: Array(body.utf8))
        response.fields.append("content-type", "application/json; charset=utf-8")
        response.fields.append("cache-control", "no-store")
        return response
    }
}
