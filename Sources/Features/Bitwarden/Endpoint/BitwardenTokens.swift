import Crypto
import Encodings
import JSONCoding
import Relay

/// The tokens that installations show with each request: JWTs of our own, `HS256`, so that nothing has to be kept.
///
/// Official servers read `exp` from the middle part and look at nothing else; they go on using one for up to five
/// minutes after it.
struct BitwardenTokens: Sendable {
    /// The seconds that a token is good for: the cloud's.
    static let life: Int64 = 86_400
    static let grace: Int64 = 300

    private let key: [UInt8]
    private static let header = Base64.encodeForURL(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8))

    init(key: Secret) {
        // The node's key for digests signs nothing else in this form.
        self.key = HMAC.sha256(Array("bitwarden access tokens".utf8), key: key.bytes)
    }

    /// Makes an access token.
    ///
    /// - Parameters:
    ///   - installation: The installation's GUID in lower case.
    ///   - key: The digest of the key that the installation has shown. The token ends with that key.
    ///   - now: Seconds since 1970.
    func token(for installation: String, with key: Relay.Digest, at now: Int64) -> String {
        let claims =
            #"{"client_id":"\#(BitwardenTokenRequest.clientPrefix)\#(installation)","client_sub":"\#(installation)","key":"\#(Self.claim(of: key))","scope":["\#(BitwardenTokenRequest.scope)"],"nbf":\#(now),"exp":\#(now + Self.life)}"#
        let text = "\(Self.header).\(Base64.encodeForURL(Array(claims.utf8)))"
        return "\(text).\(signature(text))"
    }

    /// Reads the installation that a token is for, and by which of its keys; `nil` when it is none of ours,
    /// or too old.
    func bearer(of token: String, at now: Int64) -> Bearer? {
        guard let parts = token.name(limit: 1024)?.split(separator: ".", omittingEmptySubsequences: false),
            parts.count == 3,
            equalInConstantTime(Array(signature("\(parts[0]).\(parts[1])").utf8), Array(parts[2].utf8)),
            let claims = Base64.decodeFromURL(String(parts[1])).flatMap({ try? JSON($0) }),
            let end = claims["exp"]?.integer, now <= end + Self.grace,
            let installation = claims["client_sub"]?.string, let key = claims["key"]?.string
        else { return nil }
        return Bearer(installation: installation, key: key)
    }

    /// The installation and the key that a token names.
    struct Bearer: Equatable {
        let installation: String
        fileprivate let key: String

        /// Whether the token was given for the key that the installation has now.
        func holds(_ key: Relay.Digest) -> Bool { self.key.hasSameBytes(as: BitwardenTokens.claim(of: key)) }
    }

    private static func claim(of key: Relay.Digest) -> String { "\(key.high).\(key.low)" }

    private func signature(_ text: String) -> String {
        Base64.encodeForURL(HMAC.sha256(Array(text.utf8), key: key))
    }
}
