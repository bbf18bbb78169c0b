import Crypto
import Encodings
import JSONCoding

/// The words that a sender of the rounds has put into a push, wherever its door leaves them.
enum SenderWords {
    /// - Parameter body: of Apple's request or of Google's.
    static func message(in body: JSON) -> String? {
        let data = body["message"]?["data"] ?? body["data"] ?? body
        // Bisq's senders and gorush's; Web Push.
        if let words = (data["encrypted"] ?? data["x"])?.string { return words }
        // Bitwarden: JSON within JSON.
        if let payload = data["payload"]?.string { return (try? JSON(Array(payload.utf8)))?["words"]?.string }
        // Status: hex.
        guard let chat = data["chatId"]?.string, let bytes = Hex.decode(String(chat.dropFirst(2))) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
