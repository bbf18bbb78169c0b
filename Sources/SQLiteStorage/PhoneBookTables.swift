import CSQLite
import Encodings
import Relay

/// The operator's phone book as the node reads it.
package struct PhoneBookReader: Sendable {
    private let file: SQLiteOutbox

    /// Makes the tables if they are not there.
    package init(in file: SQLiteOutbox) async throws(OutboxError) {
        try await file.open(PhoneBookTables.self)
        self.file = file
    }

    /// The book, and a number that another process's change of the file makes another one; `nil` while it is the same.
    package func book(
        unless known: Int64? = nil
    ) async throws(OutboxError) -> (version: Int64, book: PhoneBook)? {
        try await file.read(PhoneBookTables.self) { tables throws(SQLiteError) in
            let version = try tables.version()
            return version == known ? nil : (version, try tables.book())
        }
    }
}

/// A phone of the book as the operator sees it.
package struct PhoneEntry: Sendable {
    package let phone: PhoneBook.Phone
    /// As the phone calls itself; may be empty.
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
    static let steps = [
        """
        CREATE TABLE phone (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            platform TEXT NOT NULL,
            app TEXT NOT NULL,
            token TEXT NOT NULL,
            model TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            UNIQUE (name, token)
        ) STRICT;
        CREATE TABLE phone_alias (name TEXT PRIMARY KEY, address TEXT NOT NULL UNIQUE) STRICT, WITHOUT ROWID
        """
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
                "DELETE FROM phone WHERE number = CAST(?1 AS INTEGER)",
                // The same parameter, which it has no use for but the wrapper binds.
                "DELETE FROM phone_alias WHERE ?1 IS NOT NULL AND name NOT IN (SELECT name FROM phone)",
            ])
    ]

    private let selectVersion: Statement
    private let selectPhones: Statement
    private let selectAliases: Statement

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        // Of this connection: other processes' commits change it, its own do not.
        selectVersion = try Statement("PRAGMA data_version", on: connection)
        selectPhones = try Statement(
            """
            SELECT number, name, platform, app, token, model, added_at FROM phone ORDER BY number
            LIMIT \(PhoneBook.mostPhones)
            """, on: connection)
        selectAliases = try Statement(
            "SELECT name, address FROM phone_alias LIMIT \(PhoneBook.mostPhones)", on: connection)
    }

    func version() throws(SQLiteError) -> Int64 {
        defer { selectVersion.reset() }
        return try selectVersion.step() ? selectVersion.integer(0) : 0
    }

    func book() throws(SQLiteError) -> PhoneBook {
        PhoneBook(try entries().map(\.phone), aliases: try aliases())
    }

    /// A phone of a platform that this version does not know is left out.
    func entries() throws(SQLiteError) -> [PhoneEntry] {
        defer { selectPhones.reset() }
        var entries: [PhoneEntry] = []
        while try selectPhones.step() {
            guard let platform = Platform(stored: selectPhones.text(2)) else { continue }
            entries.append(
                PhoneEntry(
                    PhoneBook.Phone(
                        number: selectPhones.integer(0), name: selectPhones.text(1), platform: platform,
                        app: selectPhones.text(3), deviceToken: DeviceToken(selectPhones.text(4))),
                    model: selectPhones.text(5), addedAt: selectPhones.integer(6)))
        }
        return entries
    }

    func aliases() throws(SQLiteError) -> [String: DeviceToken] {
        defer { selectAliases.reset() }
        var aliases: [String: DeviceToken] = [:]
        while try selectAliases.step() { aliases[selectAliases.text(0)] = DeviceToken(selectAliases.text(1)) }
        return aliases
    }
}

/// The phone book in the hands of the operator's commands, also beside the node that runs, which notices each change.
extension RegistrationFile {
    /// All phones in the order of their numbers, and the aliases by name.
    package func phoneBook() throws(SQLiteError) -> (entries: [PhoneEntry], book: PhoneBook) {
        guard try DoorSchema.steps(of: PhoneBookTables.self, on: connection) > 0 else {
            return ([], PhoneBook())
        }
        let tables = try PhoneBookTables(connection)
        let entries = try tables.entries()
        return (entries, PhoneBook(entries.map(\.phone), aliases: try tables.aliases()))
    }

    /// Adds a phone; its number is the book's.
    ///
    /// - Returns: The number, or why the book does not take it.
    package func add(_ entry: PhoneEntry) throws(SQLiteError) -> Result<Int64, PhoneBook.Refusal> {
        try changePhoneBook { (book) throws(SQLiteError) in
            if let refusal = book.refusal(ofAdding: entry.phone) { return .failure(refusal) }
            let insert = try Statement(
                "INSERT INTO phone (name, platform, app, token, model, added_at) VALUES (?, ?, ?, ?, ?, ?)",
                on: connection)
            try insert.bind(1, entry.phone.name)
            try insert.bind(2, entry.phone.platform.stored)
            try insert.bind(3, entry.phone.app)
            try insert.bind(4, entry.phone.deviceToken.text)
            try insert.bind(5, entry.model)
            try insert.bind(6, entry.addedAt)
            try insert.run()
            return .success(sqlite3_last_insert_rowid(connection.handle))
        }
    }

    /// The phones of a name get another one, which nobody has; their alias stays.
    package func rename(_ name: String, to other: String) throws(SQLiteError) -> PhoneBook.Refusal? {
        try changePhoneBook { (book) throws(SQLiteError) in
            if let refusal = book.refusal(ofRenaming: name, to: other) { return refusal }
            for table in ["phone", "phone_alias"] {
                let update = try Statement("UPDATE \(table) SET name = ?2 WHERE name = ?1", on: connection)
                try update.bind(1, name)
                try update.bind(2, other)
                try update.run()
            }
            return nil
        }
    }

    /// Deletes the phones of a name, or one of them. With the last one goes the alias.
    ///
    /// - Returns: How many.
    package func removePhones(of name: String, number: Int64? = nil) throws(SQLiteError) -> Int {
        try changePhoneBook { (_) throws(SQLiteError) in
            let delete = try Statement(
                "DELETE FROM phone WHERE name = ?1 AND (?2 = 0 OR number = ?2)", on: connection)
            try delete.bind(1, name)
            try delete.bind(2, number ?? 0)
            try delete.run()
            let count = Int(sqlite3_changes(connection.handle))
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
    ) throws(SQLiteError) -> Result<DeviceToken, PhoneBook.Refusal> {
        try changePhoneBook { (book) throws(SQLiteError) in
            if let refusal = book.refusal(ofAliasFor: name) { return .failure(refusal) }
            if !isReplacing, let alias = book.alias(of: name) { return .success(alias) }
            let insert = try Statement(
                "INSERT OR REPLACE INTO phone_alias (name, address) VALUES (?, ?)", on: connection)
            try insert.bind(1, name)
            try insert.bind(2, new.text)
            try insert.run()
            return .success(new)
        }
    }

    /// - Returns: Whether it had one.
    package func removeAlias(of name: String) throws(SQLiteError) -> Bool {
        try changePhoneBook { (_) throws(SQLiteError) in
            let delete = try Statement("DELETE FROM phone_alias WHERE name = ?", on: connection)
            try delete.bind(1, name)
            try delete.run()
            return sqlite3_changes(connection.handle) > 0
        }
    }

    /// In one transaction: what was looked at is what is changed.
    private func changePhoneBook<Value>(
        _ body: (PhoneBook) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try DoorSchema.prepare(PhoneBookTables.self, on: connection)
        try connection.execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let value = try body(try PhoneBookTables(connection).book())
            try connection.execute("COMMIT")
            return value
        } catch {
            if sqlite3_get_autocommit(connection.handle) == 0 { try? connection.execute("ROLLBACK") }
            throw error
        }
    }
}

extension Platform {
    /// As the phones' pairing tokens have it.
    package var stored: String {
        switch self {
        case .ios: "iOS"
        case .iosDev: "iOSDev"
        case .android: "android"
        }
    }

    fileprivate init?(stored word: String) {
        switch word {
        case "iOS": self = .ios
        case "iOSDev": self = .iosDev
        case "android": self = .android
        case _: return nil
        }
    }
}
