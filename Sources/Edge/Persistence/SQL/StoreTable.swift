import Encodings

/// A table of a store, described once: each engine's dialect makes it of this, and ``StoreCopy`` copies its columns.
///
/// Files and databases have these names and types: a change of them is another format (``Schema/version``,
/// ``DoorTables/format``).
package struct StoreTable: Sendable {
    package let name: String
    package let columns: [Column]
    /// Columns that are the key together; empty: the first column is it, or there is none.
    package let key: [String]
    /// A rule for several columns, behind them.
    let rule: PerDialect<String>
    /// The columns and conditions of each index by its name.
    let indices: KeyValuePairs<String, PerDialect<String>>
    /// Statements that make the rest: triggers, and what triggers change.
    let rest: PerDialect<String>
    /// True if ``StoreCopy`` copies the rows. Others are made by triggers, or together with the tables.
    let isCopied: Bool

    package init(
        _ name: String, _ columns: [Column], key: [String] = [], rule: PerDialect<String> = "",
        indices: KeyValuePairs<String, PerDialect<String>> = [:], rest: PerDialect<String> = "",
        isCopied: Bool = true
    ) {
        self.name = name
        self.columns = columns
        self.key = key
        self.rule = rule
        self.indices = indices
        self.rest = rest
        self.isCopied = isCopied
    }

    package struct Column: Sendable {
        package enum Kind: Sendable {
            case number, text, bytes
            /// A value that is sealed in a database, for this context, and in clear in a file.
            case sealedText(String), sealedBytes(String)
            /// A column that a file has not, and its definition. It is not copied.
            case database(String)
        }

        package enum Rule {
            case required, optional, unique
            /// A number that is there always: this one where a row is written without it.
            case initially(Int64)
            /// The key, which is the first column.
            case key
            /// The key, which is the first column and which the table numbers itself.
            case numbered(RowCounter)
            /// A value of another table's column, with whose row this one goes. A file does it by the trigger.
            case goesWith(table: String, column: String, trigger: String)
            /// The words behind the type.
            case exactly(String)
        }

        package let name: String
        package let kind: Kind
        let rule: Rule

        package init(_ name: String, _ kind: Kind = .number, _ rule: Rule = .required) {
            self.name = name
            self.kind = kind
            self.rule = rule
        }

        /// Returns a column for what a row is found by, or proven with, where strangers could change it.
        /// ``StoreCopy`` completes it.
        package static func proof(_ name: String = "proof") -> Column {
            Column(name, .database("BYTEA NOT NULL DEFAULT ''"), .optional)
        }

        /// Returns the column as a table's definition has it; `nil`: the dialect has none of this kind.
        fileprivate func definition(in dialect: any Dialect) -> String? {
            guard let type = dialect.type(of: kind) else { return nil }
            let words: PerDialect<String> =
                switch rule {
                case .required: "\(type) NOT NULL"
                case .optional: "\(type)"
                case .unique: "\(type) NOT NULL UNIQUE"
                case .initially(let value): "\(type) NOT NULL DEFAULT \(value)"
                case .key: "\(type) PRIMARY KEY"
                case .numbered(let counter): "\(dialect.numbered(counter))"
                case .goesWith(let table, let column, _):
                    PerDialect(
                        file: "\(type) NOT NULL",
                        database: "\(type) NOT NULL REFERENCES \(table) (\(column)) ON DELETE CASCADE")
                case .exactly(let words): "\(type) \(words)"
                }
            return "\(name) \(dialect.pick(words))"
        }
    }

    /// The column that pages of rows are read by; `nil`: there is none.
    var pageKey: String? {
        switch columns[0].rule {
        case .key, .numbered: columns[0].name
        case .required, .optional, .unique, .initially, .goesWith, .exactly: nil
        }
    }

    /// True if the rows lie by a key.
    package var hasKey: Bool { !key.isEmpty || pageKey != nil }

    var counter: RowCounter? {
        if case .numbered(let counter) = columns[0].rule { counter } else { nil }
    }

    /// Returns the statements that make the table, behind those of tables that it refers to.
    package func statements(in dialect: any Dialect) -> String {
        var lines = columns.compactMap { $0.definition(in: dialect) }
        if !key.isEmpty { lines.append("PRIMARY KEY (\(key.joined(separator: ", ")))") }
        if case let rule = dialect.pick(rule), !rule.isEmpty { lines.append(rule) }
        var text = """
            CREATE TABLE \(name) (
                \(lines.joined(separator: ",\n    "))
            )\(dialect.ending(of: self));

            """
        for index in indices {
            text += "CREATE INDEX \(index.key) ON \(name) \(dialect.pick(index.value));\n"
        }
        for column in columns {
            guard case .goesWith(let other, let key, let trigger) = column.rule else { continue }
            text += dialect.pick(
                PerDialect(
                    file: """
                        CREATE TRIGGER \(trigger) AFTER DELETE ON \(other) BEGIN
                            DELETE FROM \(name) WHERE \(column.name) = old.\(key);
                        END;

                        """, database: ""))
        }
        return text + dialect.pick(rest)
    }
}

/// Words that a file and a database have each in their own way.
package struct PerDialect<Value: Sendable>: Sendable {
    package let file: Value
    package let database: Value

    package init(file: Value, database: Value) { (self.file, self.database) = (file, database) }
}

extension PerDialect: ExpressibleByUnicodeScalarLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation
where Value == String {
    package init(stringLiteral words: String) { self.init(file: words, database: words) }
}

extension PerDialect: ExpressibleByIntegerLiteral where Value == Int64 {
    package init(integerLiteral number: Int64) { self.init(file: number, database: number) }
}
