import CSQLite

/// A call into SQLite that failed, with SQLite's own words. They name tables and files, never a row's content.
package struct SQLiteError: Error, Equatable, CustomStringConvertible {
    package enum Operation: String, Sendable {
        case open, prepare, bind, step
    }

    /// The extended result code.
    package let code: Int32
    package let operation: Operation
    package let message: String

    package var description: String {
        isOurs ? "outbox: \(message)" : "outbox: \(operation.rawValue): \(message) (SQLite code \(code))"
    }

    /// SQLite took the file, and the node does not: the sentence is not SQLite's.
    private var isOurs: Bool { operation == .open && code == SQLITE_ERROR }

    private var primaryCode: Int32 { code & 0xff }

    /// No room on the disk, or the disk doesn't take what it is given.
    var isDiskFull: Bool { primaryCode == SQLITE_FULL || code == onionbellIOErrorWrite }

    /// With what to do when the file is damaged, and which file it is.
    package func explained(path: String) -> SQLiteError {
        guard isCorrupt else {
            guard isOurs else { return self }
            return SQLiteError(code: code, operation: operation, message: "\(path): \(message)")
        }
        return SQLiteError(
            code: code, operation: operation,
            message: "\(path) is damaged (\(message)). \(SQLiteError.advice(path: path))")
    }

    /// What to do with a damaged file.
    package static func advice(path: String) -> String {
        """
        Move it away together with its -wal file to start with an empty outbox, or save what is readable first: \
        sqlite3 \(path) .recover
        """
    }

    /// For faults that SQLite doesn't know.
    static var generic: Int32 { SQLITE_ERROR }

    var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }
}

/// `SQLITE_IOERR_WRITE`, a macro with operators that Swift doesn't import.
private let onionbellIOErrorWrite = SQLITE_IOERR | (3 << 8)
