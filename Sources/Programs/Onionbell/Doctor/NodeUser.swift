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

/// The node's unit, where systemd runs and the configuration is the unit's.
struct NodeUnit {
    /// The properties that `systemctl show` tells.
    let properties: [String: String]
    /// The last line that it wrote before it ended with a failure.
    var lastError: String?

    static let isSystemdRunning = access("/run/systemd/system", F_OK) == 0

    @EventLoop
    static func find(for file: String) async -> NodeUnit? {
        guard isSystemdRunning, file == Settings.standardFile,
            let lines = try? await Tool([
                "systemctl", "show", "onionbell.service", "--property",
                "LoadState,ActiveState,SubState,NRestarts,User,Group,SupplementaryGroups",
            ]).finish()
        else { return nil }
        var unit = NodeUnit(properties: properties(of: lines))
        guard unit.properties["LoadState"] == "loaded" else { return nil }
        if unit.isFailing {
            let journal = try? await Tool([
                "journalctl", "--unit", "onionbell.service", "--priority", "err", "--lines", "1", "--output",
                "cat",
                "--no-pager", "_COMM=onionbelld",
            ]).finish()
            unit.lastError = journal?.last
        }
        return unit
    }

    static func properties(of lines: [String]) -> [String: String] {
        Dictionary(
            lines.compactMap { line in
                line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
            }, uniquingKeysWith: { $1 })
    }

    /// Whether the unit ends again and again, or has given up.
    var isFailing: Bool {
        properties["ActiveState"] == "failed" || properties["SubState"] == "auto-restart"
    }

    var finding: Finding? {
        guard isFailing else { return nil }
        let count = properties["NRestarts"].flatMap { Int($0) } ?? 0
        let words = "the node ends at each start (restarted \(count) times)"
        guard let lastError else {
            // Not every user may read the journal.
            return .fail("node", words, "see why: sudo journalctl -u onionbell")
        }
        return .fail(
            "node", "\(words): \(lastError)", "do what that line says; all of them: journalctl -u onionbell")
    }
}
