import Glibc

/// Whether this process sees the machine's network or one of its own, as containers have it.
enum NetworkOfApp {
    /// Linux has settings that belong to the machine's network alone, and does not show them in any other one. Where nothing
    /// can be seen, it is the machine's.
    static var isOwn: Bool { isOwn(in: "/proc/sys/net/core") }

    static func isOwn(in directory: String) -> Bool {
        access("\(directory)/somaxconn", F_OK) == 0 && access("\(directory)/netdev_max_backlog", F_OK) != 0
    }
}
