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
    var copiedColumns: [Column] { columns.filter(\.isCopied) }

    /// The names of ``copiedColumns``.
    var names: String { copiedColumns.map(\.name).joined(separator: ", ") }

    /// SQL that adds a row of ``copiedColumns``.
    var addition: String {
        "INSERT INTO \(name) (\(names)) VALUES (\(copiedColumns.map { _ in "?" }.joined(separator: ", ")))"
    }
}

extension Schema {
    /// Returns what tells for which row a text of a table is sealed.
    static func owners(of table: StoreTable) -> RowOwners {
        switch table.name {
        case "notification", "backlog":
            { _, row in .waiting(sequence: row.integer(0), id: row.pair(1), token: Digest(row.pair(6))) }
        case _: { _, _ in .all }
        }
    }
}
