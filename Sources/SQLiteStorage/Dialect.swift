/// Where SQLite and PostgreSQL say the same otherwise. All else is written so that both understand it; some functions of
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

    /// The type of columns of bytes.
    var bytes: String { self == .sqlite ? "BLOB" : "BYTEA" }

    /// The larger one.
    func larger(_ left: String, _ right: String) -> String {
        switch self {
        case .sqlite: "max(\(left), \(right))"
        case .postgreSQL: "greatest(\(left), \(right))"
        }
    }

    /// A number that another process's change makes another one.
    var version: String {
        switch self {
        case .sqlite: "PRAGMA data_version"
        case .postgreSQL: "SELECT changes FROM node"
        }
    }
}
