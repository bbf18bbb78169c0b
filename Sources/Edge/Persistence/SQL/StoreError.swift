import CSQLite
import Encodings
import PostgreSQL

/// A call into SQLite or PostgreSQL that failed, with its own words. They name tables and files, never a row's content.
package struct StoreError: Error, Equatable, CustomStringConvertible {
    package enum Operation: String, Sendable {
        case open, prepare, bind, step
    }

    /// The extended result code.
    package let code: Int32
    package let operation: Operation
    package let message: String
    /// PostgreSQL's; `nil`: it is SQLite's failure.
    private var remote: PostgreSQLError?
    /// See ``Database/tellOfSetBack()``.
    private(set) var isSetBack = false

    package init(code: Int32, operation: Operation, message: String) {
        self.code = code
        self.operation = operation
        self.message = message
    }

    init(_ error: PostgreSQLError, _ operation: Operation) {
        self.init(code: SQLITE_ERROR, operation: operation, message: error.message)
        remote = error
    }

    init(setBack reason: String) {
        self.init(PostgreSQLError(message: reason), .step)
        isSetBack = true
    }

    package var description: String {
        if let remote { return "outbox: \(remote)\(DatabaseAdvice.sentence(for: remote))" }
        return isOurs
            ? "outbox: \(message)" : "outbox: \(operation.rawValue): \(message) (SQLite code \(code))"
    }

    /// Whether the connection was lost, so that what was asked may have been done or not.
    var isConnectionLost: Bool { remote?.isConnectionLost ?? false }

    /// Another node was in the way for a moment: once more it may succeed. Deadlock, serialization, a number or an identity
    /// that both have written, and a lock that was waited for.
    var isCollision: Bool { ["40P01", "40001", "23505", "55P03"].contains(remote?.state) }

    /// Another node has the store.
    var isTaken: Bool { remote == DatabaseSchema.ousted }

    /// SQLite took the file, and the node does not: the sentence is not SQLite's.
    private var isOurs: Bool { operation == .open && code == SQLITE_ERROR && remote == nil }

    private var primaryCode: Int32 { code & 0xff }

    /// No room on the disk, or the disk doesn't take what it is given.
    var isDiskFull: Bool {
        primaryCode == SQLITE_FULL || code == onionbellIOErrorWrite || remote?.state == "53100"
    }

    /// With what to do when the file is damaged, and which file it is.
    package func explained(path: String) -> StoreError {
        guard isCorrupt else {
            if isDiskFull, remote == nil {
                return StoreError(
                    code: SQLITE_ERROR, operation: .open,
                    message: "\(path): the disk is full or takes nothing: make room on it, then try again")
            }
            guard isOurs else { return self }
            return StoreError(code: code, operation: operation, message: "\(path): \(message)")
        }
        return StoreError(
            code: code, operation: operation,
            message: "\(path) is damaged (\(message)). \(StoreError.advice(path: path))")
    }

    /// Returns the advice about a damaged file.
    package static func advice(path: String) -> String {
        """
        If it is a copy that was put back, put it back once more, and delete \(path)-wal and \(path)-shm before the first \
        command: they belong to the file that was there before. Else move all three away to start with an empty outbox, or \
        save what is readable first: sqlite3 \(path) .recover
        """
    }

    /// Returns the words about a log that was left beside the file of a node that is stopped.
    package static func leftOver(path: String) -> String {
        """
        read with \(path)-wal, which a node leaves that is killed. If the file is a copy that was put back, delete \(path)-wal \
        and \(path)-shm: they belong to the file that was there before
        """
    }

    static let noRow = StoreError(code: generic, operation: .step, message: "no row came back")

    /// For faults that SQLite doesn't know.
    static var generic: Int32 { SQLITE_ERROR }

    var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }
}

/// `SQLITE_IOERR_WRITE`, a macro with operators that Swift doesn't import.
private let onionbellIOErrorWrite = SQLITE_IOERR | (3 << 8)
