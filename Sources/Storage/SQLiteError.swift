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

    package var description: String { "outbox: \(operation.rawValue): \(message) (SQLite code \(code))" }

    private var primaryCode: Int32 { code & 0xff }

    /// No room on the disk, or the disk doesn't take what it is given.
    var isDiskFull: Bool { primaryCode == SQLITE_FULL || code == onionbellIOErrorWrite }

    var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }
}

/// `SQLITE_IOERR_WRITE`, a macro with operators that Swift doesn't import.
private let onionbellIOErrorWrite = SQLITE_IOERR | (3 << 8)
