import Persistence
import Relay

/// The rows that texts of the mailboxes' tables are sealed for. The numbers of the kinds never change.
extension Sealed.Owner {
    static func message(id: String, mailbox: Digest) -> Self { .row(kind: 2, of: mailbox, text: id) }

    /// Returns the row of a text by which one message of a mailbox takes the place of another.
    static func mailboxReplaces(_ mailbox: Digest) -> Self { .row(kind: 3, of: mailbox) }

    static func mailbox(_ mailbox: Mailbox) -> Self {
        .row(
            kind: 4,
            [
                mailbox.address.high, mailbox.address.low, mailbox.topic.high, mailbox.topic.low,
                mailbox.isOpen ? 1 : 0, mailbox.isPush ? 1 : 0, UInt64(mailbox.show.utf8.count),
            ], mailbox.show + mailbox.name)
    }

    static func reader(name: String, token: Digest, mailbox: Digest) -> Self {
        .row(kind: 5, of: mailbox, token, text: name)
    }

    static func publisher(name: String, token: Digest, mailbox: Digest) -> Self {
        .row(kind: 10, of: mailbox, token, text: name)
    }

    /// The columns of a mailbox, but for its number and its readers.
    struct Mailbox {
        let name: String
        let address: Digest
        let topic: Digest
        let show: String
        let isOpen: Bool
        let isPush: Bool
    }
}
