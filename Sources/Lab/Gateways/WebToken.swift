import Crypto
import Encodings
import JSONCoding

/// A JSON web token in compact form (RFC 7515): `header.claims.signature`, each base64url.
struct WebToken {
    let header: JSON
    let claims: JSON
    private let signed: [UInt8]
    private let signature: [UInt8]

    /// Reads a token; `nil` if the text has another form.
    init?(_ text: some Collection<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.count <= 8192, parts.count == 3,
            let header = Self.document(parts[0]), let claims = Self.document(parts[1]),
            let signature = Base64.decodeFromURL(String(decoding: parts[2], as: UTF8.self))
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
    }

    /// Whether `key` made it, and its header says so.
    func isSigned(by key: VerifyingKey) -> Bool {
        header["alg"]?.string == key.algorithm.rawValue && key.accepts(signature, of: signed)
    }

    private static func document(_ part: some Collection<UInt8>) -> JSON? {
        Base64.decodeFromURL(String(decoding: part, as: UTF8.self)).flatMap { try? JSON($0) }
    }
}
