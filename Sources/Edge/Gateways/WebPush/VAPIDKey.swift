import Crypto
import Encodings
import JSONCoding

/// The key by which push services know this node (VAPID, RFC 8292). Each subscription is made for one such key: with
/// another key all phones have to subscribe anew.
package struct VAPIDKey: Sendable {
    private let key: SigningKey
    /// The public key as pages and requests have it: 87 characters of base64 for URLs, of 65 bytes.
    package let publicText: String

    package static func generate() throws(CryptoError) -> VAPIDKey { try VAPIDKey(.generate(.es256)) }

    /// Reads a key from PKCS#8, as ``pem()`` gives it and `openssl` and other Web Push programs write it.
    package init(pem: [UInt8]) throws(CryptoError) {
        try self.init(SigningKey(pem: pem, algorithm: .es256))
    }

    private init(_ key: SigningKey) throws(CryptoError) {
        self.key = key
        publicText = Base64.encodeForURL(try key.publicPoint())
    }

    package func pem() throws(CryptoError) -> Secret { try key.privatePEM() }

    /// Returns the value of a request's `authorization`: about 30 us of work.
    ///
    /// - Parameters:
    ///   - origin: The push service's origin: `https://host[:port]`.
    ///   - contact: The operator's contact, as `mailto:` or `https:`.
    ///   - end: Seconds since 1970, at most 24 hours ahead.
    func authorization(for origin: String, contact: String, until end: Int64) throws(CryptoError) -> Secret {
        var claims = Array(#"{"aud":"#.utf8)
        claims.append(jsonString: origin)
        claims.append(contentsOf: #","exp":\#(end),"sub":"#.utf8)
        claims.append(jsonString: contact)
        claims.append(contentsOf: "}".utf8)
        let token = try JSONWebToken.sign(
            header: Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8), claims: claims, with: key)
        return Secret("vapid t=\(token), k=\(publicText)")
    }
}

extension VAPIDKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "VAPID key \(publicText)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
