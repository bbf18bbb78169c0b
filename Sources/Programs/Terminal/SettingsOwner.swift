import Glibc

/// The user who may change a settings file, and so decides what it names: programs, files and sockets.
///
/// After `onionbell init` with a console that is the node's user: the file is a link to one in the state directory. A command
/// that root runs and that starts what the settings name goes on as that user. Otherwise a node that somebody has broken into
/// would have root run a program of its own.
package enum SettingsOwner {
    private static let mostLinks = 8

    /// Finds the first owner but root of the things that decide which file the path is: its folder, the file,
    /// and those that links lead to. Each is looked at before what it leads to, so nobody but the user who is
    /// found can change it meanwhile.
    ///
    /// - Returns: `nil`: root alone, or there is nothing.
    package static func find(_ path: String) -> uid_t? {
        var path = path
        for _ in 0..<mostLinks {
            let slash = path.lastIndex(of: "/")
            let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            var status = stat()
            guard stat(folder, &status) == 0 else { return nil }
            if status.st_uid != 0 { return status.st_uid }
            guard lstat(path, &status) == 0 else { return nil }
            guard status.st_mode & S_IFMT == S_IFLNK else { return status.st_uid == 0 ? nil : status.st_uid }
            guard let target = target(of: path) else { return nil }
            path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
        return nil
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes root go on as the owner of these settings; everybody else goes on as before.
    ///
    /// - Returns: What the system says, if it does not let it.
    package static func become(of path: String) -> String? {
        guard geteuid() == 0, let user = find(path) else { return nil }
        guard let entry = getpwuid(user) else {
            return "the settings belong to the user \(user), who is not known"
        }
        let group = entry.pointee.pw_gid
        // Of root these set the real, effective and saved ids, of all threads.
        guard initgroups(entry.pointee.pw_name, group) == 0, setgid(group) == 0, setuid(user) == 0
        else { return "this can't go on as the owner of the settings: \(String(cString: strerror(errno)))" }
        return nil
    }
}
