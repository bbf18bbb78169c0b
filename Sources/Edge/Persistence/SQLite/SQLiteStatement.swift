import CSQLite

/// A statement of SQLite's, finalized with its end.
final class SQLiteStatement: EngineStatement {
    // Owned, finalized in deinit.
    private let handle: OpaquePointer
    // The connection's, which waits with its own end for that of the last statement.
    private let connection: OpaquePointer
    private let room: BindingRoom?

    init(_ sql: String, on connection: SQLiteConnection, room: Int = 0) throws(StoreError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw connection.failure(code, .prepare) }
        self.handle = handle
        self.connection = connection.handle
        self.room = room > 0 ? BindingRoom(byteCount: room) : nil
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Values in

    func bindNull(_ index: Int32) throws(StoreError) { try check(sqlite3_bind_null(handle, index)) }

    func bind(_ index: Int32, _ value: Int64) throws(StoreError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ index: Int32, text: String) throws(StoreError) {
        var text = text
        let code = text.withUTF8 { text in
            withBytes(UnsafeRawBufferPointer(text)) { bytes, owner in
                sqlite3_bind_text(
                    handle, index, bytes?.assumingMemoryBound(to: CChar.self), Int32(text.count), owner)
            }
        }
        try check(code)
    }

    func bind(_ index: Int32, bytes: [UInt8]) throws(StoreError) {
        // SQLite takes a null address, which no bytes may have, for NULL.
        guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
        let code = bytes.withUnsafeBytes { blob in
            withBytes(blob) { sqlite3_bind_blob(handle, index, $0, Int32(blob.count), $1) }
        }
        try check(code)
    }

    func bind(_ index: Int32, high: UInt64, low: UInt64) throws(StoreError) {
        let code = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            withBytes($0) { sqlite3_bind_blob(handle, index, $0, 16, $1) }
        }
        try check(code)
    }

    /// Calls `bind` with bytes that lie in the room, or else with those given, which SQLite is to copy: nothing of the
    /// caller's has to outlive the call.
    private func withBytes(
        _ bytes: UnsafeRawBufferPointer, _ bind: (UnsafeRawPointer?, sqlite3_destructor_type?) -> Int32
    ) -> Int32 {
        if let kept = room?.keep(bytes) { return bind(kept, nil) }
        return bind(bytes.baseAddress, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw failure(code, .bind) }
    }

    private func failure(_ code: Int32, _ operation: StoreError.Operation) -> StoreError {
        StoreError(code: code, operation: operation, message: String(cString: sqlite3_errmsg(connection)))
    }

    // MARK: Running

    func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = failure(code, .step)
            sqlite3_reset(handle)
            throw error
        }
    }

    func run() throws(StoreError) {
        defer { room?.clear() }
        _ = try step()
        sqlite3_reset(handle)
    }

    func reset() { sqlite3_reset(handle) }

    var changes: Int { Int(sqlite3_changes(connection)) }

    // MARK: Values out

    var columnCount: Int32 { sqlite3_column_count(handle) }

    func name(_ column: Int32) -> String {
        sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    func pair(_ column: Int32) -> (high: UInt64, low: UInt64) { withBytes(column) { $0.pair } }

    private func withBytes<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        let bytes = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }
}

extension UnsafeRawBufferPointer {
    /// 16 bytes, big-endian; zeros when there are more or fewer.
    package var pair: (high: UInt64, low: UInt64) {
        guard count == 16 else { return (0, 0) }
        return (
            UInt64(bigEndian: loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
}

/// The memory in which the values of one run lie.
private final class BindingRoom {
    // Owned, freed in deinit, which comes after the statement that points here is finalized.
    private let bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    init(byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 16) }

    deinit { bytes.deallocate() }

    /// Keeps a value until ``clear()`` and returns its place; `nil` when there is no room for it.
    func keep(_ value: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard value.count <= bytes.count - used, let base = bytes.baseAddress else { return nil }
        let place = base + used
        UnsafeMutableRawBufferPointer(start: place, count: value.count).copyMemory(from: value)
        used += value.count
        return UnsafeRawPointer(place)
    }

    func clear() { used = 0 }
}
