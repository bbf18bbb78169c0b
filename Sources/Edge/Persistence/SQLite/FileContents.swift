import CSQLite
import Glibc

/// Tells whether somebody has written into the files that SQLite has open who is not SQLite: a copy over the file, an
/// editor, a redirection.
///
/// In WAL mode the database file changes only while frames of its log are moved into it. The log's index says when that
/// begins and that it has ended, whoever does it, so what changes between two looks at the same index is nobody's of SQLite.
/// A time or a size that has changed is only a doubt: file systems of a network change times by themselves. Then the contents
/// are compared.
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

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            size = Int(status.st_size)
            modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        }
    }

    /// The file as it was when its contents were known to be SQLite's.
    private struct Known {
        let log: Log
        var extent: Extent
        /// The hash of the contents, of this process; `nil`: there are more than ``mostHashed``.
        let hash: Int?
    }

    private let path: String
    /// The state at the last look at which nothing was on its way into the file.
    private var last: Known?
    /// The extent of a file whose contents were found to be another's.
    private var foreign: Extent?
    private var isLogWrittenOver = false

    /// Bytes of the largest file whose hash is kept. Where more stand in it, SQLite's own check has to say whether the
    /// contents are sound, as at a start. A hash is made after each move of the log, on the store's own thread: it takes
    /// 30 ms for the largest, after some thousands of notifications.
    private static let mostHashed = 32 << 20
    /// Bytes that are read and hashed at once.
    private static let slice = 1 << 16

    init(path: String) { self.path = path }

    var isWrittenOver: Bool { isLogWrittenOver || foreign != nil }

    /// Looks whether somebody has written into the file, by three system calls at most if nothing has changed. A later look
    /// finds what this one can't see.
    mutating func look(_ connection: SQLiteConnection) {
        guard !isLogWrittenOver, let before = connection.log(), before.moved == before.moving else { return }
        if before.frames > 0 && before.log_salts != before.salts || before.log_size < before.log_size_at_least
        {
            isLogWrittenOver = true
            return
        }
        guard let extent = Extent(path) else { return }
        let log = Log(salts: before.salts, moved: before.moved)
        let isKnown = last?.log == log
        // What was compared already, and the file of another's for as long as it stands there.
        if extent == foreign || isKnown && extent == last?.extent || !isKnown && foreign != nil { return }
        // Of two writings within one step of the clock that files are dated by, the time is the same.
        let hash = hash(of: extent, connection)
        // Nobody has begun between, or written.
        guard let after = connection.log(isIndex: true), after.salts == log.salts, after.moving == log.moved,
            Extent(path) == extent
        else { return }
        guard isKnown, let last else {
            last = Known(log: log, extent: extent, hash: hash)
            return
        }
        guard isSame(hash, as: last, connection) else {
            foreign = extent
            return
        }
        // What was read of the file meanwhile may not be in it any more.
        connection.forgetPages()
        foreign = nil
        self.last?.extent = extent
    }

    /// Whether the file has the contents that are known. For a file too large for a hash, SQLite's check for damage
    /// decides, unless the file was once found to be another's.
    private func isSame(_ hash: Int?, as last: Known, _ connection: SQLiteConnection) -> Bool {
        if let known = last.hash { return hash == known }
        return foreign == nil && FileRun.isSound(path, connection)
    }

    /// Returns the hash of the file. Swift's own finds what somebody has written by mistake, and needs none of the code of a
    /// digest at rest.
    private func hash(of extent: Extent, _ connection: SQLiteConnection) -> Int? {
        guard extent.size <= FileContents.mostHashed else { return nil }
        var hasher = Hasher()
        for start in stride(from: 0, to: extent.size, by: FileContents.slice) {
            let end = min(start + FileContents.slice, extent.size)
            guard let bytes = connection.bytes(start..<end) else { return nil }
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }
}

extension SQLiteConnection {
    /// Returns the state of the write-ahead log, or of its index; `nil`: they are being changed just now.
    fileprivate func log(isIndex: Bool = false) -> onionbell_log? {
        var log = onionbell_log()
        return onionbell_sqlite3_log(handle, isIndex ? 1 : 0, &log) == SQLITE_OK ? log : nil
    }

    /// Returns bytes of the file, or of its log, as SQLite has it open; `nil`: they can't be read.
    func bytes(_ range: Range<Int>, ofLog isLog: Bool = false) -> [UInt8]? {
        var isRead = false
        let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { room, count in
            guard let start = room.baseAddress else { return }
            isRead =
                onionbell_sqlite3_read(
                    handle, isLog ? 1 : 0, start, CInt(clamping: range.count), Int64(range.lowerBound))
                == SQLITE_OK
            count = isRead ? range.count : 0
        }
        return isRead || range.isEmpty ? bytes : nil
    }

    /// Whether the file at a path has the same bytes as the one that SQLite has open, or as its log. Only for another file
    /// than that: to close it would end SQLite's locks.
    func hasSameBytes(as path: String, isLog: Bool = false) -> Bool {
        let size = Int(onionbell_sqlite3_size(handle, isLog ? 1 : 0))
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, Int(status.st_size) == size else { return false }
        var (place, part) = (0, [UInt8](repeating: 0, count: 1 << 16))
        while place < size {
            let count = pread(descriptor, &part, min(part.count, size - place), place)
            guard count > 0, bytes(place..<place + count, ofLog: isLog) == Array(part[..<count]) else {
                return false
            }
            place += count
        }
        return true
    }
}
