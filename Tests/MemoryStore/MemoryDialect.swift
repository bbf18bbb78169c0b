import Persistence

/// The SQL of a store in memory. One node has it, and nobody else changes it unseen.
struct MemoryDialect: Dialect {
    func size(of column: String) -> String { "length(CAST(\(column) AS BLOB))" }
    func larger(_ left: String, _ right: String) -> String { "max(\(left), \(right))" }
    func address(of table: String) -> String { "NULL" }

    func andHeld(_ index: Int) -> String { "" }
    func andOwn(_ index: Int) -> String { "" }
    var forUpdate: String? { nil }
    var noteChange: String? { nil }
    var version: String { "PRAGMA data_version" }

    /// ``MemoryTables`` counts by a view.
    var countsLanes: Bool { false }
    func type(of kind: StoreTable.Column.Kind) -> String? {
        switch kind {
        case .number: "INTEGER"
        case .text, .sealedText: "TEXT"
        case .bytes, .sealedBytes: "BLOB"
        case .database: nil
        }
    }
    func numbered(_ counter: RowCounter) -> String {
        counter == .neverReused ? "INTEGER PRIMARY KEY AUTOINCREMENT" : "INTEGER PRIMARY KEY"
    }
    func ending(of table: StoreTable) -> String { "" }
    func pick<Value>(_ words: PerDialect<Value>) -> Value { words.file }
    func lastNumber(of table: String, _ counter: RowCounter) -> String {
        counter == .neverReused
            ? "SELECT seq FROM sqlite_sequence WHERE name = '\(table)'" : "SELECT max(number) FROM \(table)"
    }
    func goOn(behind number: Int64, in table: String, _ counter: RowCounter) -> String? {
        guard counter == .neverReused else { return nil }
        return """
            DELETE FROM sqlite_sequence WHERE name = '\(table)';
            INSERT INTO sqlite_sequence VALUES ('\(table)', \(number))
            """
    }
}
