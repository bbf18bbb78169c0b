import Encodings
import JSONCoding
import Relay

/// A Web Push message as the phones' apps read it: what their notification service extension decrypts.
enum WebPushPayload {
    /// The text that is shown when the extension fails; the original's.
    private static let trumpet = "🎺"

    /// Returns the payload for toot-relay's apps at Apple: `p` the message, `k` and `s` its key and salt if
    /// it is `aesgcm`, `x` the extra of the path; binary values in ``Encodings/Z85``. Apps tell the encodings
    /// apart by `k` and `s`.
    static func toot(_ message: WebPushMessage, extra: String?) -> String {
        // Apart from its beginning it is ASCII, as a rule: that is checked many bytes at once.
        var rest: [UInt8] = []
        rest.reserveCapacity(message.body.count * 5 / 4 + 256)
        append(message, extra: extra, to: &rest)
        rest.append(UInt8(ascii: "}"))
        return apple + text(rest)
    }

    private static let apple =
        #"{"aps":{"alert":"\#(trumpet)","content-available":1,"mutable-content":1}"#

    /// Returns the payload for toot-relay's apps at Google: the members of `message` beside token and
    /// android.
    ///
    /// - Returns: Also the bytes that Google counts: keys and values of `data` and `notification`.
    static func tootAtGoogle(_ message: WebPushMessage, extra: String?) -> (body: String, size: Int) {
        var members: [UInt8] = []
        var count = append(message, extra: extra, to: &members)
        if case .aes128gcm = message.encoding {
            members.append(contentsOf: #","rfc":"1""#.utf8)
            count += 1
        }
        // Quotes, colons and commas are not counted; what JSON escapes is counted as it is written.
        let size = "title".utf8.count + trumpet.utf8.count + members.count - 6 * count
        // The first comma.
        members.removeFirst()
        let body =
            Array(#""notification":{"title":"\#(trumpet)"},"data":{"#.utf8) + members
            + Array(#"},"apns":{"payload":{"aps":{"content-available":1,"mutable-content":1}}}"#.utf8)
        return (text(body), size)
    }

    /// Returns the payload for the apps of metatext-apns and its children: `m` the message and `k`, `s` in
    /// base64url, `i` the id of the path, `e` the encoding.
    static func metatext(_ message: WebPushMessage, id: String) -> String {
        var body = Array(
            #"{"aps":{"alert":{"loc-key":"apns-default-message"},"mutable-content":1},"i":"#.utf8)
        body.append(jsonString: id)
        body.append(contentsOf: #","m":""#.utf8)
        body.append(contentsOf: Base64.encodeForURL(message.body, isPadded: true).utf8)
        switch message.encoding {
        case .aesgcm(let key, let salt):
            body.append(contentsOf: #"","s":""#.utf8)
            body.append(contentsOf: Base64.encodeForURL(salt).utf8)
            body.append(contentsOf: #"","k":""#.utf8)
            body.append(contentsOf: Base64.encodeForURL(key).utf8)
            body.append(contentsOf: #"","e":"aesgcm"}"#.utf8)
        case .aes128gcm: body.append(contentsOf: #"","e":"aes128gcm"}"#.utf8)
        }
        return text(body)
    }

    /// Appends further members to a JSON object.
    ///
    /// - Returns: The number of members.
    @discardableResult
    private static func append(_ message: WebPushMessage, extra: String?, to body: inout [UInt8]) -> Int {
        var count = 1
        body.append(#","p":"#, z85: message.body)
        if case .aesgcm(let key, let salt) = message.encoding {
            body.append(#","k":"#, z85: key)
            body.append(#","s":"#, z85: salt)
            count += 2
        }
        if let extra {
            body.append(contentsOf: #","x":"#.utf8)
            body.append(jsonString: extra)
            count += 1
        }
        return count
    }

    private static func text(_ bytes: [UInt8]) -> String {
        // Our own words, digits of ASCII, and a text that was one already.
        guard let valid = try? UTF8Span(validating: bytes.span) else {
            preconditionFailure("a payload of UTF-8")
        }
        return String(copying: valid)
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ name: String, z85 bytes: [UInt8]) {
        append(contentsOf: name.utf8)
        append(UInt8(ascii: "\""))
        Z85.append(bytes, to: &self)
        append(UInt8(ascii: "\""))
    }
}
