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
    package let rows: [[BackupValue]]
    let door: any DoorTables.Type
    let table: StoreTable

    package var name: String { table.name }

    /// Makes a table of some rows of another.
    fileprivate init(_ other: BackupTable, of rows: [[BackupValue]]) {
        (door, table, self.rows) = (other.door, other.table, rows)
    }

    fileprivate init(_ place: Place, of rows: [[BackupValue]]) {
        (door, table, self.rows) = (place.door, place.table, rows)
    }

    /// A table that can be in a backup, and the kind that it is of.
    fileprivate typealias Place = (door: any DoorTables.Type, table: StoreTable, rule: BackedUpTable)

    /// Makes a table of rows from outside; `nil`: there is no such table, or its rows are others.
    package init?(_ name: String, rows: [[BackupValue]], of kinds: DoorKinds) {
        guard
            let place = BackupTable.places(in: kinds).first(where: { $0.table.name.hasSameBytes(as: name) }),
            rows.count <= place.rule.most,
            rows.allSatisfy({ BackupTable.isRow($0, of: place) })
        else { return nil }
        self.init(place, of: rows)
    }

    /// Returns the names of the tables, each behind those that it refers to.
    package static func names(of kinds: DoorKinds) -> [String] { places(in: kinds).map(\.table.name) }

    fileprivate static func places(in kinds: DoorKinds) -> [Place] {
        kinds.all.flatMap { door in
            door.backedUp.flatMap { rule in
                door.tables.filter { $0.name == rule.name }.map { (door, $0, rule) }
            }
        }
    }

    private static func isRow(_ row: [BackupValue], of place: Place) -> Bool {
        let table = place.table
        return row.count == table.copiedColumns.count
            && zip(row, table.copiedColumns).allSatisfy { value, column in
                switch (column.kind, value) {
                case (.number, .integer): true
                // All of them are digests.
                case (.bytes, .bytes(let bytes)), (.sealedBytes, .bytes(let bytes)): bytes.count == 16
                case (.text, .text(let text)), (.sealedText, .text(let text)):
                    column.name != "name" || place.rule.isName(text)
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
        for place in BackupTable.places(in: kinds) where try DoorSchema.isThere(place.door, on: connection) {
            tables.append(BackupTable(place, of: try backupRows(of: place)))
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
            return BackupTable(table, of: table.rows.filter { !present.contains($0) })
        }
    }

    /// Removes rows that ``add(_:)`` has made. A row that was changed since stays.
    package func remove(_ tables: [BackupTable]) throws(StoreError) {
        try connection.transaction { () throws(StoreError) in
            let present = Dictionary(
                uniqueKeysWithValues: try readTables().map { (ByteText($0.name), Set($0.rows)) })
            for table in tables.reversed() {
                guard let there = present[ByteText(table.name)] else { continue }
                let key = table.table.columns[0].name
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

    private func backupRows(of place: BackupTable.Place) throws(StoreError) -> [[BackupValue]] {
        let (table, condition) = (place.table, place.rule.condition)
        let chosen = condition.isEmpty ? "" : "WHERE \(condition)"
        let owners = try place.door.owners(of: table, in: connection)
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
                row.append(BackupValue(try column.value(Int32(index), of: select, owners(column, select))))
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
