import Encodings
import Glibc
import Reactor

/// Whether the files that SQLite has open are those at their path, which the next start will read.
///
/// A file that is deleted, moved or replaced while it is open goes on to work, and all that is written to it ends with the
/// process. Nothing of these files is opened here: to close one would end SQLite's locks.
final class StoreFile {
    enum Standing {
        case inPlace
        /// The file or its log is gone, and nothing stands there that holds anything else.
        case missing
        /// Another file stands at the path.
        case replaced
        /// Somebody has written into the files.
        case writtenOver
    }

    private struct Mark: Equatable {
        let device: UInt64
        let number: UInt64

        init(_ status: stat) { (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
    }

    let path: String
    private let directory: String
    private let marks: [Mark]
    private let home: Mark
    /// The time of the directory's last change when all files were last found in their places. `nil`: the change was so fresh
    /// then that another one could have followed unseen.
    private var quiet: Int64?
    private var contents: FileContents
    /// The connection that has the file.
    unowned let connection: SQLiteConnection
    /// Whether all that the file holds was written beside it, and nothing since.
    var isSaved = false
    /// Whether all that the file holds is at the path again, in another file.
    var isRestored = false

    private static let suffixes = ["", "-wal", "-shm"]
    /// Nanoseconds. No file system counts its times in longer steps.
    private static let step: Int64 = 3_000_000_000

    /// Takes a file that SQLite has opened, and read.
    init(path: String, _ connection: SQLiteConnection) throws(StoreError) {
        self.path = path
        self.connection = connection
        contents = FileContents(path: path)
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        directory = parts.isEmpty ? "." : parts == [""] ? "/" : parts.joined(separator: "/")
        var marks: [Mark] = []
        for suffix in StoreFile.suffixes {
            guard let status = StoreFile.status(path + suffix) else {
                throw StoreError(
                    refused: "\(path)\(suffix) is gone as soon as it was opened")
            }
            marks.append(Mark(status))
        }
        self.marks = marks
        guard let status = StoreFile.status(directory) else {
            throw StoreFile.failure("look at \(directory)")
        }
        home = Mark(status)
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// Asks the system a few times, as long as nothing has changed in the directory.
    func standing() -> Standing {
        contents.look(connection)
        let place = self.place
        return place == .inPlace && contents.isWrittenOver ? .writtenOver : place
    }

    private var place: Standing {
        guard let home = StoreFile.status(directory) else { return .missing }
        let changed = Int64(home.st_ctim.tv_sec) * 1_000_000_000 + Int64(home.st_ctim.tv_nsec)
        // A directory that was put in the place of ours may hold another's files.
        let isHome = Mark(home) == self.home
        if isHome, changed == quiet { return .inPlace }
        let now = EventLoop.machineMilliseconds * 1_000_000
        var isMissing = false
        for (suffix, mark) in zip(StoreFile.suffixes, marks) {
            guard let status = StoreFile.status(path + suffix) else {
                isMissing = true
                continue
            }
            guard Mark(status) != mark else { continue }
            // An empty file is what a command leaves that looked for what is gone; an index is made anew from its log.
            guard status.st_size == 0 || suffix == "-shm" || hasSameBytes(suffix) else { return .replaced }
            isMissing = true
        }
        quiet = isHome && !isMissing && now - changed > StoreFile.step ? changed : nil
        return isMissing ? .missing : .inPlace
    }

    /// Whether the file at the path is a copy of the file that SQLite has open. Writing over the copy loses nothing then.
    private func hasSameBytes(_ suffix: String) -> Bool {
        connection.hasSameBytes(as: path + suffix, isLog: suffix == "-wal")
    }

    /// Returns the bytes of the write-ahead log: more than 0 when its node was killed, or when it is another
    /// file's.
    static func logBytes(beside path: String) -> Int { Int(status(path + "-wal")?.st_size ?? 0) }

    // MARK: Written anew

    static func saved(_ path: String) -> String { path + ".saved" }

    /// Gives the path to what was saved: nothing else stands there that holds anything.
    static func restore(_ path: String) throws(StoreError) {
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        guard rename(saved(path), path) == 0 else { throw failure("rename \(saved(path))") }
        try settle(directoryOf: path)
    }

    /// Looks before a start for what an earlier run has saved. It is used where nothing else stands; nobody
    /// decides between two.
    static func lookForSaved(_ path: String) throws(StoreError) {
        unlink(path + ".saving")
        guard status(saved(path)) != nil else { return }
        guard let size = status(path)?.st_size, size > 0 else { return try restore(path) }
        throw StoreError(
            refused:
                "another file was put in its place while the node ran, and what the node held then is in "
                + "\(saved(path)). \(StoreAdvice.twoFiles(path, saved: saved(path)))")
    }

    static func failure(_ what: String) -> StoreError {
        StoreError(refused: "\(SystemError(what))")
    }

    /// Writes a directory to the disk, so that what was renamed in it stays so after a loss of power.
    static func settle(directoryOf path: String) throws(StoreError) {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try settle(directory.isEmpty ? "/" : directory)
    }

    /// Waits until the disk has a file or directory: none of a store that SQLite has open.
    static func settle(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync \(path)") }
    }
}
