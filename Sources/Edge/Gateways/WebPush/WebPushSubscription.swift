import Encodings
import Relay

/// A subscription to pushes as one text: `wp1:<endpoint>::<keys>`.
///
/// The endpoint goes without `https://`; each byte but `A-Z a-z 0-9 . _ -` is `:` and two upper-case hex digits. The keys
/// are 66 characters of base64 for URLs: the receiver's point with one coordinate (33 bytes) and the secret `auth` (16).
/// These are the characters of a token of FCM's, so that Bisq and its relays take it as one. One subscription has one
/// ``text``, however its endpoint was written: limits and dead tokens go by the text.
///
/// Whether the point lies on the curve is not looked at here. It prints as its host.
struct WebPushSubscription: Equatable, Sendable {
    let endpoint: PushEndpoint
    /// 2 or 3, then one coordinate: 33 bytes.
    let point: [UInt8]
    /// 16 bytes.
    let auth: [UInt8]

    static let prefix = "wp1:"
    private static let keyCharacters = 66
    /// The length of the longest text: the longest endpoint's, of which each byte may be written as three, with its keys.
    static let longest =
        prefix.utf8.count + 3 * (PushEndpoint.longest - PushEndpoint.scheme.utf8.count) + 2 + keyCharacters

    /// A path that Mozilla has given to nobody; the keys are the curve's own point and zeros.
    static let nobody = DeviceToken(
        "wp1:updates.push.services.mozilla.com:2Fwpush:2Fv2:2Fonionbell-watch-no-such-device"
            + "::A2sX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWAAAAAAAAAAAAAAAAAAAAAA")

    init?(_ text: String) {
        guard let subscription = text.withBytes({ WebPushSubscription($0) }) else { return nil }
        self = subscription
    }

    private init?(_ bytes: Span<UInt8>) {
        let prefix = WebPushSubscription.prefix
        // Behind the prefix: an endpoint, two colons, the keys.
        let end = bytes.count - WebPushSubscription.keyCharacters
        guard bytes.count <= WebPushSubscription.longest, bytes.starts(with: prefix),
            end - 2 > prefix.count, bytes[end - 1] == UInt8(ascii: ":"), bytes[end - 2] == UInt8(ascii: ":"),
            let keys = Base64.decodeFromURL(PushEndpoint.string(bytes.extracting(droppingFirst: end))),
            keys.count == 49, keys[0] == 2 || keys[0] == 3,
            let plain = WebPushSubscription.unescaped(bytes.extracting(prefix.count..<end - 2)),
            let endpoint = PushEndpoint(withoutScheme: plain.span)
        else { return nil }
        self.endpoint = endpoint
        point = Array(keys[..<33])
        auth = Array(keys[33...])
    }

    /// Makes a subscription of its parts.
    ///
    /// - Parameters:
    ///   - point: 65 bytes, as browsers give `p256dh`.
    ///   - auth: 16 bytes, the secret.
    init?(endpoint: PushEndpoint, point: [UInt8], auth: [UInt8]) {
        guard point.count == 65, point[0] == 4, auth.count == 16 else { return nil }
        self.endpoint = endpoint
        self.point = [2 + point[64] & 1] + point[1..<33]
        self.auth = auth
    }

    var text: String {
        var bytes = Array(WebPushSubscription.prefix.utf8)
        for byte in endpoint.withoutScheme.utf8 {
            if WebPushSubscription.isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: ":"))
                bytes.append(contentsOf: [byte >> 4, byte & 15].map(WebPushSubscription.upperCaseDigit))
            }
        }
        return String(decoding: bytes, as: UTF8.self) + "::" + Base64.encodeForURL(point + auth)
    }

    /// Removes the escapes of a text; `nil` for an escape of what needs none, in another writing, or cut off.
    private static func unescaped(_ text: Span<UInt8>) -> [UInt8]? {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let byte = text[index]
            if isPlain(byte) {
                plain.append(byte)
                index += 1
                continue
            }
            guard byte == UInt8(ascii: ":"), index + 2 < text.count,
                let high = upperCaseValue(text[index + 1]),
                let low = upperCaseValue(text[index + 2]), !isPlain(high << 4 | low)
            else { return nil }
            plain.append(high << 4 | low)
            index += 3
        }
        return plain
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, ".") | ASCII.equal(byte, "_")
            | ASCII.equal(byte, "-") == 1
    }

    private static func upperCaseDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func upperCaseValue(_ digit: UInt8) -> UInt8? {
        ASCII.digit(digit) | ASCII.upperCase(digit) == 1 ? Hex.value(digit) : nil
    }
}

extension WebPushSubscription: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "<subscription at \(endpoint)>" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
