import Crypto
import Encodings
import JSONCoding
import Wire

/// Why a phone shows nothing for what it was sent.
package enum PhoneError: Error, Equatable, CustomStringConvertible {
    case messageString(MessageStringError)
    case cipher(CryptoError)
    /// The text is not what it should be: another key, or a filling that this kind of phone doesn't know.
    case unreadableText
    /// The field is absent, has another type, or is one this kind of phone doesn't take.
    case field(String)
    /// An ERASE that is not obeyed.
    case notErased

    package var description: String {
        switch self {
        case .messageString(let error): error.description
        case .cipher(let error): error.description
        case .unreadableText:
            "the message does not open: it was sealed under another key, or filled in another way"
        case .field(let name): "the message has no fitting field \(name)"
        case .notErased:
            "it asks to erase all messages, and it has a text, or its date is missing, more than a day old, ahead, or not later than the last one's"
        }
    }
}

/// A phone with Bisq Remote on it: shows a pairing token, and opens what its push service brings.
///
/// It accepts and refuses what the app of its platform does (Bisq Remote for Android: `CryptoUtil.kt`,
/// `BisqNotification.kt`; for iOS: `CryptoHelper.swift`, `Decrypt.swift`).
package struct Phone: Sendable {
    package let pairingToken: PairingToken

    package init(_ pairingToken: PairingToken) {
        self.pairingToken = pairingToken
    }

    /// Returns a phone that was never paired before: a new key, and a
    /// device token like those its push service gives.
    package static func new(_ platform: Platform, descriptor: String) throws(PairingTokenError) -> Phone {
        try new(platform, descriptor: descriptor, deviceToken: newDeviceToken(platform))
    }

    /// Returns a phone with a device token that its push service gave it.
    package static func new(
        _ platform: Platform, descriptor: String, deviceToken: String
    ) throws(PairingTokenError) -> Phone {
        Phone(
            try PairingToken(
                platform: platform, descriptor: descriptor, key: newKey(), deviceToken: deviceToken))
    }

    /// Returns a key as the apps make it: two random UUIDs as 32 bytes, in Base64, of which the first 32
    /// characters are the key. That is about 182 bits of chance.
    private static func newKey() -> String {
        String(Base64.encode(randomUUID() + randomUUID()).prefix(32))
    }

    private static func newDeviceToken(_ platform: Platform) -> String {
        switch platform {
        case .ios, .iosDev: Hex.encode(randomBytes(32))
        // FCM's have an instance id of 22 characters, a colon, and about 140 more.
        case .android:
            "\(Base64.encodeForURL(randomBytes(16))):APA91b\(Base64.encodeForURL(randomBytes(100)))"
        }
    }

    /// Opens what came under the key `encrypted`.
    package func open(_ encrypted: String) throws(PhoneError) -> PhoneText {
        try PhoneText(try fields(in: encrypted), for: pairingToken.platform)
    }

    /// Decrypts a message and returns its fields, whatever they may be.
    package func fields(in encrypted: String) throws(PhoneError) -> JSON.Object {
        let message: MessageString
        do {
            message = try MessageString(encrypted, for: pairingToken.platform.messageMagic)
        } catch {
            throw .messageString(error)
        }
        var text: [UInt8]
        do {
            text = try AES256CBC.decrypt(
                message.cipherText, key: Array(pairingToken.key.utf8), iv: message.iv)
        } catch {
            throw .cipher(error)
        }
        // Only the app for iOS expects PKCS#7. Blanks, 32, are no such filling and stay, as JSON allows.
        if pairingToken.platform != .android, let last = text.last, (1...16).contains(last) {
            text.removeLast(Int(last))
        }
        // Bits that somebody has changed make a block of chance before them, which hardly ever is UTF-8.
        guard (try? UTF8Span(validating: text.span)) != nil, let json = try? JSON(text),
            case .object(let fields) = json
        else { throw .unreadableText }
        return fields
    }
}

/// Returns 16 random bytes with the version and variant of a random UUID (RFC 9562, section 5.4).
func randomUUID() -> [UInt8] {
    var bytes = randomBytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    return bytes
}

extension PhoneText {
    /// Bisq's fields, and what the Android app adds when it stores a message.
    private static let namesOnAndroid: Set<String> = [
        "sentDate", "txId", "title", "message", "type", "actionRequired", "version", "uid", "receivedDate",
        "read",
    ]

    fileprivate init(_ fields: JSON.Object, for platform: Platform) throws(PhoneError) {
        // The app for iOS wants all fields and ignores others; the one for Android has defaults and refuses others.
        let isStrict = platform != .android
        if !isStrict, let unknown = fields.keys.first(where: { !Self.namesOnAndroid.contains($0) }) {
            throw .field(unknown)
        }
        func text(_ name: String) throws(PhoneError) -> String {
            guard let value = fields[name] else {
                if isStrict { throw .field(name) }
                return ""
            }
            guard let string = value.string else { throw .field(name) }
            return string
        }
        func number(_ name: String) throws(PhoneError) -> Int64 {
            guard let value = fields[name] else {
                if isStrict { throw .field(name) }
                return 0
            }
            guard let integer = value.integer else { throw .field(name) }
            return integer
        }
        guard let kind = Kind(rawValue: try text("type")) else { throw .field("type") }
        self.init(
            sentDate: try number("sentDate"), transactionID: try text("txId"), title: try text("title"),
            message: try text("message"), kind: kind, actionRequired: try text("actionRequired"),
            version: try number("version"))
    }
}
