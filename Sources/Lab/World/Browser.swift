import Crypto
import Encodings

/// A browser with a subscription at a simulated push server: shows its token, and opens what comes.
package struct Browser: Sendable {
    /// Of the endpoint.
    package let path: String
    package let endpoint: String
    private let key: P256Key
    private let secret: [UInt8]

    init(at url: String, path: String) throws(CryptoError) {
        self.path = path
        endpoint = url + path
        key = try .generate()
        secret = randomBytes(16)
    }

    /// As the page makes it: the endpoint without `https://` and with `:XX` for what is no letter, digit, `.`, `_` or `-`,
    /// two colons, and the compressed point with the secret.
    package var token: String {
        var text = "wp1:"
        for character in endpoint.dropFirst("https://".count).unicodeScalars {
            let isPlain =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".unicodeScalars
                .contains(character)
            let digits = String(character.value, radix: 16, uppercase: true)
            text += isPlain ? String(character) : ":" + (digits.count < 2 ? "0" : "") + digits
        }
        let point = key.publicPoint
        let sign: UInt8 = point[64].isMultiple(of: 2) ? 2 : 3
        return text + "::" + Base64.encodeForURL([sign] + point[1...32] + secret)
    }

    /// The public part of the subscription as pages get it.
    package var p256dh: String { Base64.encodeForURL(key.publicPoint) }
    package var auth: String { Base64.encodeForURL(secret) }

    /// The text inside of a push, which was filled up with zeros.
    package func open(_ push: AcceptedPush) throws(CryptoError) -> String {
        String(decoding: try WebPushEncryption.open(push.body, with: key, secret: secret), as: UTF8.self)
    }
}
