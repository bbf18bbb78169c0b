import Encodings

/// The content that a phone shows: the text inside a message string, before encryption (Bisq 1, `MobileMessage.java`).
package struct PhoneText: Equatable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case setupConfirmation = "SETUP_CONFIRMATION"
        case offer = "OFFER"
        case trade = "TRADE"
        case dispute = "DISPUTE"
        case price = "PRICE"
        case market = "MARKET"
        case erase = "ERASE"
    }

    /// Milliseconds since 1970.
    package var sentDate: Int64
    /// Short id of the trade or offer; empty where there is none.
    package var transactionID: String
    package var title: String
    package var message: String
    package var kind: Kind
    /// Bisq leaves it empty.
    package var actionRequired: String
    /// The version of this format.
    package var version: Int64

    package init(
        sentDate: Int64, transactionID: String = "", title: String = "", message: String = "", kind: Kind,
        actionRequired: String = "", version: Int64 = 1
    ) {
        self.sentDate = sentDate
        self.transactionID = transactionID
        self.title = title
        self.message = message
        self.kind = kind
        self.actionRequired = actionRequired
        self.version = version
    }

    /// The JSON text, byte for byte as Bisq's Gson writes it.
    package var json: String {
        let fields = [
            ("sentDate", "\(sentDate)"), ("txId", quoted(transactionID)), ("title", quoted(title)),
            ("message", quoted(message)), ("type", quoted(kind.rawValue)),
            ("actionRequired", quoted(actionRequired)), ("version", "\(version)"),
        ]
        return "{" + fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    /// The JSON text filled with blanks to whole blocks of 16 bytes, ready to be encrypted.
    ///
    /// Bytes are counted. Bisq counts characters, which loses every notification with a letter beyond ASCII. Blanks
    /// are the one filling that both phone apps accept.
    package var blocks: [UInt8] {
        var bytes = Array(json.utf8)
        bytes.append(contentsOf: repeatElement(0x20, count: (16 - bytes.count % 16) % 16))
        return bytes
    }

    /// Returns the text as Gson writes it with HTML escaping, its default.
    private func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\t": result += "\\t"
            case "\u{8}": result += "\\b"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\u{c}": result += "\\f"
            case "<", ">", "&", "=", "'", "\u{2028}", "\u{2029}", "\u{0}"..<"\u{20}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
