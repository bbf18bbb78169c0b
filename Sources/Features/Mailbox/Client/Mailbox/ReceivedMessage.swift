import Encodings
import JSONCoding

/// A message as a reader of a mailbox shows it, from Bisq 1, Bisq 2 or the node itself.
///
/// It takes more than the phones' apps do: a field that is missing is empty, and a kind that is new is ``Kind/general``.
package struct ReceivedMessage: Equatable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case setupConfirmation = "SETUP_CONFIRMATION"
        case offer = "OFFER"
        case trade = "TRADE"
        case dispute = "DISPUTE"
        case price = "PRICE"
        case market = "MARKET"
        case erase = "ERASE"
        case chat = "CHAT"
        case general = "GENERAL"
        /// A message of a publisher of the mailbox's owner. The message is not encrypted, and no text in it makes the reader do
        /// anything.
        case published = "PUBLISHED"
        /// A message of the node: it is not encrypted, and no sender can send it.
        case node = "NODE"

        /// The title where Bisq sends none.
        package var words: String {
            switch self {
            case .setupConfirmation: "Bisq has accepted this phone"
            case .offer: "Something happened to an offer"
            case .trade: "Something happened in a trade"
            case .dispute: "Something happened in a dispute"
            case .price: "A price alert"
            case .market: "A market alert"
            case .erase: "Bisq has erased all notifications"
            case .chat: "A chat message"
            case .general: "Something happened in Bisq"
            case .published: "A text without a title"
            case .node: "The node has something to say"
            }
        }
    }

    package let kind: Kind
    /// Free of what commands a terminal, as the message is; at most 200 bytes.
    package let title: String
    /// The text, at most 4,000 bytes. It may have lines.
    package let message: String
    /// The id of the trade; empty where the message is about no trade.
    package let tradeID: String
    /// Milliseconds since 1970; 0: not known.
    package let sentDate: Int64

    package init(
        kind: Kind, title: String = "", message: String = "", tradeID: String = "", sentDate: Int64 = 0
    ) {
        self.kind = kind
        self.title = ReceivedMessage.shown(title, limit: 200)
        self.message = ReceivedMessage.shown(message, limit: 4000, hasLines: true)
        self.tradeID = ReceivedMessage.shown(tradeID, limit: 200)
        self.sentDate = max(0, sentDate)
    }

    /// Reads the fields of these names.
    init(_ kind: Kind, _ fields: JSON.Object, trade: String, sent: String) {
        self.init(
            kind: kind, title: fields["title"]?.string ?? "", message: fields["message"]?.string ?? "",
            tradeID: fields[trade]?.string ?? "", sentDate: fields[sent]?.integer ?? 0)
    }

    /// Returns the text up to the limit, without control characters, which command terminals, and those that
    /// turn the direction of writing: they could make one text look like another.
    private static func shown(_ text: String, limit: Int, hasLines: Bool = false) -> String {
        let scalars = text.cut(toBytes: limit).unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x0A: hasLines
            case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: false
            case _: true
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
