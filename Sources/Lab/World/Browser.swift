import Crypto
import Encodings

/// A browser with a subscription at a simulated push server: shows its token, and opens what comes.
package struct Browser: Sendable {
    /// The path of the endpoint.
    package let path: String
    package let endpoint: String
    /// The key of the subscription; `nil`: somebody else has it, and opens what comes.
    private let key: P256Key?
    private let point: [UInt8]
    private let secret: [UInt8]

    package init(at url: String, path: String) throws(CryptoError) {
        self.path = path
        endpoint = url + path
        let key = try P256Key.generate()
        self.key = key
        point = key.publicPoint
        secret = randomBytes(16)
    }

    /// Makes a browser of somebody else's keys.
    init?(at url: String, path: String, p256dh: String, auth: String) {
        guard let point = Base64.decodeFromURL(p256dh), P256.isPoint(point),
            let secret = Base64.decodeFromURL(auth), secret.count == 16
        else { return nil }
        self.path = path
        endpoint = url + path
        key = nil
        self.point = point
        self.secret = secret
    }

    /// The token as the page makes it: the endpoint without `https://` and with `:XX` for what is no letter,
    /// digit, `.`, `_` or `-`, two colons, and the compressed point with the secret.
    package var token: String {
        var text = "wp1:"
        for character in endpoint.dropFirst("https://".count).unicodeScalars {
            let isPlain =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".unicodeScalars
                .contains(character)
            let digits = String(character.value, radix: 16, uppercase: true)
            text += isPlain ? String(character) : ":" + (digits.count < 2 ? "0" : "") + digits
        }
        let sign: UInt8 = point[64].isMultiple(of: 2) ? 2 : 3
        return text + "::" + Base64.encodeForURL([sign] + point[1...32] + secret)
    }

    /// Returns the text inside of a push, which was filled up with zeros.
    package func open(_ push: AcceptedPush) throws(CryptoError) -> String { try open(push.body) }

    package func open(_ body: [UInt8]) throws(CryptoError) -> String {
        guard let key else { throw .notAuthentic }
        return String(decoding: try WebPushEncryption.open(body, with: key, secret: secret), as: UTF8.self)
    }
}
