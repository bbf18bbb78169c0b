/// The parts of SQL that differ between the engines. All else is written so that each engine understands it.
package protocol Dialect: Sendable {
    // MARK: Expressions

    /// Returns SQL for the bytes that a column's text has without its seal.
    func size(of column: String) -> String

    /// Returns SQL for the larger of two values.
    func larger(_ left: String, _ right: String) -> String

    // MARK: Other nodes

    /// Returns the condition, which begins with `AND`, that this node may claim a row of the backlog. Another
    /// node may have the row, or has just put it there. Empty where there are no other nodes.
    ///
    /// - Parameter index: The index of the value, ``Shards/bits``.
    func andHeld(_ index: Int) -> String

    /// Returns the condition, which begins with `AND`, that a row of another table is this node's, whoever
    /// put it there. Empty where there are no other nodes.
    func andOwn(_ index: Int) -> String

    /// Locks the rows of a query until the commit; `nil`: a transaction has the whole store anyway.
    var forUpdate: String? { get }

    /// Tells that something was changed beside the outbox, as ``version`` does; `nil`: the engine counts by itself.
    var noteChange: String? { get }

    /// A query for a number that changes with each change by another process.
    var version: String { get }

    // MARK: Tables

    /// True if the table `lane` counts the rows of the backlog.
    var countsLanes: Bool { get }

    /// Returns the type of a column; `nil`: the engine has no columns of this kind.
    func type(of kind: StoreTable.Column.Kind) -> String?

    /// Returns the type and the rule of the key column whose numbers the table gives.
    func numbered(_ counter: RowCounter) -> String

    /// Returns the words behind the columns of a table.
    func ending(of table: StoreTable) -> String

    /// Returns the words for a file, or those for a database.
    func pick<Value>(_ words: PerDialect<Value>) -> Value

    /// Returns a query for the last number that a table has given to a row.
    func lastNumber(of table: String, _ counter: RowCounter) -> String

    /// Statements after which a table gives higher numbers than this; `nil`: it does so by itself, since its rows have it.
    func goOn(behind number: Int64, in table: String, _ counter: RowCounter) -> String?
}

/// The way in which a table that numbers its rows finds the next number in a file. A database keeps all that
/// it has given.
package enum RowCounter: Sendable {
    /// The next number is above every number ever given, also of deleted rows.
    case neverReused
    /// The next number is above that of every row there is.
    case highest
}
