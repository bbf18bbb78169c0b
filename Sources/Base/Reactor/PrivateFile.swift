import Glibc

/// Small files and directories that only this user may read.
package enum PrivateFile {
    /// Makes the directory, mode 0700, if it is not there; its parent must be.
    ///
    /// One that is there is made private: whoever could enter it before can't any more.
    package static func makeDirectory(_ path: String) throws(SystemError) {
        guard mkdir(path, 0o700) != 0 else { return }
        guard errno == EEXIST else { throw SystemError("make directory \(path)") }
        guard chmod(path, 0o700) == 0 else { throw SystemError("make directory \(path) private") }
    }

    /// Writes a file whole, mode 0600, or not at all; it is on the disk when this returns.
    ///
    /// - Throws: `EEXIST` when there is a file of this name and `replacing` is false.
    package static func write(_ text: String, to path: String, replacing: Bool) throws(SystemError) {
        try write(Array(text.utf8), to: path, replacing: replacing)
    }

    /// Writes bytes in the same way.
    package static func write(_ bytes: [UInt8], to path: String, replacing: Bool) throws(SystemError) {
        let unfinished = try writeUnfinished(bytes, beside: path)
        defer { unlink(unfinished) }
        let isNamed = replacing ? rename(unfinished, path) == 0 : link(unfinished, path) == 0
        guard isNamed else { throw SystemError("write \(path)") }
        do throws(SystemError) {
            try syncDirectory(parent(of: path))
        } catch {
            if !replacing { unlink(path) }
            throw error
        }
    }

    /// Writes a file whole, mode 0600, under a name beside its place, which is returned; it is on the disk then.
    static func writeUnfinished(_ bytes: [UInt8], beside path: String) throws(SystemError) -> String {
        let operation = "write \(path)"
        let unfinished = "\(path).\(getpid()).new"
        unlink(unfinished)  // left by a process of the same number that was killed in between
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(operation) }
        let isWritten = writeAll(bytes, to: descriptor) && fsync(descriptor) == 0
        let code = errno
        guard Glibc.close(descriptor) == 0, isWritten else {
            unlink(unfinished)
            throw SystemError(operation, code: code)
        }
        return unfinished
    }

    /// Removes a file for good: it does not come back when the machine stops.
    package static func remove(_ path: String) throws(SystemError) {
        guard unlink(path) == 0 else { throw SystemError("remove \(path)") }
        try syncDirectory(parent(of: path))
    }

    /// Writes a file off the loop, in place of one of its name.
    ///
    /// - Returns: Why it is not written; `nil`: it is on the disk.
    @FileThread
    package static func replace(_ path: String, with bytes: [UInt8]) -> SystemError? {
        do throws(SystemError) {
            try write(bytes, to: path, replacing: true)
            return nil
        } catch {
            return error
        }
    }

    /// Gives a file to root, for a group to read (mode 0640).
    package static func giveToRead(_ path: String, group: gid_t) throws(SystemError) {
        guard chown(path, 0, group) == 0, chmod(path, 0o640) == 0 else {
            throw SystemError("let the group of the node read \(path)")
        }
    }

    /// Reads a file of at most `limit` bytes; a longer one is an error (`EFBIG`), and so is anything but a regular file
    /// (`EINVAL`): a pipe or a device may keep its reader waiting for ever.
    package static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
        let descriptor = openRegular(path)
        guard descriptor >= 0 else {
            throw SystemError(errno == EINVAL ? "read \(path), which is no regular file" : "open \(path)")
        }
        defer { Glibc.close(descriptor) }
        return try readAll(from: descriptor, named: path, limit: limit)
    }

    /// Opens a regular file for reading, without waiting for anybody.
    ///
    /// - Returns: The descriptor, which is the caller's to close; -1 with `errno`, `EINVAL` for what is no regular file.
    package static func openRegular(_ path: String) -> CInt {
        var status = stat()
        // Before it is opened: that alone may do something to a device.
        guard stat(path, &status) == 0 else { return -1 }
        guard status.st_mode & S_IFMT == S_IFREG else {
            errno = status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            return -1
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return -1 }
        // Somebody may have put another one there meanwhile.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            errno = EINVAL
            return -1
        }
        return descriptor
    }

    static func readAll(
        from descriptor: CInt, named path: String, limit: Int
    ) throws(SystemError) -> [UInt8] {
        // As much as the file has now; a limit is up to a megabyte, and room that was touched once stays in memory.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError("read \(path)") }
        var bytes = [UInt8](repeating: 0, count: max(min(status.st_size, limit), 4095) + 1)
        var count = Glibc.read(descriptor, &bytes, bytes.count)
        if count == bytes.count, count <= limit {
            // It has grown meanwhile, or does not say how much it has.
            var rest = [UInt8](repeating: 0, count: limit + 1 - count)
            let more = Glibc.read(descriptor, &rest, rest.count)
            guard more >= 0 else { throw SystemError("read \(path)") }
            bytes += rest[..<more]
            count += more
        }
        guard count >= 0 else { throw SystemError("read \(path)") }
        guard count <= limit else {
            throw SystemError("read \(path), which has more than \(limit) bytes", code: EFBIG)
        }
        return Array(bytes[..<count])
    }

    /// Returns the names of what is in a directory, in no order.
    package static func names(in path: String) throws(SystemError) -> [String] {
        guard let directory = opendir(path) else { throw SystemError("open \(path)") }
        return names(closing: directory)
    }

    static func names(closing directory: OpaquePointer) -> [String] {
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func writeAll(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written)
            }
            if count < 0, errno != EINTR { return false }
            written += max(count, 0)
        }
        return true
    }

    static func syncDirectory(_ path: String) throws(SystemError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open \(path)") }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemError("sync \(path)") }
    }

    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
