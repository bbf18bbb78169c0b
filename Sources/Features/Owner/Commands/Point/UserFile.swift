import Glibc
import Reactor

/// A text file of somebody else's program: it keeps its owner, group and mode when its text changes.
struct UserFile {
    let path: String
    /// The file's text; empty for a file that is not there yet.
    let text: String
    private let owner: stat

    private static let limit = 1 << 20

    /// Reads the file; a symbolic link is followed. The directory must be there.
    ///
    /// - Throws: `EFBIG` for a file over 1 MiB, `EILSEQ` for one that is not UTF-8.
    init(_ path: String) throws(SystemError) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        var found = stat()
        guard stat(directory, &found) == 0 else { throw SystemError("open \(directory)") }
        guard found.st_mode & S_IFMT == S_IFDIR else {
            throw SystemError("open \(directory)", code: ENOTDIR)
        }
        guard let resolved = realpath(path, nil) else {
            guard errno == ENOENT else { throw SystemError("open \(path)") }
            self.path = path
            text = ""
            found.st_mode = 0o600
            owner = found
            return
        }
        defer { free(resolved) }
        self.path = String(cString: resolved)
        guard stat(resolved, &found) == 0 else { throw SystemError("open \(path)") }
        owner = found
        let descriptor = PrivateFile.openRegular(self.path)
        guard descriptor >= 0 else { throw SystemError("open \(path)") }
        defer { close(descriptor) }
        guard found.st_mode & S_IFMT == S_IFREG, found.st_size <= UserFile.limit else {
            throw SystemError("read \(path)", code: EFBIG)
        }
        var bytes = [UInt8](repeating: 0, count: Int(found.st_size))
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw SystemError("read \(path)") }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw SystemError("read \(path)", code: EILSEQ)
        }
        self.text = text
    }

    /// Writes the file whole, or not at all.
    func write(_ text: String) throws(SystemError) {
        let unfinished = "\(path).\(getpid()).onionbell"
        unlink(unfinished)  // left by a process of the same number that was killed in between
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError("write \(unfinished)") }
        defer {
            close(descriptor)
            unlink(unfinished)
        }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw SystemError("write \(unfinished)") }
            bytes = bytes.dropFirst(max(count, 0))
        }
        guard fchown(descriptor, owner.st_uid, owner.st_gid) == 0,
            fchmod(descriptor, owner.st_mode & 0o7777) == 0,
            fsync(descriptor) == 0
        else { throw SystemError("write \(unfinished)") }
        guard rename(unfinished, path) == 0 else { throw SystemError("write \(path)") }
    }
}
