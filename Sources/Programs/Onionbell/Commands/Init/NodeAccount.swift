import Glibc
import Node
import Reactor

/// The user that an installation has made for the node, and its state directory.
///
/// The node has to write what a console changes. The settings are then a file of the node's own, and in /etc there is a link
/// to it: root's folder stays root's, and the credentials in it too.
struct NodeAccount {
    private static let name = "onionbell"
    let user: uid_t
    let group: gid_t
    let stateDirectory: String

    var settings: String { "\(stateDirectory)/onionbell.yaml" }

    /// Returns the node's account; `nil`: nothing of these settings is to be changed by a console, or this is
    /// not root in an installation.
    static func installed(for settings: Settings) -> NodeAccount? {
        // systemd lets the node write into no other one.
        guard settings.areChangedByNode, settings.stateDirectory == Settings.standardStateDirectory,
            geteuid() == 0,
            let entry = getpwnam(name)
        else { return nil }
        return NodeAccount(
            user: entry.pointee.pw_uid, group: entry.pointee.pw_gid, stateDirectory: settings.stateDirectory)
    }

    /// Writes the settings with the node's rights, and makes a link to them if there is none. Until both are done, nobody reads
    /// the new ones.
    ///
    /// - Parameter link: The link's place in a folder of root's; what is there goes.
    func write(_ text: String, linkedFrom link: String) throws(SystemError) {
        // As systemd makes it at the node's first start.
        if mkdir(stateDirectory, 0o700) == 0 {
            guard lchown(stateDirectory, user, group) == 0 else {
                throw SystemError("give \(stateDirectory) to the node")
            }
        } else if errno != EEXIST {
            throw SystemError("make directory \(stateDirectory)")
        }
        let linking = "link \(link) to \(settings)"
        let unfinished = "\(link).\(getpid()).new"
        unlink(unfinished)
        defer { unlink(unfinished) }
        let isLinked = isLink(link)
        guard isLinked || symlink(settings, unfinished) == 0 else { throw SystemError(linking) }
        // With the node's rights alone: whatever it has put there, nothing of anybody else's is written.
        guard setegid(group) == 0, seteuid(user) == 0 else { throw SystemError("write as the node's user") }
        let written = Result { () throws(SystemError) in
            try PrivateFile.write(text, to: settings, replacing: true)
        }
        guard seteuid(0) == 0, setegid(0) == 0 else { throw SystemError("go on as root") }
        try written.get()
        guard isLinked || rename(unfinished, link) == 0 else { throw SystemError(linking) }
    }

    private func isLink(_ path: String) -> Bool {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard case let count = readlink(path, &target, target.count), count > 0 else { return false }
        return target.prefix(count).map { UInt8(bitPattern: $0) } == Array(settings.utf8)
    }
}
