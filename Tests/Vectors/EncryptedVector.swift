import Wire

/// A notification as Bisq encrypts it, with what its apps read of it.
package struct EncryptedVector: Decodable, CustomStringConvertible, Sendable {
    package struct Content: Decodable, Sendable {
        var sentDate: Int64
        var txId: String
        var title: String
        var message: String
        var type: String
        var actionRequired: String
        var version: Int64
    }

    package var name: String
    package var os: String
    package var key: String
    package var iv: String
    package var mobile_message: Content
    package var json: String
    package var padding: String
    package var json_utf8_bytes: Int
    package var padded_utf8_bytes: Int
    package var decrypted_utf8_hex_tail: String?
    package var ciphertext_base64: String?
    package var message_string: String?
    package var ios_app_accepts: Bool?
    package var android_app_accepts: Bool?
    package var description: String { name }

    package static let all = Result { try Vectors.bisq("encryption", as: [EncryptedVector].self) }

    package var message: PhoneText {
        PhoneText(
            sentDate: mobile_message.sentDate, transactionID: mobile_message.txId,
            title: mobile_message.title, message: mobile_message.message,
            kind: PhoneText.Kind(rawValue: mobile_message.type)!,
            actionRequired: mobile_message.actionRequired, version: mobile_message.version)
    }
}
