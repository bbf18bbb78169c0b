/// SQLite's SQL. A file has one node, and is locked as a whole.
struct SQLiteDialect: Dialect {
    func size(of column: String) -> String { "length(CAST(\(column) AS BLOB))" }

    func larger(_ left: String, _ right: String) -> String { "max(\(left), \(right))" }

    var bytes: String { "BLOB" }

    func address(of table: String) -> String { "NULL" }

    func andHeld(_ index: Int) -> String { "" }

    func andOwn(_ index: Int) -> String { "" }

    var forUpdate: String? { nil }

    var noteChange: String? { nil }

    var version: String { "PRAGMA data_version" }

    var countsLanes: Bool { true }

    func steps(file: [String], database: [String]) -> [String] { file }

    func lastNumber(of table: String, _ counter: RowCounter) -> String {
        switch counter {
        case .kept: "SELECT seq FROM sqlite_sequence WHERE name = '\(table)'"
        case .highest: "SELECT max(number) FROM \(table)"
        }
    }

    func goOn(behind number: Int64, in table: String, _ counter: RowCounter) -> String? {
        guard counter == .kept else { return nil }
        return """
            DELETE FROM sqlite_sequence WHERE name = '\(table)';
            INSERT INTO sqlite_sequence VALUES ('\(table)', \(number))
            """
    }
}
