import Encodings
import HTTP1

/// One encrypted message as Web Push brings it (RFC 8030, RFC 8291; draft-ietf-webpush-encryption-04), its parameters
/// read. The node can't open it and doesn't try.
struct WebPushMessage: Equatable {
    enum Encoding: Equatable {
        /// Key and salt come in header fields.
        case aesgcm(key: Parameter, salt: Parameter)
        /// Key and salt are in the body.
        case aes128gcm
    }

    /// A value of a header field: as it came, without padding, and what it stands for.
    struct Parameter: Equatable {
        let text: String
        let bytes: [UInt8]
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
    /// Seconds, 0 or more; `nil` where the sender says none that can be read.
    let timeToLive: Int?
    /// Shown at once; otherwise when it suits the phone.
    let isUrgent: Bool
    /// What it replaces on the phone; `nil` also where it is not what Apple takes.
    let topic: String?

    init(_ request: HTTPRequest) throws(Fault) {
        switch request.fields["content-encoding"]?.word() {
        case "aes128gcm": encoding = .aes128gcm
        case "aesgcm":
            guard let key = WebPushMessage.parameter("dh", in: "crypto-key", of: request),
                key.bytes.count == 65
            else { throw .badKey }
            guard let salt = WebPushMessage.parameter("salt", in: "encryption", of: request),
                salt.bytes.count == 16
            else { throw .badSalt }
            encoding = .aesgcm(key: key, salt: salt)
        case _: throw .unsupportedEncoding
        }
        guard !request.body.isEmpty else { throw .empty }
        body = request.body
        timeToLive = request.fields["ttl"].flatMap { Int($0) }.map { max(0, $0) }
        switch request.fields["urgency"]?.word() {
        case "very-low", "low": isUrgent = false
        case _: isUrgent = true
        }
        topic = request.fields["topic"].flatMap { topic in
            (1...64).contains(topic.utf8.count) && topic.utf8.allSatisfy { (0x21...0x7e).contains($0) }
                ? topic : nil
        }
    }

    /// The first parameter of that name in all fields of that name. Parameters are `name=value`, parted by `;` or `,`
    /// with blanks as one likes; a value may stand in quotes and may be padded.
    private static func parameter(_ name: String, in field: String, of request: HTTPRequest) -> Parameter? {
        for line in request.fields.all where line.name == field {
            for part in line.value.utf8.split(whereSeparator: { [0x3b, 0x2c].contains($0) }) {
                guard let sign = part.firstIndex(of: UInt8(ascii: "=")),
                    part[..<sign].trimming(" \t").lazy.map(ASCII.lowercased).elementsEqual(name.utf8)
                else { continue }
                let value = part[part.index(after: sign)...].trimming(" \t").trimming("\"").trimming("=")
                let text = String(Substring(value))
                return Base64.decodeFromURL(text).map { Parameter(text: text, bytes: $0) }
            }
        }
        return nil
    }
}

extension Substring.UTF8View {
    /// Without these characters at both ends.
    fileprivate func trimming(_ characters: String) -> Substring.UTF8View {
        var rest = drop { characters.utf8.contains($0) }
        while let last = rest.last, characters.utf8.contains(last) { rest.removeLast() }
        return rest
    }
}
