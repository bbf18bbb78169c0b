import Glibc
import Reactor

/// The mark by which a change of the settings' file is noticed while it is looked at every few seconds: nothing is read.
struct SettingsMark: Equatable, Sendable {
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Returns the mark of a file; `nil`: it is not there.
    @FileThread
    static func of(_ path: String) -> SettingsMark? {
        var status = stat()
        // Behind a link, as the file is read.
        guard stat(path, &status) == 0 else { return nil }
        return SettingsMark(
            inode: UInt(status.st_ino), size: Int(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
    }
}
