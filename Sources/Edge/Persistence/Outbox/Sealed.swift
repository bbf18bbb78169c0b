import Relay

/// The names under which texts are sealed in a database: never changed once released.
///
/// Each is sealed for its row as well (``Owner``): whoever may write in the database can delete rows and repeat old ones,
/// but what is put into another row, or is of a row that was copied, is not authentic there.
package enum Sealed {
    package static let token = "token"
    package static let message = "message"
    package static let collapse = "collapse_id"
    package static let fields = "fields"
    package static let registration = "registration"
    package static let address = "address"
    /// The name of an empty text, for a row whose columns are in clear: they were written together.
    package static let proof = "proof"

    /// The row of a sealed text, by what never changes of it. No two kinds have the same bytes.
    package enum Owner {
        case waiting(sequence: Int64, id: (high: UInt64, low: UInt64), token: Digest)
        case message(id: String, mailbox: Digest)
        /// The text by which one message of a mailbox takes the place of another.
        case mailboxReplaces(Digest)
        case mailbox(Mailbox)
        case reader(name: String, token: Digest, mailbox: Digest)
        case publisher(name: String, token: Digest, mailbox: Digest)
        case phone(name: String)
        case alias(name: String)
        /// A row of a feature's table: a number for its kind, which no other kind has, and what never changes of it.
        case row(kind: UInt8, [Digest])
        /// Looked for by what is sealed.
        case all

        /// The columns of a mailbox, but for its number and its readers.
        package struct Mailbox {
            let name: String
            let address: Digest
            let topic: Digest
            let show: String
            let isOpen: Bool
            let isPush: Bool
        }

        /// A byte for the kind, what has a fixed length, and one text at the end.
        var bytes: [UInt8] {
            switch self {
            case .waiting(let sequence, let id, let token):
                Owner.bytes(1, [UInt64(bitPattern: sequence), id.high, id.low, token.high, token.low])
            case .message(let id, let mailbox): Owner.bytes(2, [mailbox.high, mailbox.low], id)
            case .mailboxReplaces(let mailbox): Owner.bytes(3, [mailbox.high, mailbox.low])
            case .mailbox(let mailbox):
                Owner.bytes(
                    4,
                    [
                        mailbox.address.high, mailbox.address.low, mailbox.topic.high, mailbox.topic.low,
                        mailbox.isOpen ? 1 : 0, mailbox.isPush ? 1 : 0, UInt64(mailbox.show.utf8.count),
                    ], mailbox.show + mailbox.name)
            case .reader(let name, let token, let mailbox):
                Owner.bytes(5, [mailbox.high, mailbox.low, token.high, token.low], name)
            case .publisher(let name, let token, let mailbox):
                Owner.bytes(10, [mailbox.high, mailbox.low, token.high, token.low], name)
            case .phone(let name): Owner.bytes(6, [], name)
            case .alias(let name): Owner.bytes(7, [], name)
            case .row(let kind, let digests): Owner.bytes(kind, digests.flatMap { [$0.high, $0.low] })
            case .all: []
            }
        }

        private static func bytes(_ kind: UInt8, _ words: [UInt64], _ text: String = "") -> [UInt8] {
            var bytes: [UInt8] = [kind]
            bytes.reserveCapacity(1 + 8 * words.count + text.utf8.count)
            for word in words { withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) } }
            bytes.append(contentsOf: text.utf8)
            return bytes
        }
    }
}
