import Glibc
import Node
import Reactor

/// The owner, group and mode of a file: who may do what with it.
struct FileFacts {
    let owner: uid_t
    private let group: gid_t
    private let mode: mode_t

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode
    }

    var isReadableByAll: Bool { mode & 0o004 != 0 }
    var isWritableByAll: Bool { mode & 0o002 != 0 }
    /// Whether everybody may enter the directory.
    var isEnterableByAll: Bool { mode & 0o001 != 0 }
    var isEnterableByGroup: Bool { mode & 0o010 != 0 }
    var isPrivate: Bool { mode & 0o077 == 0 }

    /// Whether the user may read the file by its own mode; the directories above are not looked at.
    func isReadable(by user: NodeUser) -> Bool { allows(0o4, user) }
    func isWritable(by user: NodeUser) -> Bool { allows(0o2, user) }
    /// Whether a user may enter the directory.
    func isEnterable(by user: NodeUser) -> Bool { allows(0o1, user) }

    private func allows(_ right: mode_t, _ user: NodeUser) -> Bool {
        if user.id == 0 { return true }
        if user.id == owner { return mode & (right << 6) != 0 }
        return mode & (user.groups.contains(group) ? right << 3 : right) != 0
    }
}

enum ProcessLimits {
    /// Returns the most files that a process may have open; `nil` when the process is gone, or can't be
    /// looked at.
    static func openFiles(of process: pid_t) -> Int? {
        guard let bytes = try? PrivateFile.read("/proc/\(process)/limits", limit: 16384) else { return nil }
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("Max open files")
        }
        return line?.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }
    }
}
