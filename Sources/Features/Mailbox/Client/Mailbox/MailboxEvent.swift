import Encodings
import JSONCoding

/// One line of a mailbox's door (ntfy, docs/subscribe/api.md).
package enum MailboxEvent: Equatable, Sendable {
    /// The beginning: what lies there follows.
    case open
    case message(MailboxNote)
    /// The event has nothing to show.
    case other

    /// Reads a line; `nil`: it is no line of ntfy's.
    package init?(_ line: String) {
        guard let json = try? JSON(Array(line.utf8)), let event = json["event"]?.string?.name() else {
            return nil
        }
        switch event {
        case "open": self = .open
        case "message":
            guard let id = json["id"]?.string?.name(), id.consists(of: MailboxNote.isPartOfID),
                !id.isEmpty, let time = json["time"]?.integer,
                let text = (json["encrypted"] ?? json["message"])?.string
            else { return nil }
            let published = json["published"]?.string.map {
                MailboxNote.Published(publisher: $0, title: json["title"]?.string ?? "")
            }
            self = .message(MailboxNote(id: id, time: time, text: text, published: published))
        case _: self = .other
        }
    }
}

/// One message as it lies in a mailbox.
package struct MailboxNote: Equatable, Sendable {
    /// The message's id, at most 64 letters and digits.
    package let id: String
    /// Seconds since 1970.
    package let time: Int64
    /// Encrypted, but for what the node itself has to say, and for what was published.
    package let text: String
    /// The publisher's name and title; `nil`: the message is Bisq's or the node's.
    package let published: Published?

    /// The publisher and title of a text of the mailbox's owner.
    package struct Published: Equatable, Sendable {
        package let publisher: String
        package let title: String
    }

    package init(id: String, time: Int64, text: String, published: Published? = nil) {
        self.id = id
        self.time = time
        self.text = text
        self.published = published
    }

    static func isPartOfID(_ byte: UInt8) -> UInt8 { ASCII.letter(byte) | ASCII.digit(byte) }
}
