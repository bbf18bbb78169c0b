/// The differences between SQLite's and PostgreSQL's SQL. All else is written so that both understand it; some functions of
/// SQLite's are made in the database by ``DatabaseSchema``.
enum Dialect {
    case sqlite, postgreSQL

    /// The bytes of a column of sealed text, as it was before.
    func size(of column: String) -> String {
        switch self {
        case .sqlite: "length(CAST(\(column) AS BLOB))"
        case .postgreSQL: "(length(\(column)) - \(DatabaseSchema.sealOverhead))"
        }
    }

    /// The condition that this node may claim a row of the backlog of a database: another one may have it, or has just put it
    /// there. A file has one node.
    ///
    /// - Parameter index: Of the value, ``Shards/bits``.
    func andHeld(_ index: Int) -> String { self == .sqlite ? "" : "AND NOT late AND \(Dialect.isOf(index))" }

    /// Returns the condition for rows of other tables, whoever put them there.
    func andOwn(_ index: Int) -> String { self == .sqlite ? "" : "AND \(Dialect.isOf(index))" }

    /// In a database: whether a row is of some shards.
    static func isOf(_ index: Int, _ column: String = "token_digest") -> String {
        "get_bit(CAST(?\(index) AS BYTEA), get_byte(\(column), 0)) = 1"
    }

    /// The address of a row's mailbox, for which a database has its text sealed.
    func address(of table: String) -> String {
        self == .sqlite ? "NULL" : "(SELECT address FROM mailbox WHERE mailbox.number = \(table).mailbox)"
    }

    /// The type of columns of bytes.
    var bytes: String { self == .sqlite ? "BLOB" : "BYTEA" }

    /// The larger one.
    func larger(_ left: String, _ right: String) -> String {
        switch self {
        case .sqlite: "max(\(left), \(right))"
        case .postgreSQL: "greatest(\(left), \(right))"
        }
    }

    /// Locks the rows of a query until the commit. A file is locked as a whole.
    var forUpdate: String { self == .sqlite ? "" : "FOR UPDATE" }

    /// Tells that something was changed beside the outbox, as ``version`` does. A file counts by itself.
    var noteChange: String? { self == .sqlite ? nil : "UPDATE cluster SET changes = changes + 1" }

    /// A number that another process's change makes another one.
    var version: String {
        switch self {
        case .sqlite: "PRAGMA data_version"
        case .postgreSQL: "SELECT changes FROM cluster"
        }
    }
}
