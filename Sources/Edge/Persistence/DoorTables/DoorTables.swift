/// Tables of one door in the outbox's store, with their statements: the clients that the door knows, and what it has to
/// remember.
///
/// Conformers lie in this module, one file each, beside a `package` type that the door calls from the event loop (see
/// ``Installations``). A conformer lives on the store's thread only.
protocol DoorTables: AnyObject {
    /// Names the tables among those of other doors; never changed once released.
    static var name: String { get }

    /// The format of the tables, which stands in the column `steps` of the table `door`. A store of another one is refused.
    static var format: PerDialect<Int64> { get }

    /// The tables, each behind those that it refers to.
    static var tables: [StoreTable] { get }

    /// The views that `onionbell registrations` shows.
    static var views: [RegistrationView] { get }

    /// Prepares the statements; the tables are there.
    init(_ connection: borrowing Connection) throws(StoreError)
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
}

/// The tables of all doors, as they are kept in the outbox's store: every kind there is.
enum DoorTableKinds {
    static var all: [any DoorTables.Type] {
        [
            InstallationTables.self, StatusIMTables.self, BitwardenTables.self, PhoneBookTables.self,
            MailboxTables.self, ClockTables.self,
        ]
    }
}

/// Makes the tables of doors, or refuses those that are there.
enum DoorSchema {
    /// Makes the tables of a door if they are not there, within a transaction of its own.
    static func prepare(
        _ kind: any DoorTables.Type, on connection: borrowing Connection
    ) throws(StoreError) {
        guard try !isThere(kind, on: connection) else { return }
        try connection.transaction { () throws(StoreError) in try make(kind, on: connection) }
    }

    /// Makes the tables of a door if they are not there, as a part of the transaction that runs.
    static func make(
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
    static func isThere(
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
