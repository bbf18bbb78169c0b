import Crypto
import Encodings
import JSONCoding

/// `Authorization: vapid t=<token>, k=<key>`, judged as a push server judges it (RFC 8292).
package struct VAPIDHeader {
    package enum Fault: String, Error {
        case missing, scheme, form, key, algorithm, signature, claims, audience, expired
        case tooLong = "too-long"
        case subject
    }

    /// The application server's key as it stands there.
    package let key: String

    /// Reads a header and judges it.
    ///
    /// - Parameters:
    ///   - audience: the server's own origin.
    ///   - now: seconds since 1970.
    ///   - mustBeContactable: whether the subject must be there, with a host that has a dot and is no onion
    ///     address, as Apple wants it.
    package init(
        _ header: String?, audience: String, now: Int64, mustBeContactable: Bool
    ) throws(Fault) {
        guard let header else { throw .missing }
        guard let blank = header.firstIndex(of: " "), header[..<blank].lowercased() == "vapid" else {
            throw .scheme
        }
        var parameters: [String: String] = [:]
        for part in header[blank...].split(separator: ",") {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { throw .form }
            parameters[pair[0]] = pair[1]
        }
        guard let text = parameters["t"], let key = parameters["k"], let token = WebToken(text.utf8) else {
            throw .form
        }
        guard let point = Base64.decodeFromURL(key), P256.isPoint(point),
            let verifying = try? VerifyingKey(point: point)
        else { throw .key }
        guard token.header["alg"]?.string == "ES256" else { throw .algorithm }
        guard token.isSigned(by: verifying) else { throw .signature }
        guard let end = token.claims["exp"]?.integer else { throw .claims }
        guard token.claims["aud"]?.string == audience else { throw .audience }
        guard end > now else { throw .expired }
        guard end <= now + 86_400 else { throw .tooLong }
        self.key = key
        guard VAPIDHeader.isSubject(token.claims["sub"], mustBeContactable: mustBeContactable) else {
            throw .subject
        }
    }

    private static func isSubject(_ subject: JSON?, mustBeContactable: Bool) -> Bool {
        guard let subject else { return !mustBeContactable }
        guard let text = subject.string, text.hasPrefix("mailto:") || text.hasPrefix("https://") else {
            return false
        }
        guard mustBeContactable else { return true }
        let host = text.split { $0 == "/" || $0 == "@" || $0 == ":" }.dropFirst(text.contains("@") ? 2 : 1)
            .first
        return host.map { $0.contains(".") && !$0.hasSuffix(".onion") } ?? false
    }
}
