import CSQLite
import Crypto
import Persistence

/// A connection to a store in memory.
final class MemoryConnection: EngineConnection, @unchecked Sendable {
    // Owned, closed in deinit. One thread uses it; that of an engine is only held.
    let handle: OpaquePointer

    init(_ name: String) throws(StoreError) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(name, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)  // SQLite gives a handle even when it fails
            throw StoreError(.other, .open, "no memory")
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, 60_000)
    }

    deinit { sqlite3_close_v2(handle) }

    var dialect: any Dialect { MemoryDialect() }

    /// Nobody else reads this process' memory.
    var seal: AES256SIV? { nil }

    func statement(_ sql: String, room: Int) throws(StoreError) -> any EngineStatement {
        try MemoryStatement(sql, on: self)
    }

    func execute(_ sql: String) throws(StoreError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(.step) }
    }

    func failure(_ operation: StoreError.Operation) -> StoreError {
        StoreError(.other, operation, String(cString: sqlite3_errmsg(handle)))
    }

    // MARK: Transactions

    func begin() throws(StoreError) { try execute("BEGIN IMMEDIATE") }

    func commit() throws(StoreError) { try execute("COMMIT") }

    func rollback() { if isInTransaction { try? execute("ROLLBACK") } }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Memory is never full.
    func prove(wasFull: Bool) {}

    // MARK: Tables

    func prepare() throws(StoreError) {
        guard try isEmpty() else { return try refuseOtherFormat() }
        try execute("BEGIN IMMEDIATE; \(MemoryTables.all) COMMIT")
    }

    func isEmpty() throws(StoreError) -> Bool {
        let found = try MemoryStatement("SELECT 1 FROM sqlite_schema WHERE name = 'format'", on: self)
        return try !found.step()
    }

    func refuseOtherFormat() throws(StoreError) {
        let version = try MemoryStatement("SELECT version FROM format", on: self)
        let found = try version.step() ? version.integer(0) : 0
        guard found == Schema.version else { throw Schema.otherVersion(found) }
    }
}
