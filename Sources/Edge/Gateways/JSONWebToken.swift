import Crypto
import Encodings

/// A signed JSON web token in its compact form (RFC 7515, section 7.1): what proves to a push service who we are.
enum JSONWebToken {
    /// Signs a token.
    ///
    /// - Parameters:
    ///   - header, claims: JSON texts.
    static func sign(header: [UInt8], claims: [UInt8], with key: SigningKey) throws(CryptoError) -> String {
        let signed = "\(Base64.encodeForURL(header)).\(Base64.encodeForURL(claims))"
        return "\(signed).\(Base64.encodeForURL(try key.sign(Array(signed.utf8))))"
    }
}
