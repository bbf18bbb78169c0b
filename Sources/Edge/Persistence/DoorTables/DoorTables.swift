import Relay

/// Tables of one door in the outbox's store, with their statements: the clients that the door knows, and what it has to
/// remember.
///
/// A conformer lies beside a type that its door calls from the event loop (``OutboxStore/read(_:_:)``,
/// ``OutboxStore/write(_:_:)``). It lives on the store's thread only.
package protocol DoorTables: AnyObject, SendableMetatype {
    /// Names the tables among those of other doors; never changed once released.
    static var name: String { get }

    /// The format of the tables, which stands in the column `steps` of the table `door`. A store of another one is refused.
    static var format: PerDialect<Int64> { get }

    /// The tables, each behind those that it refers to.
    static var tables: [StoreTable] { get }

    /// The views that `onionbell registrations` shows.
    static var views: [RegistrationView] { get }

    /// The tables that an owner takes along in a backup, each behind those that it refers to.
    static var backedUp: [BackedUpTable] { get }

    /// The dates that move with the clock that dates what is accepted, where that was wrong.
    static var dates: [MovedDates] { get }

    /// Prepares the statements; the tables are there.
    init(_ connection: borrowing Connection) throws(StoreError)

    /// Returns what tells for which row a text of a table is sealed.
    ///
    /// - Parameter source: The store that the table is in.
    static func owners(
        of table: StoreTable, in source: borrowing Connection
    ) throws(StoreError) -> RowOwners

    /// Fills in what a database has more, in rows that were copied from a file.
    static func complete(_ connection: borrowing Connection) throws(StoreError)

    /// Adds rows of a backup that are not there yet. The tables are there.
    ///
    /// - Returns: Those that the store did not take.
    static func take(
        _ backup: BackupRows, into file: borrowing RegistrationFile
    ) throws(StoreError) -> [BackupConflict]
}

extension DoorTables {
    package static var backedUp: [BackedUpTable] { [] }
    package static var dates: [MovedDates] { [] }
    package static func owners(
        of table: StoreTable, in source: borrowing Connection
    ) throws(StoreError) -> RowOwners { { _, _ in .all } }
    package static func complete(_ connection: borrowing Connection) throws(StoreError) {}
    package static func take(
        _ backup: BackupRows, into file: borrowing RegistrationFile
    ) throws(StoreError) -> [BackupConflict] { [] }
}

/// Returns the row that a text in a column is sealed for. The row has all columns that are copied, in their order.
package typealias RowOwners = (_ column: StoreTable.Column, _ row: borrowing Statement) -> Sealed.Owner

/// Columns of a table with dates that are of one moment: the first says whether it was by a wrong clock.
package struct MovedDates: Sendable {
    let table: String
    let columns: [String]

    package init(_ table: String, _ columns: String...) { (self.table, self.columns) = (table, columns) }
}

/// A table of a backup.
package struct BackedUpTable: Sendable {
    package let name: String
    /// The most rows.
    let most: Int
    /// The condition of the rows that are taken along; empty: all are.
    let condition: String
    /// Whether a text may stand in the column `name`.
    let isName: @Sendable (String) -> Bool

    package init(
        _ name: String, most: Int, where condition: String = "",
        isName: @escaping @Sendable (String) -> Bool = PhoneBook.isWord
    ) {
        (self.name, self.most, self.condition, self.isName) = (name, most, condition, isName)
    }
}

/// One kind of registration, as the operator sees it.
package struct RegistrationView: Sendable {
    /// `installation`: one word.
    package let kind: String
    /// Rows with the column `id` (text, without blanks) first; the columns' names are the headings. Nothing of it is a
    /// device token, a key or a message: the operator sees it, and so does the operator's terminal.
    let query: String
    /// Statements that forget a registration, `?1` being its id.
    let removal: [String]

    package init(kind: String, query: String, removal: [String]) {
        (self.kind, self.query, self.removal) = (kind, query, removal)
    }
}

/// The kinds of tables that a program knows, each behind those that it refers to.
package struct DoorKinds: Sendable {
    package let all: [any DoorTables.Type]

    /// The kinds of every node, and those of its features.
    package init(of features: [any DoorTables.Type] = []) {
        all = features + [PhoneBookTables.self, ClockTables.self]
    }

    /// The words for kinds of registrations, those without tables in a store too.
    package var registrations: [String] { all.flatMap { $0.views.map(\.kind) }.sorted() }

    /// All tables that are copied, each behind those that it refers to.
    var copied: [StoreTable] { (Schema.tables + all.flatMap { $0.tables }).filter(\.isCopied) }
}

/// Makes the tables of doors, or refuses those that are there.
package enum DoorSchema {
    /// Makes the tables of a door if they are not there, within a transaction of its own.
    package static func prepare(
        _ kind: any DoorTables.Type, on connection: borrowing Connection
    ) throws(StoreError) {
        guard try !isThere(kind, on: connection) else { return }
        try connection.transaction { () throws(StoreError) in try make(kind, on: connection) }
    }

    /// Makes the tables of a door if they are not there, as a part of the transaction that runs.
    package static func make(
        _ kind: any DoorTables.Type, on connection: borrowing Connection
    ) throws(StoreError) {
        try connection.engine.lockTables()
        // Another node may have made them meanwhile.
        guard try !isThere(kind, on: connection) else { return }
        for table in kind.tables { try connection.execute(table.statements(in: connection.dialect)) }
        try connection.execute(
            "INSERT INTO door VALUES ('\(kind.name)', \(connection.dialect.pick(kind.format)))")
    }

    /// Whether the store has a door's tables. Throws if they are of another format.
    package static func isThere(
        _ kind: any DoorTables.Type, on connection: borrowing Connection
    ) throws(StoreError) -> Bool {
        guard let found = try connection.firstInteger("SELECT steps FROM door WHERE name = '\(kind.name)'")
        else { return false }
        let known = connection.dialect.pick(kind.format)
        guard found == known else {
            throw StoreError(
                refused: Schema.otherFormat("the tables of \(kind.name)", found, known: known)
                    + (found > known
                        ? "Install the newer one again" : "Go on with that one, or begin with a new store"))
        }
        return true
    }
}
