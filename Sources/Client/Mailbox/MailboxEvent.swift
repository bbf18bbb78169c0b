import Encodings
import JSONCoding

/// What a mailbox's door says in one line (ntfy, docs/subscribe/api.md).
package enum MailboxEvent: Equatable, Sendable {
    /// What lies there follows.
    case open
    case message(MailboxNote)
    /// Nothing to show.
    case other

    /// `nil`: it is no line of ntfy's.
    package init?(_ line: String) {
        guard let json = try? JSON(Array(line.utf8)), let event = json["event"]?.string?.name() else {
            return nil
        }
        switch event {
        case "open": self = .open
        case "message":
            guard let id = json["id"]?.string?.name(), id.utf8.span.consists(of: MailboxNote.isPartOfID),
                !id.isEmpty, let time = json["time"]?.integer,
                let text = (json["encrypted"] ?? json["message"])?.string
            else { return nil }
            self = .message(MailboxNote(id: id, time: time, text: text))
        case _: self = .other
        }
    }
}

/// One message as it lies in a mailbox.
package struct MailboxNote: Equatable, Sendable {
    /// At most 64 letters and digits.
    package let id: String
    /// Seconds since 1970.
    package let time: Int64
    /// Encrypted, but for what the node itself has to say.
    package let text: String

    package init(id: String, time: Int64, text: String) {
        self.id = id
        self.time = time
        self.text = text
    }

    static func isPartOfID(_ byte: UInt8) -> UInt8 { ASCII.letter(byte) | ASCII.digit(byte) }
}
