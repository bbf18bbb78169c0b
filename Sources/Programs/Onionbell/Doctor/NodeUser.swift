import Glibc
import Node
import Processes
import Reactor

/// The user as whom the node runs, or will run: what it may use is judged for that user, also where another one asks.
struct NodeUser: Equatable {
    let id: uid_t
    /// The user's own group and the supplementary ones.
    let groups: Set<gid_t>

    init(id: uid_t, groups: Set<gid_t>) {
        self.id = id
        self.groups = groups
    }

    /// The user of this process.
    static var current: NodeUser {
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(CInt(groups.count), &groups)
        return NodeUser(id: geteuid(), groups: Set(groups.prefix(Int(max(0, count))) + [getegid()]))
    }

    /// Reads a user as the users' and groups' lists have it.
    init(_ id: uid_t) {
        self.id = id
        guard let entry = getpwuid(id) else {
            groups = []
            return
        }
        var groups = [gid_t](repeating: 0, count: 1024)
        var count = CInt(groups.count)
        let isAll = getgrouplist(entry.pointee.pw_name, entry.pointee.pw_gid, &groups, &count) >= 0
        self.groups = isAll ? Set(groups.prefix(Int(count))) : [entry.pointee.pw_gid]
    }

    /// Reads the user of a process from `/proc`: its effective user, group and supplementary groups. `nil`: it is gone.
    init?(process: pid_t) {
        guard let bytes = try? PrivateFile.read("/proc/\(process)/status", limit: 65_536) else { return nil }
        self.init(status: String(decoding: bytes, as: UTF8.self))
    }

    /// Reads the user of a process from the text of `/proc/PID/status`; of each line the second number is the
    /// effective one.
    init?(status: String) {
        func numbers(_ name: String) -> [UInt32]? {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(whereSeparator: { $0 == "\t" || $0 == " " }).dropFirst().compactMap {
                UInt32($0)
            }
        }
        guard let users = numbers("Uid:"), users.count > 1, let own = numbers("Gid:"), own.count > 1 else {
            return nil
        }
        self.init(id: users[1], groups: Set((numbers("Groups:") ?? []) + [own[1]]))
    }

    /// Reads the user of a systemd unit. `nil`: the unit names no user that there is.
    ///
    /// - Parameter unit: As `systemctl show` tells it: `User=`, `Group=`, `SupplementaryGroups=`.
    init?(unit: [String: String]) {
        guard let name = unit["User"], !name.isEmpty, let entry = getpwnam(name) else { return nil }
        let user = NodeUser(entry.pointee.pw_uid)
        let more = ((unit["Group"] ?? "") + " " + (unit["SupplementaryGroups"] ?? "")).split(separator: " ")
        let groups = more.compactMap { getgrnam(String($0))?.pointee.gr_gid ?? gid_t($0) }
        self.init(id: user.id, groups: user.groups.union(groups))
    }
}

// MARK: What it may do

extension NodeUser {
    /// Finds the user as whom the node runs, or will run: the running process's, the unit's, or whose the state directory is.
    static func find(for settings: Settings, node: StateDirectory.Running?, unit: NodeUnit?) -> NodeUser {
        if let user = node?.processID.flatMap({ NodeUser(process: $0) }) { return user }
        if let user = unit.flatMap({ NodeUser(unit: $0.properties) }) { return user }
        guard geteuid() == 0, let state = FileFacts(settings.stateDirectory) else { return .current }
        return NodeUser(state.owner)
    }

    /// Returns the faults of files and of the state directory that a start as this user would find.
    func faults(in settings: Settings, file: String) -> [SettingsFault] {
        // What this process can't read, it has said before.
        let files = self == .current ? [] : [("", file)] + settings.filesOfNode
        var faults = files.filter { access($0.path, F_OK) == 0 && !may(R_OK, $0.path) }.map { key, path in
            SettingsFault(
                key: key,
                problem:
                    "\(name) can't read \(path): chgrp it to a group of that user and chmod 0640, and let that user into the folders above it"
            )
        }
        if let fault = cookieFault(in: settings) { faults.append(fault) }
        let state = settings.stateDirectory
        // Where it is not there yet, who makes it is not known: only a file system that nobody writes is a fault.
        let isThere = access(state, F_OK) == 0
        let place = isThere ? state + "/." : Self.parent(of: state)
        if access(place, F_OK) == 0, !may(W_OK | X_OK, place), isThere || errno == EROFS {
            faults.append(
                SettingsFault(
                    key: "state_directory",
                    problem: errno == EROFS
                        ? "the file system of \(state) is read-only: mount it for writing, or name another directory"
                        : "\(name) can't write into \(state): make it that user's (chown), for the node runs as that user"
                ))
        }
        return faults
    }

    /// Returns the fault of tor's cookie, which this user has to read. `nil`: this user may, or there is no cookie yet.
    private func cookieFault(in settings: Settings) -> SettingsFault? {
        let path = settings.tor.cookieFile
        guard settings.tor.mode != .own, !path.isEmpty, !may(R_OK, path), errno != ENOENT else { return nil }
        // What lies behind a closed folder only root and the user itself can tell.
        guard self == .current || geteuid() == 0 || access(path, F_OK) == 0 else { return nil }
        return SettingsFault(
            key: "tor.cookie_file",
            problem:
                "\(name) can't read \(path): let that user into tor's group (Debian: adduser onionbell debian-tor), and set CookieAuthFileGroupReadable 1 in that tor's torrc"
        )
    }

    private static func parent(of path: String) -> String {
        let path = absolute(path)
        let parts = path.split(separator: "/").dropLast()
        return "/" + parts.joined(separator: "/")
    }

    /// Whether this user may do something with a file. Root tries it as the user; where nobody can try, the file's mode says it.
    /// Leaves the reason in `errno`.
    func may(_ right: CInt, _ path: String) -> Bool {
        guard self != .current else { return access(path, right) == 0 }
        guard geteuid() == 0 else {
            errno = EACCES
            guard let facts = FileFacts(path) else { return false }
            return (right & R_OK == 0 || facts.isReadable(by: self))
                && (right & W_OK == 0 || facts.isWritable(by: self))
        }
        guard let before = try? Ids.take(of: self) else { return false }
        let isAllowed = faccessat(AT_FDCWD, path, right, AT_EACCESS) == 0
        let reason = errno
        before.takeBack()
        errno = reason
        return isAllowed
    }

    /// The name of the user, or its number.
    var name: String {
        getpwuid(id).map { "the node's user \(String(cString: $0.pointee.pw_name))" }
            ?? "the node's user \(id)"
    }
}

/// The effective ids of this process, before it went on as another user for a moment.
private struct Ids {
    private let group = getegid()
    private let groups: [gid_t]

    /// Goes on with the ids of a user.
    static func take(of user: NodeUser) throws(SystemError) -> Ids {
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(CInt(groups.count), &groups)
        let before = Ids(groups: Array(groups.prefix(Int(max(0, count)))))
        let wanted = Array(user.groups)
        guard setgroups(wanted.count, wanted) == 0, setegid(wanted.first ?? before.group) == 0,
            seteuid(user.id) == 0
        else {
            let error = SystemError("go on as another user")
            before.takeBack()
            throw error
        }
        return before
    }

    private init(groups: [gid_t]) { self.groups = groups }

    func takeBack() {
        guard seteuid(0) == 0, setegid(group) == 0, setgroups(groups.count, groups) == 0 else {
            preconditionFailure("root can't be root again")
        }
    }
}
