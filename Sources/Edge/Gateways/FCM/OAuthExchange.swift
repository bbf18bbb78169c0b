import Crypto
import Encodings
import HTTP1
import JSONCoding
import Relay

/// Trades a service account's assertion for an access token (RFC 7523; Google, "Using OAuth 2.0 for Server to Server
/// Applications").
enum OAuthExchange {
    static let contentType = "application/x-www-form-urlencoded"

    static func body(assertion: Secret) -> [UInt8] {
        let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer".percentEncoded
        // An assertion is base64 for URLs and dots: nothing to encode.
        return Array("grant_type=\(grant)&assertion=".utf8) + assertion.bytes
    }

    enum Answer: Equatable {
        /// The value of a request's `authorization`.
        case token(Secret, lifetime: Duration)
        /// There is no token now.
        case failed(reason: String, retryAfter: Duration?)
        /// Key, account or clock: an operator must look. Tried again all the same.
        case refused(reason: String)
    }

    static func read(_ answer: GatewayAnswer) -> Answer {
        let body = try? JSON(answer.body)
        switch answer.status {
        case 200:
            // A header's value: visible ASCII only.
            guard let token = body?["access_token"]?.string, !token.isEmpty,
                token.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }),
                let seconds = body?["expires_in"]?.integer, (1...86_400).contains(seconds)
            else { return .failed(reason: "BadTokenAnswer", retryAfter: nil) }
            return .token(Secret("Bearer \(token)"), lifetime: .seconds(seconds))
        case 400, 401, 403:
            if let error = GatewayAnswer.word(body?["error"]?.string) { return .refused(reason: error) }
            return .failed(reason: answer.statusWord, retryAfter: answer.retryAfter)
        case _:
            return .failed(reason: answer.statusWord, retryAfter: answer.retryAfter)
        }
    }
}
