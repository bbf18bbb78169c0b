import Persistence
import PostgreSQL

final class DatabaseStatement: EngineStatement {
    private let statement: PostgreSQLStatement

    init(_ sql: String, on database: Database) { statement = database.statement(sql) }

    private func translated<Value>(
        _ body: () throws(PostgreSQLError) -> Value
    ) throws(StoreError) -> Value {
        do throws(PostgreSQLError) {
            return try body()
        } catch {
            throw StoreError(error, .step)
        }
    }

    // MARK: Values in

    func bindNull(_ index: Int32) { statement.bindNull(index) }

    func bind(_ index: Int32, _ value: Int64) { statement.bind(index, value) }

    func bind(_ index: Int32, text: String) { statement.bind(index, text) }

    func bind(_ index: Int32, bytes: [UInt8]) {
        bytes.withUnsafeBytes { statement.bind(index, bytes: $0) }
    }

    func bind(_ index: Int32, high: UInt64, low: UInt64) {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { statement.bind(index, bytes: $0) }
    }

    func bind(_ index: Int32, _ array: PostgreSQLArray) { statement.bind(index, array) }

    // MARK: Running

    func step() throws(StoreError) -> Bool {
        try translated { () throws(PostgreSQLError) in try statement.step() }
    }

    func run() throws(StoreError) { try translated { () throws(PostgreSQLError) in try statement.run() } }

    func reset() { statement.reset() }

    var changes: Int { statement.changes }

    // MARK: Values out

    var columnCount: Int32 { statement.columnCount }

    func name(_ column: Int32) -> String { statement.name(column) }

    func isNull(_ column: Int32) -> Bool { statement.isNull(column) }

    func integer(_ column: Int32) -> Int64 { statement.integer(column) }

    func text(_ column: Int32) -> String { statement.text(column) }

    func bytes(_ column: Int32) -> [UInt8] { statement.withBytes(column) { Array($0) } }

    func pair(_ column: Int32) -> (high: UInt64, low: UInt64) { statement.withBytes(column) { $0.pair } }
}
