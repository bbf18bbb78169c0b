import Encodings
import Relay

/// A value on its way from one store to another, in the open.
enum CopiedValue {
    case null, integer(Int64), text(String), bytes([UInt8])
    case sealedText(String, context: String, Sealed.Owner)
    case sealedBytes([UInt8], context: String, Sealed.Owner)

    /// Less than all keys.
    static func start(of kind: StoreTable.Column.Kind) -> CopiedValue {
        switch kind {
        case .number: .integer(0)
        case .text: .text("")
        case .bytes, .sealedText, .sealedBytes, .database: .bytes([])
        }
    }

    func bind(_ index: Int32, to statement: borrowing Statement) throws(StoreError) {
        switch self {
        case .null: try statement.bind(index, bytes: nil)
        case .integer(let value): try statement.bind(index, value)
        case .text(let value): try statement.bind(index, value)
        case .bytes(let value): try statement.bind(index, bytes: value)
        case .sealedText(let value, let context, let owner):
            try statement.bind(index, sealed: value, as: context, of: owner)
        case .sealedBytes(let value, let context, let owner):
            try statement.bind(index, sealed: value, as: context, of: owner)
        }
    }
}

extension StoreTable.Column {
    /// True if both stores have it.
    fileprivate var isCopied: Bool { if case .database = kind { false } else { true } }

    /// Reads a column's value.
    ///
    /// - Parameter owner: The row that it is sealed for.
    func value(
        _ index: Int32, of row: borrowing Statement, _ owner: Sealed.Owner
    ) throws(StoreError) -> CopiedValue {
        guard !row.isNull(index) else { return .null }
        switch kind {
        case .number: return .integer(row.integer(index))
        case .text: return .text(row.text(index))
        case .bytes, .database: return .bytes(row.bytes(index))
        case .sealedText(let context):
            return .sealedText(
                try row.sealedText(index, as: context, of: owner), context: context, owner)
        case .sealedBytes(let context):
            return .sealedBytes(
                try row.sealedBytes(index, as: context, of: owner), context: context, owner)
        }
    }
}

extension StoreTable {
    /// All tables that are copied, each behind those that it refers to.
    static var copied: [StoreTable] {
        (Schema.tables + DoorTableKinds.all.flatMap { $0.tables }).filter(\.isCopied)
    }

    var copiedColumns: [Column] { columns.filter(\.isCopied) }

    /// The names of ``copiedColumns``.
    var names: String { copiedColumns.map(\.name).joined(separator: ", ") }

    /// SQL that adds a row of ``copiedColumns``.
    var addition: String {
        "INSERT INTO \(name) (\(names)) VALUES (\(copiedColumns.map { _ in "?" }.joined(separator: ", ")))"
    }

    /// Whether the table's texts are sealed for their mailbox.
    var isOfMessages: Bool { name == "mailbox_message" || name == "mailbox_delayed" }

    /// Returns the row that a text in such a column is sealed for.
    ///
    /// - Parameters:
    ///   - row: Has all columns that are copied, in their order.
    ///   - mailboxes: Their addresses by number.
    func owner(
        of column: Column, in row: borrowing Statement, mailboxes: [Int64: Digest]
    ) -> Sealed.Owner {
        switch name {
        case "notification", "backlog":
            return .waiting(sequence: row.integer(0), id: row.pair(1), token: Digest(row.pair(6)))
        case "status_registration":
            return .status(installation: Digest(row.pair(1)), owner: Digest(row.pair(2)))
        case "bitwarden_device": return .bitwarden(device: Digest(row.pair(1)))
        case "phone": return .phone(name: row.text(1))
        case "phone_alias": return .alias(name: row.text(0))
        case _ where isOfMessages:
            let address = mailboxes[row.integer(1)] ?? Digest(high: 0, low: 0)
            return column.name == "text"
                ? .message(id: row.text(2), mailbox: address) : .mailboxReplaces(address)
        case _: return .all
        }
    }
}
