import Glibc

/// A directory that another program of this user writes to as well. Its files are reached through the open directory, and
/// links are never followed: whatever that program makes of the directory, no file outside it is read, written or removed.
package struct PrivateDirectory: ~Copyable {
    private let path: String
    private let directory: Descriptor

    /// Makes the directory, mode 0700, if it is not there; its parent must be.
    package init(_ path: String) throws(SystemError) {
        self.path = path
        directory = try PrivateDirectory.enter(path, named: path, in: AT_FDCWD)
    }

    private init(_ name: String, in parent: borrowing PrivateDirectory) throws(SystemError) {
        path = "\(parent.path)/\(name)"
        directory = try PrivateDirectory.enter(name, named: path, in: parent.directory.number)
    }

    private static func enter(
        _ name: String, named path: String, in parent: CInt
    ) throws(SystemError) -> Descriptor {
        guard mkdirat(parent, name, 0o700) == 0 || errno == EEXIST else {
            throw SystemError("make directory \(path)")
        }
        let number = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw SystemError("open directory \(path)") }
        let directory = Descriptor(owning: number)
        guard fchmod(number, 0o700) == 0 else { throw SystemError("make directory \(path) private") }
        return directory
    }

    /// Makes or opens a directory inside this one.
    package func directory(_ name: String) throws(SystemError) -> PrivateDirectory {
        try PrivateDirectory(name, in: self)
    }

    /// Writes a file whole, mode 0600, or not at all.
    package func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
        let operation = "write \(path)/\(name)"
        let unfinished = "\(name).new"
        try remove(unfinished)
        let file = openat(
            directory.number, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemError(operation) }
        let isWritten = PrivateFile.writeAll(bytes, to: file)
        let code = errno
        guard Glibc.close(file) == 0, isWritten else { throw SystemError(operation, code: code) }
        guard renameat(directory.number, unfinished, directory.number, name) == 0 else {
            throw SystemError(operation)
        }
    }

    /// Reads a file of at most `limit` bytes; a longer one is an error (`EFBIG`).
    package func read(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
        // Nobody may have us wait for the other end of a pipe.
        let file = openat(directory.number, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw SystemError("open \(path)/\(name)") }
        defer { Glibc.close(file) }
        return try PrivateFile.readAll(from: file, named: "\(path)/\(name)", limit: limit)
    }

    /// Removes a file; does nothing if it is not there.
    package func remove(_ name: String) throws(SystemError) {
        guard unlinkat(directory.number, name, 0) == 0 || errno == ENOENT else {
            throw SystemError("remove \(path)/\(name)")
        }
    }

    /// Returns the names of what is in the directory, in no order.
    package func names() throws(SystemError) -> [String] {
        let number = openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0, let stream = fdopendir(number) else { throw SystemError("list \(path)") }
        return PrivateFile.names(closing: stream)
    }
}
