/// PostgreSQL's SQL. Some functions of SQLite's are made in the database by ``DatabaseSchema``.
struct PostgreSQLDialect: Dialect {
    func size(of column: String) -> String { "(length(\(column)) - \(DatabaseSchema.sealOverhead))" }

    func larger(_ left: String, _ right: String) -> String { "greatest(\(left), \(right))" }

    var bytes: String { "BYTEA" }

    func address(of table: String) -> String {
        "(SELECT address FROM mailbox WHERE mailbox.number = \(table).mailbox)"
    }

    func andHeld(_ index: Int) -> String { "AND NOT late AND \(PostgreSQLDialect.isOf(index))" }

    func andOwn(_ index: Int) -> String { "AND \(PostgreSQLDialect.isOf(index))" }

    /// Returns the condition that a row is of some shards.
    static func isOf(_ index: Int, _ column: String = "token_digest") -> String {
        "get_bit(CAST(?\(index) AS BYTEA), get_byte(\(column), 0)) = 1"
    }

    var forUpdate: String? { "FOR UPDATE" }

    var noteChange: String? { "UPDATE cluster SET changes = changes + 1" }

    var version: String { "SELECT changes FROM cluster" }

    var countsLanes: Bool { false }

    func steps(file: [String], database: [String]) -> [String] { database }

    func lastNumber(of table: String, _ counter: RowCounter) -> String {
        "SELECT pg_sequence_last_value(CAST(\(counted(table)) AS regclass))"
    }

    func goOn(behind number: Int64, in table: String, _ counter: RowCounter) -> String? {
        "SELECT setval(\(counted(table)), \(number))"
    }

    private func counted(_ table: String) -> String { "pg_get_serial_sequence('\(table)', 'number')" }
}
