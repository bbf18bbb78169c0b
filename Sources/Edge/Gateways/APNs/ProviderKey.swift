import Crypto
import JSONCoding

/// The key that signs APNs provider tokens: Apple's `.p8` file with the two identifiers that belong to it.
package struct ProviderKey: Sendable, Equatable {
    package let keyID: String
    package let teamID: String
    private let key: SigningKey
    /// The digest of the file.
    private let digest: [UInt8]

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - keyID, teamID: Ten letters and digits each, as Apple's developer pages show them.
    ///   - p8: The file's bytes.
    package init(keyID: String, teamID: String, p8: [UInt8]) throws(CryptoError) {
        self.keyID = keyID
        self.teamID = teamID
        key = try SigningKey(pem: p8, algorithm: .es256)
        digest = Hash.sha256(p8)
    }

    package static func == (left: ProviderKey, right: ProviderKey) -> Bool {
        (left.keyID, left.teamID) == (right.keyID, right.teamID) && left.digest == right.digest
    }

    /// Signs a token, `{"alg":"ES256","kid":…}` . `{"iss":…,"iat":…}`: about 20 us of work. It is returned as the value of a
    /// request's `authorization`.
    ///
    /// - Parameter now: Seconds since 1970.
    func authorization(now: Int64) throws(CryptoError) -> Secret {
        var header = Array(#"{"alg":"ES256","kid":"#.utf8)
        header.append(jsonString: keyID)
        header.append(contentsOf: "}".utf8)
        var claims = Array(#"{"iss":"#.utf8)
        claims.append(jsonString: teamID)
        claims.append(contentsOf: #","iat":\#(now)}"#.utf8)
        return Secret("bearer \(try JSONWebToken.sign(header: header, claims: claims, with: key))")
    }
}
