import Encodings
import Glibc
import Reactor

/// Tells a write-ahead log that belongs to its file from one that an earlier or later file has left there.
///
/// A killed node leaves its log. Who then puts a copy of the file in its place, and not of the log, would have the pages of
/// two files mixed. So each run of a node gives its file a number of its own (SQLite's `application_id`, which nothing else
/// uses here), moves it into the file while the log is empty, and writes it down beside them, in `PATH-run`: a log that is
/// not empty belongs to the run that is written down.
enum FileRun {
    private static func path(of file: String) -> String { file + "-run" }

    /// Checks that the log beside a file belongs to it. Called before anybody opens the file, but to read
    /// beside the node that runs.
    ///
    /// A copy that was made in the same run has its number: whether it and the log fit, SQLite's own check says. That takes
    /// seconds with a million rows, and is made only where the file was changed after its log, as by whoever puts it there;
    /// after a kill it seldom is.
    ///
    /// - Throws: Its log is another file's.
    static func check(_ file: String) throws(StoreError) {
        guard StoreFile.logBytes(beside: file) > 0 else { return }
        let known = written(beside: file)
        // Whoever opens it says what can't be read.
        let isOfAnotherRun =
            if !known.isEmpty, let number = try? number(inside: file) { !known.contains(number) } else {
                false
            }
        guard isOfAnotherRun || wasPutThereLater(file) && !fits(file) else { return }
        throw StoreError(refused: StoreAdvice.logOfAnother(file, run: path(of: file)))
    }

    /// Whether a file that is in use has the number of this run, and SQLite finds it sound: what a start would go by.
    static func isSound(_ file: String, _ connection: SQLiteConnection) -> Bool {
        // Where SQLite keeps `application_id` (https://www.sqlite.org/fileformat.html, section 1.3).
        guard let bytes = connection.bytes(68..<72) else { return false }
        let (known, number) = (written(beside: file), bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        guard known.isEmpty || known.contains(number) else { return false }
        connection.forgetPages()
        return (try? connection.firstText("PRAGMA quick_check(1)")) == "ok"
    }

    private static func wasPutThereLater(_ file: String) -> Bool {
        var (own, log) = (stat(), stat())
        guard stat(file, &own) == 0, stat(file + "-wal", &log) == 0 else { return false }
        return (own.st_ctim.tv_sec, own.st_ctim.tv_nsec) > (log.st_ctim.tv_sec, log.st_ctim.tv_nsec)
    }

    private static func fits(_ file: String) -> Bool {
        guard let connection = try? SQLiteConnection(looking: file) else { return false }
        let verdict = try? connection.firstText("PRAGMA quick_check(1)")
        return verdict == "ok"
    }

    /// Begins a run of a node that has just opened the file, alone but for commands.
    ///
    /// If the disk takes nothing, the earlier number stays, and is right.
    static func begin(_ file: String, _ connection: SQLiteConnection) {
        do throws(StoreError) {
            let earlier = UInt32(
                truncatingIfNeeded: try connection.firstInteger("PRAGMA application_id") ?? 0)
            var number = earlier
            while number == earlier || number == 0 { number = .random(in: 1 ... .max) }
            // Killed anywhere here, the log belongs to one of the two.
            try write([earlier, number], beside: file)
            try StoreFile.settle(path(of: file))
            try StoreFile.settle(directoryOf: file)
            try connection.execute("PRAGMA application_id = \(Int32(bitPattern: number))")
            // While somebody reads, the log is not emptied, and both stay written down.
            try connection.sweep()
            try write([number], beside: file)
        } catch {}
    }

    /// Returns the number in the file without its log.
    private static func number(inside file: String) throws(StoreError) -> UInt32? {
        let connection = try SQLiteConnection(unchanging: file)
        return try connection.firstInteger("PRAGMA application_id").map(UInt32.init(truncatingIfNeeded:))
    }

    // MARK: The numbers written down

    private static let mostBytes = 64

    private static func written(beside file: String) -> [UInt32] {
        let descriptor = open(path(of: file), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: mostBytes)
        let count = read(descriptor, &bytes, bytes.count)
        return bytes.prefix(max(0, count))
            .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            .compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
    }

    private static func write(_ numbers: [UInt32], beside file: String) throws(StoreError) {
        let unfinished = path(of: file) + ".new"
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFile.failure("make \(unfinished)") }
        let bytes = Array((numbers.map { "\($0)" }.joined(separator: " ") + "\n").utf8)
        let count = Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
        guard count == bytes.count else { throw StoreFile.failure("write \(unfinished)") }
        guard rename(unfinished, path(of: file)) == 0 else { throw StoreFile.failure("rename \(unfinished)") }
    }
}
