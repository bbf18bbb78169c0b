import Encodings
import HTTP1

/// One encrypted message as Web Push brings it (RFC 8030, RFC 8291; draft-ietf-webpush-encryption-04), its parameters
/// read. The node can't open it and doesn't try.
struct WebPushMessage: Equatable {
    enum Encoding: Equatable {
        /// Key and salt come in header fields.
        case aesgcm(key: [UInt8], salt: [UInt8])
        /// Key and salt are in the body.
        case aes128gcm
    }

    /// Why a message is not taken. Senders give a subscription up for each of these.
    enum Fault: Error, Equatable {
        case unsupportedEncoding
        case badKey
        case badSalt
        case empty

        var status: Int { self == .unsupportedEncoding ? 415 : 400 }

        var text: String {
            switch self {
            case .unsupportedEncoding: "Content-Encoding must be aesgcm or aes128gcm"
            case .badKey: "Crypto-Key must hold dh=, a point of P-256: 65 bytes in base64url"
            case .badSalt: "Encryption must hold salt=, 16 bytes in base64url"
            case .empty: "no message"
            }
        }
    }

    let encoding: Encoding
    let body: [UInt8]
    /// The time to live in seconds, 0 or more; `nil` where the sender says none that can be read.
    let timeToLive: Int?
    /// Whether the phone shows the message at once; otherwise when it suits the phone.
    let isUrgent: Bool
    /// The name by which the message replaces an earlier one on the phone; `nil` also where it is not what
    /// Apple takes.
    let topic: String?
}

extension WebPushMessage {
    init(_ request: borrowing HTTPRequest) throws(Fault) {
        let encoding: Encoding
        switch request.fields["content-encoding"]?.word() {
        case "aes128gcm": encoding = .aes128gcm
        case "aesgcm":
            guard let key = WebPushMessage.parameter("dh", in: "crypto-key", of: request),
                key.count == 65
            else { throw .badKey }
            guard let salt = WebPushMessage.parameter("salt", in: "encryption", of: request),
                salt.count == 16
            else { throw .badSalt }
            encoding = .aesgcm(key: key, salt: salt)
        case _: throw .unsupportedEncoding
        }
        guard !request.body.isEmpty else { throw .empty }
        let isUrgent =
            switch request.fields["urgency"]?.word() {
            case "very-low", "low": false
            case _: true
            }
        self.init(
            encoding: encoding, body: request.body,
            timeToLive: request.fields["ttl"].flatMap { Int($0) }.map { max(0, $0) }, isUrgent: isUrgent,
            topic: request.fields["topic"].flatMap { topic in
                (1...64).contains(topic.utf8.count) && topic.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                    ? topic : nil
            })
    }

    /// Decodes the first parameter of a name in all fields of a name. Parameters are `name=value`, parted by
    /// `;` or `,` with blanks as one likes; a value may stand in quotes and may be padded.
    private static func parameter(_ name: String, in field: String, of request: HTTPRequest) -> [UInt8]? {
        request.fields.firstResult(of: field) { line -> [UInt8]?? in
            var start = 0
            while start < line.count {
                let end = line.endOfParameter(from: start)
                let part = line.extracting(start..<end)
                start = end + 1
                guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
                let key = part.extracting(first: sign)
                guard key.extracting(key.trimmed(of: " ", "\t")).isWord(name) else { continue }
                var value = part.extracting(droppingFirst: sign + 1)
                value = value.extracting(value.trimmed(of: " ", "\t"))
                value = value.extracting(value.trimmed(of: "\"", "\""))
                return Base64.decodeFromURL(value.extracting(value.trimmed(of: "=", "=")))
            }
            return nil
        } ?? nil
    }
}

extension Span<UInt8> {
    fileprivate func endOfParameter(from start: Int) -> Int {
        firstIndex(from: start) { Swift.min($0 ^ UInt8(ascii: ";"), $0 ^ UInt8(ascii: ",")) } ?? count
    }

    /// Returns the range that is left without these characters at both ends.
    fileprivate func trimmed(of one: Unicode.Scalar, _ other: Unicode.Scalar) -> Range<Int> {
        var (start, end) = (0, count)
        func isOne(_ byte: UInt8) -> Bool { byte == UInt8(ascii: one) || byte == UInt8(ascii: other) }
        while start < end, isOne(self[start]) { start += 1 }
        while start < end, isOne(self[end - 1]) { end -= 1 }
        return start..<end
    }
}
