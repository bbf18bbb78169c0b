import CSQLite
import Glibc

/// Tells whether somebody has written into the files that SQLite has open who is not SQLite: a copy over the file, an
/// editor, a redirection.
///
/// In WAL mode the database file changes only while frames of its log are moved into it. The log's index says when that
/// begins and that it has ended, whoever does it, so what changes between two looks at the same index is nobody's of SQLite.
struct FileContents {
    /// The state of the write-ahead log, as its index has it.
    private struct Log: Equatable {
        let salts: UInt64
        let moved: UInt32
    }

    private struct Extent: Equatable {
        let size: Int
        /// Nanoseconds since 1970.
        let modified: Int64
    }

    private let path: String
    /// The state at the last look at which nothing was on its way into the file.
    private var last: (log: Log, extent: Extent)?
    private(set) var isWrittenOver = false

    init(path: String) { self.path = path }

    /// Looks whether somebody has written into the file, by three system calls at most. A later look finds
    /// what this one can't see.
    mutating func look(_ connection: SQLiteConnection) {
        guard !isWrittenOver, let before = connection.log(), before.moved == before.moving else { return }
        if before.frames > 0 && before.log_salts != before.salts || before.log_size < before.log_size_at_least
        {
            isWrittenOver = true
            return
        }
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        let log = Log(salts: before.salts, moved: before.moved)
        let extent = Extent(
            size: Int(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
        // Nobody has begun between.
        guard let after = connection.log(isIndex: true), after.salts == log.salts, after.moving == log.moved
        else { return }
        if let last, last.log == log, last.extent != extent {
            isWrittenOver = true
        } else {
            last = (log, extent)
        }
    }
}

extension SQLiteConnection {
    /// Returns the state of the write-ahead log, or of its index; `nil`: they are being changed just now.
    fileprivate func log(isIndex: Bool = false) -> onionbell_log? {
        var log = onionbell_log()
        return onionbell_sqlite3_log(handle, isIndex ? 1 : 0, &log) == SQLITE_OK ? log : nil
    }
}
