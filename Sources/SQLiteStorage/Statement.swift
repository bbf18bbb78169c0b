import CSQLite
import Relay

/// One prepared statement: one owner, finalized when it lets go. It must not outlive its connection.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    private let room: BindingRoom?

    /// - Parameter room: Bytes for texts and blobs of one run, which then cost no memory of their own. All values of
    ///   such a statement are bound anew for each run.
    init(_ sql: String, on connection: borrowing Connection, room: Int = 0) throws(SQLiteError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else {
            throw SQLiteError(code: code, operation: .prepare, message: connection.lastMessage)
        }
        self.handle = handle
        self.connection = connection.handle
        self.room = room > 0 ? BindingRoom(byteCount: room) : nil
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Values in, from index 1

    func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ index: Int32, _ value: String?) throws(SQLiteError) {
        guard var value else { return try check(sqlite3_bind_null(handle, index)) }
        let code = value.withUTF8 { text in
            withBytes(UnsafeRawBufferPointer(text)) { bytes, owner in
                sqlite3_bind_text(
                    handle, index, bytes?.assumingMemoryBound(to: CChar.self), Int32(text.count), owner)
            }
        }
        try check(code)
    }

    /// 16 bytes, big-endian.
    func bind(_ index: Int32, high: UInt64, low: UInt64) throws(SQLiteError) {
        let code = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            withBytes($0) { sqlite3_bind_blob(handle, index, $0, 16, $1) }
        }
        try check(code)
    }

    /// `nil`: NULL.
    func bind(_ index: Int32, bytes: [UInt8]?) throws(SQLiteError) {
        guard let bytes else { return try check(sqlite3_bind_null(handle, index)) }
        // SQLite takes a null address, which no bytes may have, for NULL.
        guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
        let code = bytes.withUnsafeBytes { blob in
            withBytes(blob) { sqlite3_bind_blob(handle, index, $0, Int32(blob.count), $1) }
        }
        try check(code)
    }

    func bind(_ index: Int32, _ digest: Digest) throws(SQLiteError) {
        try bind(index, high: digest.high, low: digest.low)
    }

    /// Calls `bind` with bytes that lie in the room, or else with those given, which SQLite is to copy: nothing of the
    /// caller's has to outlive the call.
    private func withBytes(
        _ bytes: UnsafeRawBufferPointer, _ bind: (UnsafeRawPointer?, sqlite3_destructor_type?) -> Int32
    ) -> Int32 {
        if let kept = room?.keep(bytes) { return bind(kept, nil) }
        return bind(bytes.baseAddress, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
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
        defer { room?.clear() }
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

/// Where the values of one run lie.
private final class BindingRoom {
    // Owned, freed in deinit, which comes after the statement that points here is finalized.
    private let bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    init(byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 16) }

    deinit { bytes.deallocate() }

    /// Where these lie until ``clear()``; `nil` when there is no room for them.
    func keep(_ value: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard value.count <= bytes.count - used, let base = bytes.baseAddress else { return nil }
        let place = base + used
        UnsafeMutableRawBufferPointer(start: place, count: value.count).copyMemory(from: value)
        used += value.count
        return UnsafeRawPointer(place)
    }

    func clear() { used = 0 }
}
