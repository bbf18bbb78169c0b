import Encodings
import Relay

/// The operator's phone book as the node reads it.
package struct PhoneBookReader: Sendable {
    private let file: OutboxStore

    /// Makes the tables if they are not there.
    package init(in file: OutboxStore) async throws(OutboxError) {
        try await file.open(PhoneBookTables.self)
        self.file = file
    }

    /// Returns the book, and a number that another process's change of the file makes another one; `nil`
    /// while it is the same.
    nonisolated(nonsending) package func book(
        unless known: Int64? = nil
    ) async throws(OutboxError) -> (version: Int64, book: PhoneBook)? {
        try await file.read(PhoneBookTables.self) { tables throws(StoreError) in
            let version = try tables.version()
            return version == known ? nil : (version, try tables.book())
        }
    }
}

/// A phone of the book as the operator sees it.
package struct PhoneEntry: Sendable {
    package let phone: PhoneBook.Phone
    /// The model, as the phone calls itself; may be empty.
    package let model: String
    /// Milliseconds since 1970.
    package let addedAt: Int64

    package init(_ phone: PhoneBook.Phone, model: String, addedAt: Int64) {
        self.phone = phone
        self.model = model
        self.addedAt = addedAt
    }
}

/// The statements of the phone book. Only the operator's commands write it.
final class PhoneBookTables: DoorTables {
    static let name = "phone_book"
    static let format: PerDialect<Int64> = 1
    private typealias Column = StoreTable.Column
    static let tables = [
        StoreTable(
            "phone",
            [
                Column("number", .number, .numbered(.neverReused)), Column("name", .text),
                Column("platform", .text),
                Column("app", .text), Column("token", .sealedText(Sealed.token)), Column("model", .text),
                Column("added_at"),
            ],
            rule: PerDialect(file: "UNIQUE (name, token)", database: ""),
            rest: PerDialect(
                file: "", database: "CREATE UNIQUE INDEX phone_token ON phone (name, sha256(token))")),
        StoreTable(
            "phone_alias",
            [Column("name", .text, .key), Column("address", .sealedText(Sealed.address), .unique)]),
    ]
    static let views = [
        RegistrationView(
            kind: "phone",
            query: """
                SELECT CAST(number AS TEXT) AS id, name, platform, app, model,
                    datetime(added_at / 1000, 'unixepoch') AS added
                FROM phone ORDER BY number
                """,
            removal: [
                "DELETE FROM phone WHERE CAST(number AS TEXT) = ?1",
                // The same parameter, which it has no use for but the wrapper binds.
                "DELETE FROM phone_alias WHERE CAST(?1 AS TEXT) IS NOT NULL AND name NOT IN (SELECT name FROM phone)",
            ])
    ]

    static let backedUp = [
        BackedUpTable("phone", most: PhoneBook.mostPhones, isName: PhoneBook.isName),
        BackedUpTable("phone_alias", most: PhoneBook.mostPhones, isName: PhoneBook.isName),
    ]

    private let selectVersion: Statement
    private let selectPhones: Statement
    private let selectAliases: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        // Of this connection: other processes' commits change it, its own do not.
        selectVersion = try Statement(connection.dialect.version, on: connection)
        selectPhones = try Statement(
            """
            SELECT number, name, platform, app, token, model, added_at FROM phone ORDER BY number
            LIMIT \(PhoneBook.mostPhones)
            """, on: connection)
        selectAliases = try Statement(
            "SELECT name, address FROM phone_alias LIMIT \(PhoneBook.mostPhones)", on: connection)
    }

    static func owners(of table: StoreTable, in source: borrowing Connection) -> RowOwners {
        let isPhone = table.name == "phone"
        return { _, row in isPhone ? .phone(name: row.text(1)) : .alias(name: row.text(0)) }
    }

    static func take(
        _ backup: BackupRows, into file: borrowing RegistrationFile
    ) throws(StoreError) -> [BackupConflict] {
        try file.takePhones(backup["phone"], aliases: backup["phone_alias"])
    }

    func version() throws(StoreError) -> Int64 {
        defer { selectVersion.reset() }
        return try selectVersion.step() ? selectVersion.integer(0) : 0
    }

    func book() throws(StoreError) -> PhoneBook {
        PhoneBook(try entries().map(\.phone), aliases: try aliases())
    }

    /// Returns the phones, without those of a platform that this version does not know.
    func entries() throws(StoreError) -> [PhoneEntry] {
        defer { selectPhones.reset() }
        var entries: [PhoneEntry] = []
        while try selectPhones.step() {
            guard let platform = Platform(pairingMagic: selectPhones.text(2).utf8) else { continue }
            entries.append(
                PhoneEntry(
                    PhoneBook.Phone(
                        number: selectPhones.integer(0), name: selectPhones.text(1), platform: platform,
                        app: selectPhones.text(3),
                        deviceToken: DeviceToken(
                            try selectPhones.sealedText(
                                4, as: Sealed.token, of: .phone(name: selectPhones.text(1))))),
                    model: selectPhones.text(5), addedAt: selectPhones.integer(6)))
        }
        return entries
    }

    func aliases() throws(StoreError) -> [ByteText: DeviceToken] {
        defer { selectAliases.reset() }
        var aliases: [ByteText: DeviceToken] = [:]
        while try selectAliases.step() {
            let name = selectAliases.text(0)
            aliases[ByteText(name)] = DeviceToken(
                try selectAliases.sealedText(1, as: Sealed.address, of: .alias(name: name)))
        }
        return aliases
    }
}

/// The phone book in the hands of the operator's commands, also beside the node that runs, which notices each change.
extension RegistrationFile {
    /// Returns all phones in the order of their numbers, and the aliases by name.
    package func phoneBook() throws(StoreError) -> (entries: [PhoneEntry], book: PhoneBook) {
        guard try DoorSchema.isThere(PhoneBookTables.self, on: connection) else {
            return ([], PhoneBook())
        }
        let tables = try PhoneBookTables(connection)
        let entries = try tables.entries()
        return (entries, PhoneBook(entries.map(\.phone), aliases: try tables.aliases()))
    }

    /// Adds a phone; its number is the book's.
    ///
    /// - Returns: The number, or why the book does not take it.
    package func add(_ entry: PhoneEntry) throws(StoreError) -> Result<Int64, PhoneBook.Refusal> {
        try changePhoneBook { (book) throws(StoreError) in
            if let refusal = book.refusal(ofAdding: entry.phone) { return .failure(refusal) }
            return .success(try insert(entry))
        }
    }

    /// Inserts a phone that the book takes; returns its number.
    func insert(_ entry: PhoneEntry) throws(StoreError) -> Int64 {
        let insert = try Statement(
            """
            INSERT INTO phone (name, platform, app, token, model, added_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING number
            """, on: connection)
        try insert.bind(1, entry.phone.name)
        try insert.bind(2, entry.phone.platform.pairingMagic)
        try insert.bind(3, entry.phone.app)
        try insert.bind(
            4, sealed: entry.phone.deviceToken.text, as: Sealed.token, of: .phone(name: entry.phone.name))
        try insert.bind(5, entry.model)
        try insert.bind(6, entry.addedAt)
        guard try insert.step() else { throw StoreError.noRow }
        return insert.integer(0)
    }

    /// Gives the phones of a name another one, which nobody has; their alias stays.
    package func rename(_ name: String, to other: String) throws(StoreError) -> PhoneBook.Refusal? {
        try changePhoneBook { (book) throws(StoreError) in
            if let refusal = book.refusal(ofRenaming: name, to: other) { return refusal }
            // What is sealed for one name is not for another.
            for phone in book.phones where phone.name == name {
                let update = try Statement(
                    "UPDATE phone SET name = ?2, token = ?3 WHERE number = ?1", on: connection)
                try update.bind(1, phone.number)
                try update.bind(2, other)
                try update.bind(
                    3, sealed: phone.deviceToken.text, as: Sealed.token, of: .phone(name: other))
                try update.run()
            }
            guard let alias = book.alias(of: name) else { return nil }
            let update = try Statement(
                "UPDATE phone_alias SET name = ?2, address = ?3 WHERE name = ?1", on: connection)
            try update.bind(1, name)
            try update.bind(2, other)
            try update.bind(3, sealed: alias.text, as: Sealed.address, of: .alias(name: other))
            try update.run()
            return nil
        }
    }

    /// Deletes the phones of a name, or one of them. With the last one goes the alias.
    ///
    /// - Returns: How many.
    package func removePhones(of name: String, number: Int64? = nil) throws(StoreError) -> Int {
        try changePhoneBook { (_) throws(StoreError) in
            let delete = try Statement(
                "DELETE FROM phone WHERE name = ?1 AND (number = ?2 OR ?2 = 0)", on: connection)
            try delete.bind(1, name)
            try delete.bind(2, number ?? 0)
            try delete.run()
            try connection.settle()
            let count = delete.changes
            try connection.execute("DELETE FROM phone_alias WHERE name NOT IN (SELECT name FROM phone)")
            return count
        }
    }

    /// Gives a name an alias if it has none.
    ///
    /// - Parameters:
    ///   - new: What it gets.
    ///   - isReplacing: The one that it has goes; what is sent to that is refused from then on.
    /// - Returns: The one that it has then, or why it can't have one.
    package func giveAlias(
        _ new: DeviceToken, to name: String, replacing isReplacing: Bool
    ) throws(StoreError) -> Result<DeviceToken, PhoneBook.Refusal> {
        try changePhoneBook { (book) throws(StoreError) in
            if let refusal = book.refusal(ofAliasFor: name) { return .failure(refusal) }
            if !isReplacing, let alias = book.alias(of: name) { return .success(alias) }
            try put(alias: new, of: name)
            return .success(new)
        }
    }

    /// Writes the alias of a name, in place of the one that it has.
    func put(alias: DeviceToken, of name: String) throws(StoreError) {
        let insert = try Statement(
            """
            INSERT INTO phone_alias (name, address) VALUES (?, ?)
                ON CONFLICT (name) DO UPDATE SET address = excluded.address
            """, on: connection)
        try insert.bind(1, name)
        try insert.bind(2, sealed: alias.text, as: Sealed.address, of: .alias(name: name))
        try insert.run()
    }

    /// Removes the alias of a name; returns whether it had one.
    package func removeAlias(of name: String) throws(StoreError) -> Bool {
        try changePhoneBook { (_) throws(StoreError) in
            let delete = try Statement("DELETE FROM phone_alias WHERE name = ?", on: connection)
            try delete.bind(1, name)
            try delete.run()
            try connection.settle()
            return delete.changes > 0
        }
    }

    /// Makes a change of the phone book in one transaction: what was looked at is what is changed.
    private func changePhoneBook<Value>(
        _ body: (PhoneBook) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try DoorSchema.prepare(PhoneBookTables.self, on: connection)
        return try connection.transaction { () throws(StoreError) in
            try body(try PhoneBookTables(connection).book())
        }
    }
}
