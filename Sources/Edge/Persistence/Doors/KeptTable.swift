import Encodings
import Relay

/// A value of a row that leaves the store, in the open.
package enum KeptValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// The part of one table that an owner takes along: the phone book, mailboxes, installations. Nothing that waits, and
/// nothing that strangers have registered.
package struct KeptTable: Sendable {
    package let name: String
    package let rows: [[KeptValue]]

    /// The names of the tables, each behind those that it refers to.
    package static let names = [
        "installation", "phone", "phone_alias", "mailbox", "mailbox_reader", "mailbox_publisher",
    ]

    fileprivate init(_ name: String, of rows: [[KeptValue]]) {
        self.name = name
        self.rows = rows
    }

    /// - Parameter rows: From outside; `nil`: there is no such table, or its rows are others.
    package init?(_ name: String, rows: [[KeptValue]]) {
        guard let table = KeptTable.table(name),
            rows.count <= KeptTable.mostRows(of: name),
            rows.allSatisfy({ KeptTable.isRow($0, of: table) })
        else { return nil }
        self.init(name, of: rows)
    }

    fileprivate static func table(_ name: String) -> CopiedTable? {
        guard names.contains(where: { $0.hasSameBytes(as: name) }) else { return nil }
        return CopiedTable.all.first { $0.name.hasSameBytes(as: name) }
    }

    private static func mostRows(of name: String) -> Int {
        switch name {
        case "phone", "phone_alias": PhoneBook.mostPhones
        case "mailbox": Mailbox.most
        case "mailbox_reader": Mailbox.most * Mailbox.mostReaders
        case "mailbox_publisher": Mailbox.most * Mailbox.mostPublishers
        case _: 10_000
        }
    }

    private static func isRow(_ row: [KeptValue], of table: CopiedTable) -> Bool {
        row.count == table.columns.count
            && zip(row, table.columns).allSatisfy { value, column in
                switch (value, column.kind) {
                case (.text(let text), _) where column.name == "name": PhoneBook.isName(text)
                case (.integer, .integer), (.text, .text), (.text, .sealedText), (.bytes, .bytes): true
                case (.bytes, .sealedBytes): true
                case _: false
                }
            }
    }

    /// The row that a text of it is sealed for in a database.
    fileprivate func owner(of row: [KeptValue]) -> Sealed.Owner {
        switch name {
        case "phone": if case .text(let name) = row[1] { return .phone(name: name) }
        case "phone_alias": if case .text(let name) = row[0] { return .alias(name: name) }
        case _: break
        }
        return .all
    }
}

extension RegistrationFile {
    /// Returns the tables that an owner takes along.
    package func keptTables() throws(StoreError) -> [KeptTable] {
        var kept: [KeptTable] = []
        for name in KeptTable.names {
            guard let table = KeptTable.table(name), let door = table.door,
                try DoorSchema.steps(of: door, on: connection) > 0
            else { continue }
            kept.append(KeptTable(name, of: try keptRows(of: table)))
        }
        return kept
    }

    private func keptRows(of table: CopiedTable) throws(StoreError) -> [[KeptValue]] {
        let columns = table.columns.map(\.name).joined(separator: ", ")
        let chosen =
            switch table.name {
            case "mailbox": "WHERE is_push = 0"
            case "mailbox_reader", "mailbox_publisher":
                "WHERE mailbox IN (SELECT number FROM mailbox WHERE is_push = 0)"
            case _: ""
            }
        let select = try Statement(
            "SELECT \(columns) FROM \(table.name) \(chosen) ORDER BY \(table.columns[0].name)", on: connection
        )
        var rows: [[KeptValue]] = []
        while try select.step() {
            var row: [KeptValue] = []
            for (index, column) in table.columns.enumerated() {
                // Where nothing waits, nothing was fetched.
                guard column.name != "acknowledged" else {
                    row.append(.integer(0))
                    continue
                }
                let owner = table.owner(of: column, in: select, mailboxes: [:])
                row.append(KeptValue(try column.value(Int32(index), of: select, owner)))
            }
            rows.append(row)
        }
        return rows
    }

    /// Adds what is not there yet, all or nothing.
    package func add(_ tables: [KeptTable]) throws(StoreError) {
        for kept in tables where !kept.rows.isEmpty {
            guard let door = KeptTable.table(kept.name)?.door else { continue }
            try DoorSchema.prepare(door, on: connection)
        }
        try connection.transaction { () throws(StoreError) in
            for kept in tables where !kept.rows.isEmpty {
                guard let table = KeptTable.table(kept.name) else { continue }
                let columns = table.columns.map(\.name).joined(separator: ", ")
                let places = table.columns.map { _ in "?" }.joined(separator: ", ")
                let insert = try Statement(
                    "INSERT INTO \(kept.name) (\(columns)) VALUES (\(places)) ON CONFLICT DO NOTHING",
                    on: connection)
                for row in kept.rows {
                    let owner = kept.owner(of: row)
                    for (index, (value, column)) in zip(row, table.columns).enumerated() {
                        try CopiedTable.Value(value, column.kind, owner).bind(Int32(index) + 1, to: insert)
                    }
                    try insert.run()
                }
            }
        }
    }
}

extension KeptValue {
    fileprivate init(_ value: CopiedTable.Value) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): .integer(value)
            case .text(let value), .sealedText(let value, _, _): .text(value)
            case .bytes(let value), .sealedBytes(let value, _, _): .bytes(value)
            }
    }
}

extension CopiedTable.Value {
    fileprivate init(_ value: KeptValue, _ kind: CopiedTable.Kind, _ owner: Sealed.Owner) {
        self =
            switch (value, kind) {
            case (.null, _): .null
            case (.integer(let value), _): .integer(value)
            case (.text(let value), .sealedText(let context)):
                .sealedText(value, context: context, owner)
            case (.text(let value), _): .text(value)
            case (.bytes(let value), .sealedBytes(let context)):
                .sealedBytes(value, context: context, owner)
            case (.bytes(let value), _): .bytes(value)
            }
    }
}
