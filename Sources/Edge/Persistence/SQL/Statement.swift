import CSQLite
import Crypto
import PostgreSQL
import Relay

/// One prepared statement: one owner, finalized when it lets go. It must not outlive its connection.
struct Statement: ~Copyable {
    private enum Engine {
        case file(handle: OpaquePointer, connection: OpaquePointer)
        case database(PostgreSQLStatement, AES256SIV)
    }

    private let engine: Engine
    private let room: BindingRoom?

    /// - Parameter room: Bytes for texts and blobs of one run, which then cost no memory of their own. All values of
    ///   such a statement are bound anew for each run.
    init(_ sql: String, on connection: borrowing Connection, room: Int = 0) throws(StoreError) {
        switch connection.engine {
        case .file(let connection):
            var handle: OpaquePointer?
            let code = sqlite3_prepare_v3(
                connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
            guard code == SQLITE_OK, let handle else {
                throw StoreError(
                    code: code, operation: .prepare, message: String(cString: sqlite3_errmsg(connection)))
            }
            engine = .file(handle: handle, connection: connection)
            self.room = room > 0 ? BindingRoom(byteCount: room) : nil
        case .database(let database):
            engine = .database(database.statement(sql), database.seal)
            self.room = nil
        }
    }

    deinit { if case .file(let handle, _) = engine { sqlite3_finalize(handle) } }

    // MARK: Values in, from index 1

    func bind(_ index: Int32, _ value: Int64) throws(StoreError) {
        switch engine {
        case .file(let handle, _): try check(sqlite3_bind_int64(handle, index, value))
        case .database(let statement, _): statement.bind(index, value)
        }
    }

    func bind(_ index: Int32, _ value: String?) throws(StoreError) {
        guard let value else { return try bindNull(index) }
        switch engine {
        case .file(let handle, _):
            var value = value
            let code = value.withUTF8 { text in
                withBytes(UnsafeRawBufferPointer(text)) { bytes, owner in
                    sqlite3_bind_text(
                        handle, index, bytes?.assumingMemoryBound(to: CChar.self), Int32(text.count), owner)
                }
            }
            try check(code)
        case .database(let statement, _): statement.bind(index, value)
        }
    }

    /// Text that a database holds sealed, and a file as it is: nobody else reads the file, and what is deleted in it is gone.
    ///
    /// - Parameters:
    ///   - context: Of the column; what was sealed for another one is not opened.
    ///   - owner: Its row, in the same way.
    func bind(
        _ index: Int32, sealed value: String?, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) {
        guard case .database(let statement, let seal) = engine, let value else {
            return try bind(index, value)
        }
        try bind(index, sealed: value.utf8, as: context, of: owner(), to: statement, seal)
    }

    func bind(
        _ index: Int32, sealed value: [UInt8]?, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) {
        guard case .database(let statement, let seal) = engine, let value else {
            return try bind(index, bytes: value)
        }
        try bind(index, sealed: value, as: context, of: owner(), to: statement, seal)
    }

    private func bind(
        _ index: Int32, sealed value: some Collection<UInt8>, as context: String, of owner: Sealed.Owner,
        to statement: PostgreSQLStatement, _ seal: AES256SIV
    ) throws(StoreError) {
        do throws(CryptoError) {
            let sealed = try seal.seal(value, as: context, of: owner.bytes)
            sealed.withUnsafeBytes { statement.bind(index, bytes: $0) }
        } catch {
            throw StoreError(code: StoreError.generic, operation: .bind, message: "\(error)")
        }
    }

    private func bindNull(_ index: Int32) throws(StoreError) {
        switch engine {
        case .file(let handle, _): try check(sqlite3_bind_null(handle, index))
        case .database(let statement, _): statement.bindNull(index)
        }
    }

    /// 16 bytes, big-endian.
    func bind(_ index: Int32, high: UInt64, low: UInt64) throws(StoreError) {
        switch engine {
        case .file(let handle, _):
            let code = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
                withBytes($0) { sqlite3_bind_blob(handle, index, $0, 16, $1) }
            }
            try check(code)
        case .database(let statement, _):
            withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { statement.bind(index, bytes: $0) }
        }
    }

    /// `nil`: NULL.
    func bind(_ index: Int32, bytes: [UInt8]?) throws(StoreError) {
        guard let bytes else { return try bindNull(index) }
        switch engine {
        case .file(let handle, _):
            // SQLite takes a null address, which no bytes may have, for NULL.
            guard !bytes.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
            let code = bytes.withUnsafeBytes { blob in
                withBytes(blob) { sqlite3_bind_blob(handle, index, $0, Int32(blob.count), $1) }
            }
            try check(code)
        case .database(let statement, _): bytes.withUnsafeBytes { statement.bind(index, bytes: $0) }
        }
    }

    /// Binds an array of a statement in a database.
    func bind(_ index: Int32, _ array: PostgreSQLArray) {
        guard case .database(let statement, _) = engine else { preconditionFailure("SQLite has no arrays") }
        statement.bind(index, array)
    }

    func bind(_ index: Int32, _ digest: Digest) throws(StoreError) {
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

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else { throw failure(code, .bind) }
    }

    private func failure(_ code: Int32, _ operation: StoreError.Operation) -> StoreError {
        guard case .file(_, let connection) = engine else { preconditionFailure("SQLite was not asked") }
        return StoreError(
            code: code, operation: operation, message: String(cString: sqlite3_errmsg(connection)))
    }

    // MARK: Running

    /// True when there is a row to read.
    func step() throws(StoreError) -> Bool {
        switch engine {
        case .file(let handle, _):
            switch sqlite3_step(handle) {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            case let code:
                let error = failure(code, .step)
                sqlite3_reset(handle)
                throw error
            }
        case .database(let statement, _):
            do throws(PostgreSQLError) {
                return try statement.step()
            } catch {
                throw StoreError(error, .step)
            }
        }
    }

    /// Runs a statement that brings no row, and makes it ready for the next values.
    func run() throws(StoreError) {
        switch engine {
        case .file(let handle, _):
            defer { room?.clear() }
            _ = try step()
            sqlite3_reset(handle)
        case .database(let statement, _):
            do throws(PostgreSQLError) {
                try statement.run()
            } catch {
                throw StoreError(error, .step)
            }
        }
    }

    func reset() {
        switch engine {
        case .file(let handle, _): sqlite3_reset(handle)
        case .database(let statement, _): statement.reset()
        }
    }

    /// How many rows the last run changed, once the connection has settled.
    var changes: Int {
        switch engine {
        case .file(_, let connection): Int(sqlite3_changes(connection))
        case .database(let statement, _): statement.changes
        }
    }

    // MARK: Values out, from column 0, valid rows only

    func integer(_ column: Int32) -> Int64 {
        switch engine {
        case .file(let handle, _): sqlite3_column_int64(handle, column)
        case .database(let statement, _): statement.integer(column)
        }
    }

    var columnCount: Int32 {
        switch engine {
        case .file(let handle, _): sqlite3_column_count(handle)
        case .database(let statement, _): statement.columnCount
        }
    }

    func name(_ column: Int32) -> String {
        switch engine {
        case .file(let handle, _): sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
        case .database(let statement, _): statement.name(column)
        }
    }

    func isNull(_ column: Int32) -> Bool {
        switch engine {
        case .file(let handle, _): sqlite3_column_type(handle, column) == SQLITE_NULL
        case .database(let statement, _): statement.isNull(column)
        }
    }

    func text(_ column: Int32) -> String {
        switch engine {
        case .file(let handle, _):
            guard let bytes = sqlite3_column_text(handle, column) else { return "" }
            let count = Int(sqlite3_column_bytes(handle, column))
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        case .database(let statement, _): return statement.text(column)
        }
    }

    private func withBytes<Value>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        switch engine {
        case .file(let handle, _):
            let bytes = sqlite3_column_blob(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            return body(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
        case .database(let statement, _): return statement.withBytes(column, body)
        }
    }

    func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

    /// 16 bytes, big-endian; zeros when the column holds anything else.
    func pair(_ column: Int32) -> (high: UInt64, low: UInt64) {
        withBytes(column) { bytes in
            guard bytes.count == 16 else { return (0, 0) }
            return (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// NULL is empty, as without a seal.
    ///
    /// - Throws: It was sealed under another key, for another column or for another row.
    func sealedText(
        _ column: Int32, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) -> String {
        guard case .database = engine, !isNull(column) else { return text(column) }
        return String(decoding: try sealedBytes(column, as: context, of: owner()), as: UTF8.self)
    }

    /// Whether the row was written as it is.
    func isProven(_ column: Int32, _ owner: @autoclosure () -> Sealed.Owner) -> Bool {
        guard case .database(_, let seal) = engine else { return true }
        return (try? seal.open(bytes(column), as: Sealed.proof, of: owner().bytes)) == []
    }

    func sealedBytes(
        _ column: Int32, as context: String, of owner: @autoclosure () -> Sealed.Owner
    ) throws(StoreError) -> [UInt8] {
        guard case .database(_, let seal) = engine, !isNull(column) else { return bytes(column) }
        do throws(CryptoError) {
            return try seal.open(bytes(column), as: context, of: owner().bytes)
        } catch {
            throw StoreError(
                code: SQLITE_CORRUPT, operation: .step,
                message:
                    "a row of the database was not written with this node's digest key, or was changed or copied since"
            )
        }
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
