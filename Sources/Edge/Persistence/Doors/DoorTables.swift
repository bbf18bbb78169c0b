/// Tables of one door in the outbox's store, with their statements: whoever is known to it, and what it has to
/// remember.
///
/// Conformers lie in this module, one file each, beside a `package` type that the door calls from the event loop (see
/// ``Installations``). A conformer lives on the store's thread only.
protocol DoorTables: AnyObject {
    /// Names the tables among those of other doors; never changed once released.
    static var name: String { get }

    /// The steps that make the tables: a file that has seen the first so many gets the rest. A released step is never
    /// changed. Each is a text of SQL statements.
    static var steps: [String] { get }

    /// Steps for a database that nodes share, one for each of those.
    static var databaseSteps: [String] { get }

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
    /// Statements that forget one, `?1` being its id.
    let removal: [String]

    package init(kind: String, query: String, removal: [String]) {
        self.kind = kind
        self.query = query
        self.removal = removal
    }
}

/// The tables of all doors, as they are kept in the outbox's store: every kind there is.
enum DoorTableKinds {
    static var all: [any DoorTables.Type] {
        [
            InstallationTables.self, StatusTables.self, BitwardenTables.self, PhoneBookTables.self,
            MailboxTables.self,
        ]
    }
}

/// Makes and brings up to date the tables of doors.
enum DoorSchema {
    /// Within a transaction of its own.
    static func prepare(
        _ kind: any DoorTables.Type, on connection: borrowing Connection
    ) throws(StoreError) {
        let known = try steps(of: kind, on: connection)
        let steps = connection.dialect.steps(file: kind.steps, database: kind.databaseSteps)
        guard known <= steps.count else {
            throw StoreError(
                refused:
                    "the tables of \(kind.name) were written by a later version of onionbell (step \(known), this one knows \(steps.count))"
            )
        }
        guard known < steps.count else { return }
        try connection.transaction { () throws(StoreError) in
            try connection.engine.lockTables()
            // Another node may have made them meanwhile, and be of a later version.
            let made = min(try self.steps(of: kind, on: connection), steps.count)
            guard made < steps.count else { return }
            for step in steps[made...] { try connection.execute(step) }
            try connection.execute(
                """
                INSERT INTO door VALUES ('\(kind.name)', \(steps.count))
                    ON CONFLICT (name) DO UPDATE SET steps = excluded.steps
                """)
        }
    }

    static func steps(
        of kind: any DoorTables.Type, on connection: borrowing Connection
    ) throws(StoreError) -> Int {
        Int(try connection.firstInteger("SELECT steps FROM door WHERE name = '\(kind.name)'") ?? 0)
    }
}
