import CSQLite
import Persistence

/// A statement of a store in memory.
final class MemoryStatement: EngineStatement {
    // Owned, finalized in deinit.
    private let handle: OpaquePointer
    private let connection: MemoryConnection

    init(_ sql: String, on connection: MemoryConnection) throws(StoreError) {
        var handle: OpaquePointer?
        guard sqlite3_prepare_v2(connection.handle, sql, -1, &handle, nil) == SQLITE_OK, let handle else {
            throw connection.failure(.prepare)
        }
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Values in

    /// SQLite copies what it is given.
    private static var copies: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw connection.failure(.bind) }
    }

    func bindNull(_ index: Int32) throws(StoreError) { try check(sqlite3_bind_null(handle, index)) }

    func bind(_ index: Int32, _ value: Int64) throws(StoreError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ index: Int32, text: String) throws(StoreError) {
        try check(sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), MemoryStatement.copies))
    }

    func bind(_ index: Int32, bytes: [UInt8]) throws(StoreError) {
        // SQLite takes no bytes for NULL.
        guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
        try check(sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), MemoryStatement.copies))
    }

    func bind(_ index: Int32, high: UInt64, low: UInt64) throws(StoreError) {
        try bind(
            index,
            bytes: [high, low].flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
            })
    }

    // MARK: Running

    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case _:
            let error = connection.failure(.step)
            reset()
            throw error
        }
    }

    func run() throws(StoreError) {
        _ = try step()
        reset()
    }

    func reset() { sqlite3_reset(handle) }

    var changes: Int { Int(sqlite3_changes(connection.handle)) }

    // MARK: Values out

    var columnCount: Int32 { sqlite3_column_count(handle) }

    func name(_ column: Int32) -> String { String(cString: sqlite3_column_name(handle, column)) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Numbers are texts too, where texts are asked for.
    func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        return String(
            decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column))),
            as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        let bytes = sqlite3_column_blob(handle, column)
        return Array(
            UnsafeRawBufferPointer(
                start: bytes, count: bytes == nil ? 0 : Int(sqlite3_column_bytes(handle, column))))
    }

    func pair(_ column: Int32) -> (high: UInt64, low: UInt64) {
        let bytes = bytes(column)
        guard bytes.count == 16 else { return (0, 0) }
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        return (word(bytes[..<8]), word(bytes[8...]))
    }
}
