import Encodings
import Relay

/// A value of a row that leaves the store, in the open.
package enum BackupValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

/// The part of one table that an owner takes along: the phone book, mailboxes, installations. Nothing that waits, and
/// nothing that strangers have registered.
package struct BackupTable: Sendable {
    package let name: String
    package let rows: [[BackupValue]]

    /// The names of the tables, each behind those that it refers to.
    package static let names = [
        "installation", "phone", "phone_alias", "mailbox", "mailbox_reader", "mailbox_publisher",
    ]

    fileprivate init(_ name: String, of rows: [[BackupValue]]) {
        self.name = name
        self.rows = rows
    }

    /// Makes a table of rows from outside; `nil`: there is no such table, or its rows are others.
    package init?(_ name: String, rows: [[BackupValue]]) {
        guard let table = BackupTable.table(name)?.table,
            rows.count <= BackupTable.mostRows(of: name),
            rows.allSatisfy({ BackupTable.isRow($0, of: table) })
        else { return nil }
        self.init(name, of: rows)
    }

    static func table(_ name: String) -> (door: any DoorTables.Type, table: StoreTable)? {
        guard names.contains(where: { $0.hasSameBytes(as: name) }) else { return nil }
        for door in DoorTableKinds.all {
            for table in door.tables where table.name.hasSameBytes(as: name) { return (door, table) }
        }
        return nil
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

    private static func isRow(_ row: [BackupValue], of table: StoreTable) -> Bool {
        row.count == table.copiedColumns.count
            && zip(row, table.copiedColumns).allSatisfy { value, column in
                switch (column.kind, value) {
                case (.number, .integer): true
                // All of them are digests.
                case (.bytes, .bytes(let bytes)), (.sealedBytes, .bytes(let bytes)): bytes.count == 16
                case (.text, .text(let text)), (.sealedText, .text(let text)):
                    column.name != "name"
                        || (table.name.hasPrefix("phone") ? PhoneBook.isName(text) : PhoneBook.isWord(text))
                case (.number, _), (.text, _), (.sealedText, _), (.bytes, _), (.sealedBytes, _),
                    (.database, _):
                    false
                }
            }
    }
}

extension RegistrationFile {
    /// Returns the tables that an owner takes along, all as they were at one time: no reader without its mailbox.
    package func backupTables() throws(StoreError) -> [BackupTable] {
        try connection.snapshot { () throws(StoreError) in try readTables() }
    }

    private func readTables() throws(StoreError) -> [BackupTable] {
        var tables: [BackupTable] = []
        for name in BackupTable.names {
            guard let (door, table) = BackupTable.table(name), try DoorSchema.isThere(door, on: connection)
            else { continue }
            tables.append(BackupTable(name, of: try backupRows(of: table)))
        }
        return tables
    }

    /// Returns the rows that ``add(_:)`` would make; nothing is changed.
    package func rows(addedBy tables: [BackupTable]) throws(StoreError) -> [BackupTable] {
        try connection.engine.begin()
        defer { connection.engine.rollback() }
        let before = Dictionary(uniqueKeysWithValues: try readTables().map { (ByteText($0.name), $0.rows) })
        _ = try take(tables)
        return try readTables().map { table in
            let present = Set(before[ByteText(table.name)] ?? [])
            return BackupTable(table.name, of: table.rows.filter { !present.contains($0) })
        }
    }

    /// Removes rows that ``add(_:)`` has made. A row that was changed since stays.
    package func remove(_ tables: [BackupTable]) throws(StoreError) {
        try connection.transaction { () throws(StoreError) in
            let present = Dictionary(
                uniqueKeysWithValues: try readTables().map { (ByteText($0.name), Set($0.rows)) })
            for table in tables.reversed() {
                guard let there = present[ByteText(table.name)],
                    let key = BackupTable.table(table.name)?.table.columns[0].name
                else { continue }
                let removal = try Statement("DELETE FROM \(table.name) WHERE \(key) = ?1", on: connection)
                for row in table.rows where there.contains(row) {
                    switch row[0] {
                    case .integer(let number): try removal.bind(1, number)
                    case .text(let text): try removal.bind(1, text)
                    case .bytes, .null: continue
                    }
                    try removal.run()
                }
            }
        }
    }

    private func backupRows(of table: StoreTable) throws(StoreError) -> [[BackupValue]] {
        let chosen =
            switch table.name {
            case "mailbox": "WHERE is_push = 0"
            case "mailbox_reader", "mailbox_publisher":
                "WHERE mailbox IN (SELECT number FROM mailbox WHERE is_push = 0)"
            case _: ""
            }
        let select = try Statement(
            "SELECT \(table.names) FROM \(table.name) \(chosen) ORDER BY \(table.columns[0].name)",
            on: connection)
        var rows: [[BackupValue]] = []
        while try select.step() {
            var row: [BackupValue] = []
            for (index, column) in table.copiedColumns.enumerated() {
                // Where nothing waits, nothing was fetched.
                guard column.name != "acknowledged" else {
                    row.append(.integer(0))
                    continue
                }
                let owner = table.owner(of: column, in: select, mailboxes: [:])
                row.append(BackupValue(try column.value(Int32(index), of: select, owner)))
            }
            rows.append(row)
        }
        return rows
    }
}

extension BackupValue {
    fileprivate init(_ value: CopiedValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let value): .integer(value)
            case .text(let value), .sealedText(let value, _, _): .text(value)
            case .bytes(let value), .sealedBytes(let value, _, _): .bytes(value)
            }
    }
}
