import CSQLite
import Crypto
import Encodings
import Glibc
import Reactor

/// An open file of SQLite's, or what it holds beside its log.
final class SQLiteConnection: EngineConnection {
    // Owned, closed in deinit. SQLite lets go of it when the last statement is finalized.
    let handle: OpaquePointer
    private let path: String
    /// An index that was not there before, of a file that is only looked at.
    private let leftOver: String?
    /// Begin and end of each commit are run again and again.
    private var beginning: SQLiteStatement?
    private var ending: SQLiteStatement?
    private var proof: SQLiteStatement?
    /// Whether the running transaction need not be on the disk when it is committed.
    private var isUnawaited = false
    /// Whether the log ends with commits that were not brought to the disk.
    private var hasUnsynced = false
    /// Whether the disk has failed to take them: it forgets what it could not write (fsync(2), Errors), and what came behind
    /// would be cut off. So all is moved out of the log before anything more is committed.
    private var hasHole = false
    /// SQLite's own number of frames in the log after which they are moved into the file.
    private static let checkpointFrames: Int32 = 1000
    private var run: StoreFile?
    /// The name of a copy once it is whole.
    var whole: String?

    /// Once for the process. Where somebody has opened a database before, it changes nothing.
    private static let countsNoMemory = onionbell_sqlite3_count_no_memory()

    init(path: String, for access: StoreAccess) throws(StoreError) {
        self.path = path
        leftOver = access == .inspecting ? SQLiteConnection.indexToCome(path) : nil
        try SQLiteConnection.refuseOtherKinds(path)
        if access != .reading { try FileRun.check(path) }
        handle = try SQLiteConnection.open(path: path, for: access)
    }

    /// Refuses what is no file: who opens a pipe waits for ever, and of a directory SQLite says little.
    private static func refuseOtherKinds(_ path: String) throws(StoreError) {
        for suffix in ["", "-wal", "-shm"] {
            var status = stat()
            guard lstat(path + suffix, &status) == 0 else { continue }
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            if isLink, stat(path + suffix, &status) != 0 {
                throw StoreError(refused: "\(path)\(suffix) is a link to nothing: let it lead to a file")
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw StoreError(
                    refused: "\(path)\(suffix) is no regular file: move it to another folder")
            }
        }
    }

    /// Connects to a file and the log beside it, whether they belong together or not.
    init(looking path: String) throws(StoreError) {
        self.path = path
        leftOver = SQLiteConnection.indexToCome(path)
        handle = try SQLiteConnection.open(path: path, for: .inspecting)
    }

    /// Connects to what the file holds without its log.
    init(unchanging path: String) throws(StoreError) {
        self.path = path
        leftOver = nil
        handle = try SQLiteConnection.open(path: path, for: .inspecting, isWhole: true)
    }

    /// Returns the path of the index that an opening of the file makes; `nil`: there is one.
    private static func indexToCome(_ path: String) -> String? {
        Glibc.access(path + "-shm", F_OK) == 0 ? nil : path + "-shm"
    }

    private static func open(
        path: String, for purpose: StoreAccess, isWhole: Bool? = nil
    ) throws(StoreError) -> OpaquePointer {
        _ = SQLiteConnection.countsNoMemory
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
        sqlite3_busy_timeout(handle, SQLiteConnection.patience)
        if purpose == .inspecting { _ = onionbell_sqlite3_keep_log(handle) }
        return handle
    }

    /// Returns the address of a file that nobody changes, in the form that says so to SQLite.
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
        (beginning, ending, proof) = (nil, nil, nil)
        sqlite3_close_v2(handle)
        if let leftOver { unlink(leftOver) }
    }

    // MARK: Statements

    var dialect: any Dialect { SQLiteDialect() }

    /// The file is its user's alone.
    var seal: AES256SIV? { nil }

    func statement(_ sql: String, room: Int) throws(StoreError) -> any EngineStatement {
        try SQLiteStatement(sql, on: self, room: room)
    }

    func execute(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, .step) }
    }

    func failure(_ code: Int32, _ operation: StoreError.Operation) -> StoreError {
        StoreError(code: code, operation: operation, message: String(cString: sqlite3_errmsg(handle)))
    }

    // MARK: Transactions

    func begin() throws(StoreError) {
        if hasHole {
            try sweep()
            (hasHole, hasUnsynced) = (false, false)
        }
        try run(&beginning, "BEGIN IMMEDIATE")
    }

    /// Begins a transaction that is in the log when it is committed, but not on the disk: the next one brings both there.
    func beginUnawaited() throws(StoreError) {
        try execute("PRAGMA synchronous = NORMAL")
        // A checkpoint would bring it to the disk and tell nobody when that fails.
        sqlite3_wal_autocheckpoint(handle, 0)
        isUnawaited = true
        do throws(StoreError) {
            try begin()
        } catch {
            endUnawaited()
            throw error
        }
    }

    func commit() throws(StoreError) {
        do throws(StoreError) {
            try run(&ending, "COMMIT")
        } catch {
            hasHole = hasHole || hasUnsynced && sqlite3_extended_errcode(handle) & 0xFF == SQLITE_IOERR
            throw error
        }
        hasUnsynced = isUnawaited
        endUnawaited()
    }

    /// Brings to the disk all that is written from now on. Not within a transaction, where SQLite refuses it.
    private func endUnawaited() {
        guard isUnawaited else { return }
        isUnawaited = false
        sqlite3_wal_autocheckpoint(handle, SQLiteConnection.checkpointFrames)
        // It fails only without memory; the first commit of a start asks whether it holds.
        do { try execute("PRAGMA synchronous = FULL") } catch { preconditionFailure("\(error)") }
    }

    /// Runs a statement that stays prepared.
    private func run(_ statement: inout SQLiteStatement?, _ sql: String) throws(StoreError) {
        if let statement { return try statement.run() }
        let prepared = try SQLiteStatement(sql, on: self)
        statement = prepared
        try prepared.run()
    }

    /// Rolls back the transaction. Some errors have rolled back by themselves; then there is nothing left to
    /// roll back.
    func rollback() {
        if isInTransaction { try? execute("ROLLBACK") }
        if !isInTransaction { endUnawaited() }
    }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Writes the format that is there already, so that the page that it stands on is written anew.
    func prove(wasFull: Bool) throws(StoreError) {
        try run(&proof, "PRAGMA user_version = \(Schema.version)")
    }

    // MARK: Tables

    func prepare() throws(StoreError) { try SQLiteSchema.prepare(self) }

    func refuseOtherFormat() throws(StoreError) { try SQLiteSchema.refuseOther(self) }

    func promise() throws(StoreError) { try SQLiteSchema.promise(self) }

    func faults() throws(StoreError) -> [String] {
        let check = try SQLiteStatement("PRAGMA integrity_check(90)", on: self)
        var faults: [String] = []
        while try check.step() {
            if check.text(0) != "ok" { faults.append(check.text(0)) }
        }
        return faults
    }

    /// Empties the write-ahead log, in which deleted rows live on: waits for nobody.
    ///
    /// - Throws: Somebody reads it just now, or the disk doesn't take it. All is still in the file and its log.
    func sweep() throws(StoreError) {
        sqlite3_busy_timeout(handle, 0)
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        sqlite3_busy_timeout(handle, SQLiteConnection.patience)
        guard code == SQLITE_OK else { throw failure(code, .step) }
    }

    /// Forgets the pages that were read: the next ones come from the files.
    func forgetPages() { try? execute("PRAGMA shrink_memory") }

    /// Keeps the log: the connection's end changes no file.
    func keepLog() { _ = onionbell_sqlite3_keep_log(handle) }

    func endCopy() throws(StoreError) {
        guard let whole else { return }
        // What were still in it would be lost with it.
        try sweep()
        guard chmod(path, 0o600) == 0, rename(path, whole) == 0 else {
            throw StoreError(code: SQLITE_CANTOPEN, operation: .open, message: "\(path) can't be renamed")
        }
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    }

    // MARK: A node's own connection

    func beginRun(isAnew: Bool) throws(StoreError) {
        guard chmod(path, 0o600) == 0 else {
            let error = SystemError("set the mode of \(path)")
            throw StoreError(code: SQLITE_CANTOPEN, operation: .open, message: "\(error)")
        }
        if !isAnew { FileRun.begin(path, self) }
        let run = try StoreFile(path: path, self)
        _ = run.standing()
        self.run = run
    }

    func look() -> StoreStanding { run?.look() ?? .inPlace }

    // MARK: One value

    func firstText(_ sql: String) throws(StoreError) -> String? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.step() ? statement.text(0) : nil
    }

    func firstInteger(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try SQLiteStatement(sql, on: self)
        return try statement.step() ? statement.integer(0) : nil
    }
}
