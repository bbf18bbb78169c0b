import Glibc

/// Private files that come to their places together: all of them, or none.
///
///     put, remove     writes new files beside their places, and gives a second name to those that are there
///     exchange        changes names, and nothing else
///     keep            forgets the files of before
///
/// All that needs room on the disk comes first. Whoever gives up before ``keep()``, by an error too, has the files of before.
/// Where the machine stops in between, each place has its old file or its new one, whole.
package struct FileExchange: ~Copyable {
    private struct File {
        let path: String
        /// The new file until it has its place; `nil`: the file of before goes.
        var unfinished: String?
        /// The second name of the file of before; `nil`: there was none.
        var former: String?
        /// The name under which the file of before is kept for good.
        var aside: String?
        var isExchanged = false
    }

    private var files: [File] = []
    private var directories: [String] = []

    package init() {}

    deinit {
        for file in files.reversed() {
            if let unfinished = file.unfinished { unlink(unfinished) }
            if let former = file.former {
                if file.isExchanged { rename(former, file.path) }
                // Two names of one file stay two when one is renamed to the other.
                unlink(former)
            } else if file.isExchanged {
                unlink(file.path)
            }
            if let aside = file.aside { unlink(aside) }
        }
        for directory in directories.reversed() { rmdir(directory) }
        for directory in Set(files.map { PrivateFile.parent(of: $0.path) }) {
            try? PrivateFile.syncDirectory(directory)
        }
    }

    /// Makes a directory for files, mode 0700, if it is not there; its parent must be.
    package mutating func makeDirectory(_ path: String) throws(SystemError) {
        guard access(path, F_OK) != 0 else { return }
        try PrivateFile.makeDirectory(path)
        directories.append(path)
    }

    /// Prepares a new file.
    ///
    /// - Parameters:
    ///   - aside: The name under which the file that is there is kept for good; `nil`: it goes.
    ///   - group: Who may read the file, which is root's then; `nil`: only this user.
    package mutating func put(
        _ bytes: [UInt8], at path: String, keeping aside: String? = nil, mode: mode_t = 0o600,
        group: gid_t? = nil
    ) throws(SystemError) {
        var file = File(path: path)
        defer { files.append(file) }
        file.unfinished = try PrivateFile.writeUnfinished(bytes, beside: path)
        if let unfinished = file.unfinished {
            guard chmod(unfinished, mode) == 0 else { throw SystemError("write \(path)") }
            if let group { try PrivateFile.giveToRead(unfinished, group: group) }
        }
        try FileExchange.secondName(for: &file, aside)
    }

    /// Prepares the end of a file, which may be gone already.
    package mutating func remove(_ path: String) throws(SystemError) {
        var file = File(path: path)
        defer { files.append(file) }
        try FileExchange.secondName(for: &file, nil)
    }

    private static func secondName(for file: inout File, _ aside: String?) throws(SystemError) {
        let former = "\(file.path).\(getpid()).old"
        unlink(former)
        guard link(file.path, former) == 0 else {
            guard errno == ENOENT else { throw SystemError("keep \(file.path)") }
            return
        }
        file.former = former
        guard let aside else { return }
        // The name tells the contents: what has it already is the same file.
        if link(file.path, aside) == 0 {
            file.aside = aside
        } else if errno != EEXIST {
            throw SystemError("keep \(file.path) as \(aside)")
        }
    }

    /// Gives all files their places.
    package mutating func exchange() throws(SystemError) {
        for index in files.indices {
            let path = files[index].path
            if let unfinished = files[index].unfinished {
                guard rename(unfinished, path) == 0 else { throw SystemError("write \(path)") }
                files[index].unfinished = nil
            } else if files[index].former != nil {
                guard unlink(path) == 0 else { throw SystemError("remove \(path)") }
            }
            files[index].isExchanged = true
        }
        for directory in Set(files.map { PrivateFile.parent(of: $0.path) }) {
            try PrivateFile.syncDirectory(directory)
        }
    }

    /// Forgets the files of before.
    package mutating func keep() {
        for file in files { if let former = file.former { unlink(former) } }
        files = []
        directories = []
    }
}
