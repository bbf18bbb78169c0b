import Encodings
import HTTP1

/// An installation's request for a token: OAuth's client credentials, form-encoded.
struct BitwardenTokenRequest: Equatable {
    /// OAuth's words.
    enum Fault: String, Error {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidScope = "invalid_scope"
        case unsupportedGrantType = "unsupported_grant_type"

        /// The answer to the fault. Official servers stay away for a day after a 400: it is for what only the
        /// operator can mend.
        var response: HTTPResponse { .token(status: 400, #"{"error":"\#(rawValue)"}"#) }
    }

    static let scope = "api.push"
    static let clientPrefix = "installation."

    /// The installation's GUID in lower case.
    let installation: String
    let key: String

    init(_ body: [UInt8]) throws(Fault) {
        guard let form = try? HTTPQuery(body.span) else { throw .invalidRequest }
        guard form["grant_type"]?.name() == "client_credentials" else { throw .unsupportedGrantType }
        let prefix = BitwardenTokenRequest.clientPrefix
        guard let client = form["client_id"]?.name(), client.hasPrefix(prefix),
            let key = form["client_secret"], BitwardenBody.isGUID(String(client.dropFirst(prefix.count)))
        else { throw .invalidClient }
        guard form["scope"]?.name() == BitwardenTokenRequest.scope else { throw .invalidScope }
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
