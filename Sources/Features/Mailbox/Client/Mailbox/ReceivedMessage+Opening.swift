import Client
import Encodings
import JSONCoding
import Wire

extension ReceivedMessage {
    private static let notice = "OnionbellNotice|"

    /// Opens a note of a mailbox with the key of a pairing token, unless it was published.
    package init(opening note: MailboxNote, with token: PairingToken) throws(PhoneError) {
        guard let published = note.published else {
            try self.init(opening: note.text, with: token)
            return
        }
        self.init(
            kind: .published, title: "[\(published.publisher)] \(published.title)", message: note.text)
    }

    /// Opens what Bisq or the node has sent, with the key of a pairing token.
    package init(opening text: String, with token: PairingToken) throws(PhoneError) {
        if text.utf8.starts(with: Self.notice.utf8) {
            let json = Array(text.utf8.dropFirst(Self.notice.utf8.count))
            guard let fields = try? JSON(json).object else { throw .unreadableText }
            self.init(.node, fields, trade: "", sent: "sentDate")
        } else if text.utf8.contains(UInt8(ascii: "|")) {
            let fields = try Phone(token).fields(in: text)
            let word = fields["type"]?.string?.name() ?? ""
            let kind = PhoneText.Kind(rawValue: word).flatMap { Kind(rawValue: $0.rawValue) }
            self.init(kind ?? .general, fields, trade: "txId", sent: "sentDate")
        } else {
            let phone: ConnectPhone
            do {
                phone = try ConnectPhone(
                    platform: token.platform, deviceToken: token.deviceToken, key: Array(token.key.utf8))
            } catch {
                throw .cipher(error)
            }
            let fields = try phone.fields(in: text)
            let category = ConnectMessage.Category(rawValue: fields["category"]?.string?.name() ?? "")
            self.init(category.kind, fields, trade: "tradeId", sent: "")
        }
    }
}

extension ConnectMessage.Category? {
    fileprivate var kind: ReceivedMessage.Kind {
        switch self {
        case .tradeUpdate: .trade
        case .chatMessage: .chat
        case .offerUpdate: .offer
        case .general, nil: .general
        }
    }
}
