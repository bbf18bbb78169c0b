/// SQLite's SQL. A file has one node, and is locked as a whole.
struct SQLiteDialect: Dialect {
    func size(of column: String) -> String { "length(CAST(\(column) AS BLOB))" }

    func larger(_ left: String, _ right: String) -> String { "max(\(left), \(right))" }

    func andHeld(_ index: Int) -> String { "" }

    func andOwn(_ index: Int) -> String { "" }

    var forUpdate: String? { nil }

    var noteChange: String? { nil }

    var version: String { "PRAGMA data_version" }

    var countsLanes: Bool { true }

    func type(of kind: StoreTable.Column.Kind) -> String? {
        switch kind {
        case .number: "INTEGER"
        case .text, .sealedText: "TEXT"
        case .bytes, .sealedBytes: "BLOB"
        case .database: nil
        }
    }

    func numbered(_ counter: RowCounter) -> String {
        switch counter {
        case .neverReused: "INTEGER PRIMARY KEY AUTOINCREMENT"
        case .highest: "INTEGER PRIMARY KEY"
        }
    }

    /// Returns the words behind the columns. Rows without a number of their own are stored in the order of
    /// their key.
    func ending(of table: StoreTable) -> String {
        if case .number = table.columns[0].kind { return " STRICT" }
        return table.hasKey ? " STRICT, WITHOUT ROWID" : " STRICT"
    }

    func pick<Value>(_ words: PerDialect<Value>) -> Value { words.file }

    func lastNumber(of table: String, _ counter: RowCounter) -> String {
        switch counter {
        case .neverReused: "SELECT seq FROM sqlite_sequence WHERE name = '\(table)'"
        case .highest: "SELECT max(number) FROM \(table)"
        }
    }

    func goOn(behind number: Int64, in table: String, _ counter: RowCounter) -> String? {
        guard counter == .neverReused else { return nil }
        return """
            DELETE FROM sqlite_sequence WHERE name = '\(table)';
            INSERT INTO sqlite_sequence VALUES ('\(table)', \(number))
            """
    }
}
