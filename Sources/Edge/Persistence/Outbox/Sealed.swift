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
        case phone(name: String)
        case alias(name: String)
        /// A row of a feature's table: a number for its kind, which no other kind has, and what never changes of it.
        case row(kind: UInt8, [UInt64], String = "")
        /// Looked for by what is sealed.
        case all

        /// Returns a row of a feature's table that digests tell from others.
        package static func row(kind: UInt8, of digests: Digest..., text: String = "") -> Owner {
            .row(kind: kind, digests.flatMap { [$0.high, $0.low] }, text)
        }

        /// A byte for the kind, what has a fixed length, and one text at the end.
        package var bytes: [UInt8] {
            switch self {
            case .waiting(let sequence, let id, let token):
                Owner.bytes(1, [UInt64(bitPattern: sequence), id.high, id.low, token.high, token.low])
            case .phone(let name): Owner.bytes(6, [], name)
            case .alias(let name): Owner.bytes(7, [], name)
            case .row(let kind, let words, let text): Owner.bytes(kind, words, text)
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
