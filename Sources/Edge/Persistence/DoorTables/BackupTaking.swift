import Clocks
import Encodings
import Relay

/// A row of a backup that a store does not take. Its own rows stay as they are.
package struct BackupConflict: Equatable, Sendable {
    /// A word for what the row is.
    package struct Kind: Equatable, Sendable {
        package let word: String

        package init(_ word: String) { self.word = word }

        package static let phone = Kind("phone")
        package static let address = Kind("address")
    }

    package enum Reason: String, Sendable {
        /// The store has another one of this name, or the same one under another name.
        case taken
        /// The store has as many as it may have.
        case full
        /// The row does not fit to what the store has, such as an address for a name without phones.
        case unfit
    }

    package let kind: Kind
    package let name: String
    /// The mailbox of a reader or a publisher.
    package let mailbox: String?
    package let reason: Reason
}

/// The tables of a backup come into a store that may have rows of its own. Names decide what is the same; numbers are the
/// store's, since those of another store may be somebody else's here.
extension RegistrationFile {
    /// Adds what is not there yet, all or nothing.
    ///
    /// - Returns: What the store did not take.
    package func add(_ tables: [BackupTable]) throws(StoreError) -> [BackupConflict] {
        try connection.transaction { () throws(StoreError) in try take(tables) }
    }

    /// Returns what ``add(_:)`` would not take; nothing is changed.
    package func conflicts(adding tables: [BackupTable]) throws(StoreError) -> [BackupConflict] {
        try connection.engine.begin()
        defer { connection.engine.rollback() }
        return try take(tables)
    }

    func take(_ tables: [BackupTable]) throws(StoreError) -> [BackupConflict] {
        for table in tables where !table.rows.isEmpty {
            try DoorSchema.make(table.door, on: connection)
        }
        let backup = BackupRows(tables)
        var conflicts: [BackupConflict] = []
        for kind in kinds.all { conflicts += try kind.take(backup, into: self) }
        return conflicts
    }

    // MARK: Phones

    func takePhones(
        _ phones: [BackupRow], aliases: [BackupRow]
    ) throws(StoreError) -> [BackupConflict] {
        guard !phones.isEmpty || !aliases.isEmpty else { return [] }
        let tables = try PhoneBookTables(connection)
        var (known, names) = (try tables.entries().map(\.phone), try tables.aliases())
        var conflicts: [BackupConflict] = []
        for row in phones {
            guard let platform = Platform(pairingMagic: row.text("platform").utf8) else {
                conflicts.append(row.conflict(.phone, .unfit))
                continue
            }
            let phone = PhoneBook.Phone(
                number: 0, name: row.text("name"), platform: platform, app: row.text("app"),
                deviceToken: DeviceToken(row.text("token")))
            switch PhoneBook(known, aliases: names).refusal(ofAdding: phone) {
            case nil:
                let entry = PhoneEntry(phone, model: row.text("model"), addedAt: row.integer("added_at"))
                _ = try insert(entry)
                known.append(phone)
            case .alreadyThere?: break
            case .full?, .nameIsFull?: conflicts.append(row.conflict(.phone, .full))
            case .formsDiffer?, .unknownName?, .nameIsTaken?: conflicts.append(row.conflict(.phone, .unfit))
            }
        }
        let book = PhoneBook(known)
        for row in aliases {
            let (name, alias) = (row.text("name"), DeviceToken(row.text("address")))
            if let present = names[ByteText(name)] {
                if present != alias { conflicts.append(row.conflict(.address, .taken)) }
            } else if book.refusal(ofAliasFor: name) != nil {
                conflicts.append(row.conflict(.address, .unfit))
            } else if names.values.contains(alias) {
                conflicts.append(row.conflict(.address, .taken))
            } else {
                try put(alias: alias, of: name)
                names[ByteText(name)] = alias
            }
        }
        return conflicts
    }
}

/// The rows of a backup by their tables.
package struct BackupRows {
    private let tables: [BackupTable]

    init(_ tables: [BackupTable]) { self.tables = tables }

    package subscript(name: String) -> [BackupRow] {
        guard let table = tables.first(where: { $0.name.hasSameBytes(as: name) }) else { return [] }
        let columns = table.table.copiedColumns
        return table.rows.map { BackupRow(columns: columns, values: $0) }
    }
}

/// A row of a backup, by the names of its columns. ``BackupTable`` has looked at the kinds of its values.
package struct BackupRow {
    let columns: [StoreTable.Column]
    let values: [BackupValue]

    private func value(_ column: String) -> BackupValue {
        guard let index = columns.firstIndex(where: { $0.name == column }) else {
            preconditionFailure("no column \(column) in a backup's table")
        }
        return values[index]
    }

    package func text(_ column: String) -> String {
        if case .text(let text) = value(column) { text } else { "" }
    }

    package func integer(_ column: String) -> Int64 {
        if case .integer(let number) = value(column) { number } else { 0 }
    }

    package func digest(_ column: String) -> Digest {
        guard case .bytes(let bytes) = value(column) else { return Digest(high: 0, low: 0) }
        let halves = [bytes.prefix(8), bytes.dropFirst(8)].map { $0.reduce(0) { $0 << 8 | UInt64($1) } }
        return Digest(high: halves[0], low: halves[1])
    }

    package func conflict(
        _ kind: BackupConflict.Kind, _ reason: BackupConflict.Reason, named column: String = "name",
        of mailbox: String? = nil
    ) -> BackupConflict {
        BackupConflict(kind: kind, name: text(column), mailbox: mailbox, reason: reason)
    }
}
