import CSQLite
import Relay

/// One prepared statement: one owner, finalized when it lets go. It must not outlive its connection.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: OpaquePointer

    /// Bound values are copied: nothing of ours has to outlive the call.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    init(_ sql: String, on connection: borrowing Connection) throws(SQLiteError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else {
            throw SQLiteError(code: code, operation: .prepare, message: connection.lastMessage)
        }
        self.handle = handle
        self.connection = connection.handle
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Values in, from index 1

    func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ index: Int32, _ value: String?) throws(SQLiteError) {
        guard var value else { return try check(sqlite3_bind_null(handle, index)) }
        let code = value.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), Statement.copied)
            }
        }
        try check(code)
    }

    /// 16 bytes, big-endian.
    func bind(_ index: Int32, high: UInt64, low: UInt64) throws(SQLiteError) {
        let code = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            sqlite3_bind_blob(handle, index, $0.baseAddress, 16, Statement.copied)
        }
        try check(code)
    }

    /// `nil`: NULL.
    func bind(_ index: Int32, bytes: [UInt8]?) throws(SQLiteError) {
        guard let bytes else { return try check(sqlite3_bind_null(handle, index)) }
        // SQLite takes a null address, which no bytes may have, for NULL.
        guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
        let code = bytes.withUnsafeBytes {
            sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), Statement.copied)
        }
        try check(code)
    }

    func bind(_ index: Int32, _ digest: Digest) throws(SQLiteError) {
        try bind(index, high: digest.high, low: digest.low)
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else {
            throw SQLiteError(
                code: code, operation: .bind, message: String(cString: sqlite3_errmsg(connection)))
        }
    }

    // MARK: Running

    /// True when there is a row to read.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = SQLiteError(
                code: code, operation: .step, message: String(cString: sqlite3_errmsg(connection)))
            sqlite3_reset(handle)
            throw error
        }
    }

    /// Runs a statement that brings no row, and makes it ready for the next values.
    func run() throws(SQLiteError) {
        _ = try step()
        sqlite3_reset(handle)
    }

    func reset() { sqlite3_reset(handle) }

    // MARK: Values out, from column 0, valid rows only

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    var columnCount: Int32 { sqlite3_column_count(handle) }

    func name(_ column: Int32) -> String {
        sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// 16 bytes, big-endian; zeros when the column holds anything else.
    func pair(_ column: Int32) -> (high: UInt64, low: UInt64) {
        guard let bytes = sqlite3_column_blob(handle, column), sqlite3_column_bytes(handle, column) == 16
        else {
            return (0, 0)
        }
        return (
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
}
