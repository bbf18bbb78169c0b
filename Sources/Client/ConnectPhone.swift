import Crypto
import Encodings
import HTTP1
import JSONCoding
import Wire

/// A message that Bisq Connect shows (Bisq 2, `DeviceRegistrationService.java`; bisq-mobile).
package struct ConnectMessage: Equatable, Sendable {
    package enum Category: String, CaseIterable, Sendable {
        case general
        case tradeUpdate = "trade_update"
        case chatMessage = "chat_message"
        case offerUpdate = "offer_update"
    }

    package var id: String
    package var title: String
    package var message: String
    package var category: Category
    /// The id of the trade; `nil` where the message is about no trade.
    package var tradeID: String?

    package init(
        id: String, title: String, message: String, category: Category = .general, tradeID: String? = nil
    ) {
        self.id = id
        self.title = title
        self.message = message
        self.category = category
        self.tradeID = tradeID
    }

    package var json: [UInt8] {
        var fields = [("id", id), ("title", title), ("message", message), ("category", category.rawValue)]
        if let tradeID { fields.append(("tradeId", tradeID)) }
        return Array(objectOf: fields)
    }

    fileprivate init(_ fields: JSON.Object) throws(PhoneError) {
        func text(_ name: String) throws(PhoneError) -> String {
            guard let text = fields[name]?.string else { throw .field(name) }
            return text
        }
        guard let category = Category(rawValue: try text("category")) else { throw .field("category") }
        self.init(
            id: try text("id"), title: try text("title"), message: try text("message"), category: category,
            tradeID: fields["tradeId"]?.string)
    }
}

/// A phone with Bisq Connect on it, as its trusted node has it registered: where pushes to it go, and the key that both
/// share. The node seals and asks the relay; the phone opens.
package struct ConnectPhone: Sendable {
    package let platform: Platform
    package let deviceToken: String
    private let key: [UInt8]

    /// Bytes of the key.
    package static let keyLength = 32
    private static let nonceLength = 12

    /// Makes a phone with a key for AES-256.
    package init(platform: Platform, deviceToken: String, key: [UInt8]) throws(CryptoError) {
        guard key.count == ConnectPhone.keyLength else {
            throw .wrongLength(of: "AES-256 key", bytes: key.count, allowed: "\(ConnectPhone.keyLength)")
        }
        self.platform = platform
        self.deviceToken = deviceToken
        self.key = key
    }

    /// Encrypts a message, and returns Base64 of nonce (12 bytes), AES-256-GCM text and tag (16).
    package func seal(_ message: ConnectMessage) throws(CryptoError) -> String {
        let nonce = randomBytes(ConnectPhone.nonceLength)
        return Base64.encode(nonce + (try AES256GCM.seal(message.json, key: key, nonce: nonce)))
    }

    /// Opens what came under the key `encrypted`.
    package func open(_ encrypted: String) throws(PhoneError) -> ConnectMessage {
        try ConnectMessage(try fields(in: encrypted))
    }

    /// Decrypts a message and returns its fields, whatever they may be.
    package func fields(in encrypted: String) throws(PhoneError) -> JSON.Object {
        guard let sealed = Base64.decode(encrypted), sealed.count > ConnectPhone.nonceLength else {
            throw .unreadableText
        }
        guard let plain = try? AES256GCM.open(sealed, key: key), let json = try? JSON(plain),
            let fields = json.object
        else { throw .unreadableText }
        return fields
    }

    /// Returns the request of a trusted node for a sealed message (Bisq 2,
    /// `MobileNotificationRelayClient.java`).
    package func request(for encrypted: String) -> HTTPRequest {
        let gateway = platform == .android ? "fcm" : "apns"
        var request = HTTPRequest(
            method: "POST", path: "/v1/\(gateway)/device/\(deviceToken)",
            body: Array(
                #"{"encrypted":"\#(encrypted)","isUrgent":true,"isMutableContent":true}"#.utf8),
            isKeptAlive: false)
        request.fields.append("Content-Type", "application/json")
        return request
    }
}

extension [UInt8] {
    /// Makes a JSON object of texts.
    fileprivate init(objectOf fields: [(name: String, value: String)]) {
        self = [UInt8(ascii: "{")]
        for (index, field) in fields.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            append(jsonString: field.name)
            append(UInt8(ascii: ":"))
            append(jsonString: field.value)
        }
        append(UInt8(ascii: "}"))
    }
}
