import CSQLite

/// One open database: one owner, closed when it lets go. Never leaves the thread of its store.
struct Connection: ~Copyable {
    let handle: OpaquePointer

    /// Once for the process. Where somebody has opened a database before, it changes nothing.
    private static let countsNoMemory = onionbell_sqlite3_count_no_memory()

    init(path: String, isReadOnly: Bool = false) throws(SQLiteError) {
        _ = Connection.countsNoMemory
        var handle: OpaquePointer?
        // The store's thread is the only one to use it: SQLite needs no locks of its own.
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)  // SQLite gives a handle even when it fails
            throw SQLiteError(code: code, operation: .open, message: message)
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, Connection.patience)
    }

    /// Milliseconds to wait for another process that has the file.
    private static let patience: Int32 = 5000

    deinit { sqlite3_close_v2(handle) }

    var lastMessage: String { String(cString: sqlite3_errmsg(handle)) }

    /// Runs statements that bring no rows.
    func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, operation: .step, message: lastMessage) }
    }

    /// Empties the write-ahead log, unless somebody reads it just now: waits for nobody.
    func emptyLog() {
        sqlite3_busy_timeout(handle, 0)
        sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        sqlite3_busy_timeout(handle, Connection.patience)
    }

    /// The first column of the first row.
    func firstText(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? statement.text(0) : nil
    }

    func firstInteger(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? statement.integer(0) : nil
    }
}
