import Clocks
import Encodings
import Relay

/// A row of a backup that a store does not take. Its own rows stay as they are.
package struct BackupConflict: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case installation, phone, address, mailbox, reader, publisher
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

    // MARK: Mailboxes

    func takeMailboxes(
        _ mailboxes: [BackupRow], readers: [BackupRow], publishers: [BackupRow]
    ) throws(StoreError) -> [BackupConflict] {
        guard !mailboxes.isEmpty else { return [] }
        let tables = try MailboxTables(connection)
        var known = try tables.mailboxes()
        var conflicts: [BackupConflict] = []
        for row in mailboxes {
            guard let show = Mailbox.Show(rawValue: row.text("show")) else {
                conflicts.append(row.conflict(.mailbox, .unfit))
                continue
            }
            let address = row.digest("address")
            let mailbox = Mailbox(
                name: row.text("name"), show: show, isOpen: row.integer("is_open") != 0,
                topic: row.digest("topic"), address: address, readers: [])
            let present = known.first {
                $0.name.hasSameBytes(as: mailbox.name) || $0.address == address || $0.topic == mailbox.topic
            }
            guard present.map({ $0.isSame(as: mailbox) }) ?? true else {
                conflicts.append(row.conflict(.mailbox, .taken))
                continue
            }
            if present == nil {
                guard known.count(where: { !$0.isPush }) < Mailbox.most else {
                    conflicts.append(row.conflict(.mailbox, .full))
                    continue
                }
                try tables.insert(mailbox, at: address, addedAt: row.integer("added_at"))
                known.append(mailbox)
            }
            let (there, number) = (present ?? mailbox, row.integer("number"))
            conflicts += try take(readers.of(number), into: there, tables)
            conflicts += try take(publishers: publishers.of(number), into: there, besides: known, tables)
        }
        return conflicts
    }

    private func take(
        _ readers: [BackupRow], into mailbox: Mailbox, _ tables: MailboxTables
    ) throws(StoreError) -> [BackupConflict] {
        guard let address = mailbox.address else { return [] }
        var (known, conflicts) = (mailbox.readers, [BackupConflict]())
        for row in readers {
            let reader = Mailbox.Reader(name: row.text("name"), token: row.digest("token"))
            if let present = known.first(where: { $0.name.hasSameBytes(as: reader.name) }) {
                guard present.token != reader.token else { continue }
                conflicts.append(row.conflict(.reader, .taken, of: mailbox))
            } else if known.count >= Mailbox.mostReaders {
                conflicts.append(row.conflict(.reader, .full, of: mailbox))
            } else {
                try tables.insert(reader, at: address)
                known.append(reader)
            }
        }
        return conflicts
    }

    private func take(
        publishers rows: [BackupRow], into mailbox: Mailbox, besides others: [Mailbox],
        _ tables: MailboxTables
    ) throws(StoreError) -> [BackupConflict] {
        guard !rows.isEmpty, let address = mailbox.address,
            let number = try tables.replies.mailbox(of: address)
        else { return [] }
        var (known, conflicts) = (mailbox.publishers, [BackupConflict]())
        for row in rows {
            let publisher = Mailbox.Publisher(name: row.text("name"), token: row.digest("token"))
            if known.contains(publisher) { continue }
            let isTaken =
                known.contains { $0.name.hasSameBytes(as: publisher.name) || $0.token == publisher.token }
                || others.contains { $0.publishers.contains { $0.token == publisher.token } }
            let refusal: BackupConflict.Reason? =
                isTaken
                ? .taken : mailbox.isOpen ? .unfit : known.count >= Mailbox.mostPublishers ? .full : nil
            if let refusal {
                conflicts.append(row.conflict(.publisher, refusal, of: mailbox))
            } else {
                try tables.publishers.add(
                    publisher, to: number, at: address, addedAt: row.integer("added_at"))
                known.append(publisher)
            }
        }
        return conflicts
    }
}

extension Mailbox {
    /// Whether both are one mailbox, which may have got other readers since.
    fileprivate func isSame(as other: Mailbox) -> Bool {
        name.hasSameBytes(as: other.name) && address == other.address && topic == other.topic && !isPush
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
        _ kind: BackupConflict.Kind, _ reason: BackupConflict.Reason, of mailbox: Mailbox? = nil
    ) -> BackupConflict {
        BackupConflict(
            kind: kind, name: text(kind == .installation ? "id" : "name"), mailbox: mailbox?.name,
            reason: reason)
    }
}

extension [BackupRow] {
    /// Returns the rows that belong to a mailbox of the backup.
    fileprivate func of(_ mailbox: Int64) -> [BackupRow] { filter { $0.integer("mailbox") == mailbox } }
}
