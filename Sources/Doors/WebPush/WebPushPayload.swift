import Encodings
import JSONCoding
import Relay

/// A Web Push message as the phones' apps read it: what their notification service extension decrypts.
enum WebPushPayload {
    /// The text that is shown when the extension fails; the original's.
    private static let trumpet = "🎺"

    /// For toot-relay's apps at Apple: `p` the message, `k` and `s` its key and salt if it is `aesgcm`, `x` the extra
    /// of the path; binary values in ``Encodings/Z85``. Apps tell the encodings apart by `k` and `s`.
    static func toot(_ message: WebPushMessage, extra: String?) -> String {
        var body = Array(
            #"{"aps":{"alert":"\#(trumpet)","content-available":1,"mutable-content":1}"#.utf8)
        for (name, value) in values(message, extra: extra) { body.append(name, value) }
        body.append(UInt8(ascii: "}"))
        return String(decoding: body, as: UTF8.self)
    }

    /// The same for its apps at Google: the members of `message` beside token and android.
    ///
    /// - Returns: Also the bytes that Google counts: keys and values of `data` and `notification`.
    static func tootAtGoogle(_ message: WebPushMessage, extra: String?) -> (body: String, size: Int) {
        var values = values(message, extra: extra)
        if case .aes128gcm = message.encoding { values.append(("rfc", Array("\"1\"".utf8))) }
        var body = Array(#""notification":{"title":"\#(trumpet)"},"data":{"#.utf8)
        let start = body.count
        for (name, value) in values { body.append(name, value) }
        body.remove(at: start)  // The first comma.
        body.append(
            contentsOf: #"},"apns":{"payload":{"aps":{"content-available":1,"mutable-content":1}}}"#.utf8)
        let size = values.reduce("title".utf8.count + trumpet.utf8.count) {
            // Quotes are not counted; what JSON escapes is counted as it is written.
            $0 + $1.name.utf8.count + $1.value.count - 2
        }
        return (String(decoding: body, as: UTF8.self), size)
    }

    /// For the apps of metatext-apns and its children: `m` the message and `k`, `s` in base64url, `i` the id of the
    /// path, `e` the encoding.
    static func metatext(_ message: WebPushMessage, id: String) -> String {
        var body = Array(
            #"{"aps":{"alert":{"loc-key":"apns-default-message"},"mutable-content":1},"i":"#.utf8)
        body.append(jsonString: id)
        let text = Base64.encodeForURL(message.body, isPadded: true)
        body.append("m", quoted(Array(text.utf8)))
        switch message.encoding {
        case .aesgcm(let key, let salt):
            body.append("s", quoted(Array(salt.text.utf8)))
            body.append("k", quoted(Array(key.text.utf8)))
            body.append("e", Array(#""aesgcm""#.utf8))
        case .aes128gcm: body.append("e", Array(#""aes128gcm""#.utf8))
        }
        body.append(UInt8(ascii: "}"))
        return String(decoding: body, as: UTF8.self)
    }

    /// Names, and values as JSON has them.
    private static func values(
        _ message: WebPushMessage, extra: String?
    ) -> [(name: String, value: [UInt8])] {
        var values = [(name: "p", value: z85(message.body))]
        if case .aesgcm(let key, let salt) = message.encoding {
            values.append(("k", z85(key.bytes)))
            values.append(("s", z85(salt.bytes)))
        }
        if let extra {
            var text: [UInt8] = []
            text.append(jsonString: extra)
            values.append(("x", text))
        }
        return values
    }

    private static func z85(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(Z85.length(of: bytes.count) + 2)
        text.append(UInt8(ascii: "\""))
        Z85.append(bytes, to: &text)
        text.append(UInt8(ascii: "\""))
        return text
    }

    private static func quoted(_ text: [UInt8]) -> [UInt8] {
        [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
    }
}

extension [UInt8] {
    /// A further member of a JSON object.
    fileprivate mutating func append(_ name: String, _ value: [UInt8]) {
        append(contentsOf: ",\"\(name)\":".utf8)
        append(contentsOf: value)
    }
}
