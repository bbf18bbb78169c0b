import CSQLite
import Glibc

/// One open store: one owner, closed when it lets go. Never leaves the thread of its store.
struct Connection: ~Copyable {
    enum Engine {
        case file(OpaquePointer)
        case database(Database)
    }

    let engine: Engine
    /// An index that was not there before, of a file that is only looked at.
    private let leftOver: String?

    /// Once for the process. Where somebody has opened a database before, it changes nothing.
    private static let countsNoMemory = onionbell_sqlite3_count_no_memory()

    init(_ place: StorePlace, for access: StoreAccess) throws(StoreError) {
        if case .file(let path) = place, access == .inspecting {
            leftOver = Connection.indexToCome(path)
        } else {
            leftOver = nil
        }
        switch place {
        case .file(let path): engine = .file(try Connection.openOwn(path: path, for: access))
        case .database(let place): engine = .database(try Database(place, for: access))
        }
    }

    /// To a file and the log beside it, whether they belong together or not.
    init(looking path: String) throws(StoreError) {
        leftOver = Connection.indexToCome(path)
        engine = .file(try Connection.open(path: path, for: .inspecting))
    }

    private static func openOwn(path: String, for access: StoreAccess) throws(StoreError) -> OpaquePointer {
        if access != .reading { try FileRun.check(path) }
        return try open(path: path, for: access)
    }

    /// The index that an opening of the file makes.
    private static func indexToCome(_ path: String) -> String? {
        Glibc.access(path + "-shm", F_OK) == 0 ? nil : path + "-shm"
    }

    /// To what the file holds without its log.
    init(unchanging path: String) throws(StoreError) {
        leftOver = nil
        engine = .file(try Connection.open(path: path, for: .inspecting, isWhole: true))
    }

    private static func open(
        path: String, for purpose: StoreAccess, isWhole: Bool? = nil
    ) throws(StoreError) -> OpaquePointer {
        _ = Connection.countsNoMemory
        var handle: OpaquePointer?
        // The store's thread is the only one to use it: SQLite needs no locks of its own.
        let access =
            [.reading, .inspecting].contains(purpose)
            ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        // With an empty log all is in the file, and SQLite need not make the other two anew.
        let isWhole = isWhole ?? (purpose == .inspecting && StoreFile.logBytes(beside: path) == 0)
        let code = sqlite3_open_v2(
            isWhole ? immutable(path) : path, &handle, isWhole ? flags | SQLITE_OPEN_URI : flags, nil)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)  // SQLite gives a handle even when it fails
            throw StoreError(code: code, operation: .open, message: message)
        }
        sqlite3_busy_timeout(handle, Connection.patience)
        if purpose == .inspecting { _ = onionbell_sqlite3_keep_log(handle) }
        return handle
    }

    /// The address of a file that nobody changes, in the form that says so to SQLite.
    private static func immutable(_ path: String) -> String {
        var escaped = ""
        for byte in path.utf8 {
            escaped +=
                byte == UInt8(ascii: "/") ? "/" : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "file:\(escaped)?immutable=1"
    }

    /// Milliseconds to wait for another process that has the file.
    private static let patience: Int32 = 5000

    deinit {
        switch engine {
        case .file(let handle):
            sqlite3_close_v2(handle)
            if let leftOver { unlink(leftOver) }
        case .database(let database): database.close()
        }
    }

    /// The database, for what only one has or what differs there; `nil`: it is a file.
    var database: Database? {
        if case .database(let database) = engine { database } else { nil }
    }

    var dialect: Dialect { database == nil ? .sqlite : .postgreSQL }

    /// Runs statements that bring no rows.
    func execute(_ sql: String) throws(StoreError) {
        switch engine {
        case .file(let handle):
            let code = sqlite3_exec(handle, sql, nil, nil, nil)
            guard code == SQLITE_OK else {
                throw StoreError(
                    code: code, operation: .step, message: String(cString: sqlite3_errmsg(handle)))
            }
        case .database(let database): try database.execute(sql)
        }
    }

    // MARK: Transactions

    /// Makes all that `body` changes, or nothing.
    func transaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try begin()
        do throws(StoreError) {
            let value = try body()
            try commit()
            return value
        } catch {
            rollback()
            throw error
        }
    }

    func begin() throws(StoreError) {
        switch engine {
        case .file: try execute("BEGIN IMMEDIATE")
        case .database(let database): try database.begin()
        }
    }

    func commit() throws(StoreError) {
        switch engine {
        case .file: try execute("COMMIT")
        case .database(let database): try database.commit()
        }
    }

    func rollback() {
        switch engine {
        // Some errors have rolled back by themselves; then there is nothing left to roll back.
        case .file(let handle): if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
        case .database(let database): database.rollback()
        }
    }

    var isInTransaction: Bool {
        switch engine {
        case .file(let handle): sqlite3_get_autocommit(handle) == 0
        case .database(let database): database.isInTransaction
        }
    }

    /// Throws the first failure of what was changed so far: SQLite tells at once, PostgreSQL when it is asked.
    func settle() throws(StoreError) {
        if case .database(let database) = engine { try database.settle() }
    }

    /// Empties the write-ahead log: waits for nobody.
    ///
    /// - Throws: Somebody reads it just now, or the disk doesn't take it. All is still in the file and its log.
    func emptyLog() throws(StoreError) {
        guard case .file(let handle) = engine else { return }
        sqlite3_busy_timeout(handle, 0)
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        sqlite3_busy_timeout(handle, Connection.patience)
        guard code == SQLITE_OK else {
            throw StoreError(code: code, operation: .step, message: String(cString: sqlite3_errmsg(handle)))
        }
    }

    /// Its end changes no file.
    func keepLog() { if case .file(let handle) = engine { _ = onionbell_sqlite3_keep_log(handle) } }

    /// The first column of the first row.
    func firstText(_ sql: String) throws(StoreError) -> String? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? statement.text(0) : nil
    }

    func firstInteger(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try Statement(sql, on: self)
        return try statement.step() ? statement.integer(0) : nil
    }
}
