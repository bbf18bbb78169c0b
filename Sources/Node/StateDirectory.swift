import Crypto
import Encodings
import Gateways
import Glibc
import Reactor
import Tor

/// The directory that holds all that the node keeps: onion key and address, outbox, digest key, invitations, the keys of
/// the door for Status' clients, its own tor's files, the sockets for it, and that of `onionbell status`. Mode 0700, one
/// node at a time.
package struct StateDirectory: ~Copyable {
    package let path: String
    /// Holds the lock as long as it is open.
    private let lock: Descriptor

    package var onionKey: String { StateDirectory.onionKey(in: path) }
    var onionAddress: String { path + "/onion-address" }
    package var outbox: String { StateDirectory.outbox(in: path) }
    package var statusPublicKey: String { path + "/status-public-key" }
    package var torDirectory: String { path + "/tor" }
    /// The file from which the status page knows the time before a restart.
    var history: String { path + "/history" }
    /// The file of the last rings, where the owner has them kept.
    var rings: String { path + "/rings" }
    /// The file of the push servers that have taken something.
    var pushServers: String { path + "/push-servers" }
    var statusSocket: String { StateDirectory.statusSocket(in: path) }

    /// A link into the console, as long as the node has no owner.
    package var consoleLink: String { path + "/console-link" }
    /// The file of who has entered the console.
    package var consoleOwner: String { path + "/console-owner" }
    /// Digests of the tokens for widgets.
    package var consoleWidgets: String { path + "/console-widgets" }
    /// The key of the console's onion address, and who may find it.
    package var consoleOnionKey: String { StateDirectory.consoleOnionKey(in: path) }
    package var consoleClients: String { StateDirectory.consoleClients(in: path) }
    package static func consoleOnionKey(in path: String) -> String { path + "/console-onion-key" }
    package static func consoleClients(in path: String) -> String { path + "/console-clients" }

    /// Whether a node was here before, and its store is gone, or an empty one lies there: what waited in it is lost.
    var hasLostOutbox: Bool { StateDirectory.hasLostOutbox(in: path) }

    /// Returns the same, for commands beside a node that is stopped.
    package static func hasLostOutbox(in path: String) -> Bool {
        let outbox = outbox(in: path)
        guard access(outbox + ".saved", F_OK) != 0 else { return false }
        guard access(outbox, F_OK) == 0 else { return access(path + "/history", F_OK) == 0 }
        return isEmptyStore(outbox)
            && (access(path + "/history", F_OK) == 0 || access(onionKey(in: path), F_OK) == 0)
    }

    /// Whether a file of SQLite's has no store of any version in it, nor in its journal.
    private static func isEmptyStore(_ path: String) -> Bool {
        var journal = stat()
        if stat(path + "-wal", &journal) == 0, journal.st_size > 0 { return false }
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return false }
        let file = Descriptor(owning: number)
        // The file's header has its version at byte 60 ("Database File Format", section 1.3).
        var header = [UInt8](repeating: 0, count: 64)
        let count = pread(file.number, &header, header.count, 0)
        return count == 0
            || count == header.count && header.starts(with: "SQLite format 3\0".utf8)
                && header.suffix(4).allSatisfy { $0 == 0 }
    }

    /// The names of all files and directories in it that the node needs again after a start.
    package static let names = [
        "console-owner", "digest-key", "history", "lock", "onion-key", "outbox.sqlite", "outbox.sqlite.saved",
        "outbox.sqlite-run", "outbox.sqlite-shm", "outbox.sqlite-wal", "peers", "rings",
        "settings-that-ran", "settings-written", "sockets", "status-key", "tor", "vapid-key",
    ]

    package static func onionKey(in path: String) -> String { path + "/onion-key" }
    /// Returns the directory of those who are invited to the node.
    package static func peers(in path: String) -> String { path + "/peers" }
    package static func vapidKey(in path: String) -> String { "\(path)/\(WebPushApp.keyName)" }
    package static func outbox(in path: String) -> String { path + "/outbox.sqlite" }
    package static func statusSocket(in path: String) -> String { path + "/status" }
    /// Returns the directory of the credentials of push services that the console took.
    package static func gatewayKeys(in path: String) -> String { path + "/gateway-keys" }

    /// Makes the directory where there is none.
    ///
    /// - Throws: Also when what is there is not the node's to close to others: no directory, another user's, or one that
    ///   others can enter and that holds something. Nothing of it is changed then.
    package init(_ path: String) throws(NodeError) {
        try StateDirectory.check(path)
        do {
            try PrivateFile.makeDirectory(path)
        } catch {
            throw .unavailable(
                "state_directory can't be used: \(error). Create it, or set state_directory to one that this user owns"
            )
        }
        guard let lock = try StateDirectory.lock(path) else {
            throw .unavailable(
                "another onionbell runs with \(path): stop it, or give this one its own state_directory")
        }
        do {
            try StateDirectory.note(getpid(), in: lock)
        } catch {
            throw .unavailable(
                error.code == ENOSPC || error.code == EDQUOT
                    ? "the disk of \(path) is full: make room on it, then start the node again"
                    : "\(path)/lock: \(error)")
        }
        self.path = path
        self.lock = lock
    }

    /// Throws unless what is at this path can be taken, or there is nothing yet.
    package static func check(_ path: String) throws(NodeError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                throw .unavailable("state_directory: \(SystemError("open \(path)"))")
            }
            return
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw .unavailable("state_directory: \(path) is not a directory: set state_directory to one")
        }
        guard status.st_uid == geteuid() else {
            throw .unavailable(
                "state_directory: \(path) belongs to another user: run the node as that user, or give it the directory (chown)"
            )
        }
        guard !isShared(path, status) else {
            throw .unavailable(
                "state_directory: others can open \(path), and it holds files: set state_directory to a directory of the node's own, or close this one (chmod 700)"
            )
        }
    }

    /// Whether others can enter a directory that holds something, or that doesn't show whether it does.
    static func isShared(_ path: String, _ status: stat) -> Bool {
        guard status.st_mode & 0o077 != 0 else { return false }
        return (try? PrivateFile.names(in: path).isEmpty) != true
    }

    /// Notes the process for `doctor`, which looks at it: the note only counts while the lock is held.
    private static func note(_ processID: pid_t, in lock: borrowing Descriptor) throws(SystemError) {
        let text = Array("\(processID)\n".utf8)
        guard ftruncate(lock.number, 0) == 0 else { throw SystemError("empty the note of the process") }
        guard pwrite(lock.number, text, text.count, 0) == text.count else {
            throw SystemError("note the process")
        }
    }

    /// Returns the process of the node that runs with this directory; `nil` when none does.
    ///
    /// Takes the lock for an instant, shared, to see whether it is free: a node that starts in that instant finds that
    /// another one runs.
    package static func runningNode(in path: String) throws(SystemError) -> Running? {
        let number = open(path + "/lock", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            guard errno == ENOENT else { throw SystemError("open \(path)/lock") }
            return nil
        }
        let lock = Descriptor(owning: number)
        guard flock(lock.number, LOCK_SH | LOCK_NB) != 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = max(0, pread(lock.number, &bytes, bytes.count, 0))
        var status = stat()
        fstat(lock.number, &status)
        return Running(
            processID: pid_t(
                String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)),
            startedAt: Int64(status.st_mtim.tv_sec))
    }

    /// A node that runs.
    package struct Running {
        /// The process as the node noted it; `nil`: it has not yet.
        package var processID: pid_t?
        /// The time at which the node noted that, in seconds since 1970.
        package var startedAt: Int64
    }

    /// Opens a directory that a node has made already, for a command in place of the node; `nil` while the
    /// node runs.
    ///
    /// - Throws: Also when it is another user's: files made here would keep that user's node out.
    package init?(ofStoppedNode path: String) throws(NodeError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .unavailable(
                errno == ENOENT
                    ? "there is no \(path) yet: the node creates it when it starts for the first time"
                    : "\(SystemError("open \(path)")). Run this as the node's user: sudo -u onionbell onionbell ..."
            )
        }
        guard status.st_uid == geteuid() else {
            throw .unavailable(
                "\(path) belongs to another user: run this as that user, for example sudo -u onionbell onionbell ..."
            )
        }
        guard let lock = try StateDirectory.lock(path) else { return nil }
        self.path = path
        self.lock = lock
    }

    /// The name under which the lock is handed on, so that nothing opens the directory between two programs of a process.
    static let lockName = "state-lock"

    /// Hands the lock on to this process' successor.
    func handOn() {
        if let copy = Descriptor(copying: lock.number) { Handover.shared.keep(StateDirectory.lockName, copy) }
    }

    private static func lock(_ path: String) throws(NodeError) -> Descriptor? {
        if let handed = Handover.shared.take(lockName), isFile(handed.number, path + "/lock"),
            flock(handed.number, LOCK_EX | LOCK_NB) == 0
        {
            return handed
        }
        let number = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .unavailable("\(SystemError("open \(path)/lock"))") }
        let lock = Descriptor(owning: number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { return nil }
        return lock
    }

    private static func isFile(_ number: CInt, _ path: String) -> Bool {
        var (handed, there) = (stat(), stat())
        return fstat(number, &handed) == 0 && stat(path, &there) == 0 && handed.st_dev == there.st_dev
            && handed.st_ino == there.st_ino
    }

    /// Returns the key under which digests are made: made once, 32 random bytes in hex.
    package func digestKey() throws(NodeError) -> Secret { try StateDirectory.digestKey(in: path) }

    /// Returns the key, for commands beside the node.
    package static func digestKey(in path: String) throws(NodeError) -> Secret {
        try key("digest-key", in: path, without: "the memory of duplicates and the registrations of phones")
    }

    /// Returns the identity of the door for Status' clients, made once in the same way.
    package func statusKey() throws(NodeError) -> Secret { try StateDirectory.statusKey(in: path) }

    /// Returns the key, for commands beside the node.
    package static func statusKey(in path: String) throws(NodeError) -> Secret {
        try key("status-key", in: path, without: "the registrations of phones")
    }

    /// Reads the key by which push services know the node; made at the start of a node with an app for
    /// browsers.
    package func vapidKey() throws(NodeError) -> VAPIDKey {
        let file = StateDirectory.vapidKey(in: path)
        do {
            return try VAPIDKey(pem: PrivateFile.read(file, limit: 16_384))
        } catch {
            throw .unavailable("\(file): \(error)")
        }
    }

    private static func makeKey(at file: String) throws(SystemError) {
        do throws(SystemError) {
            try PrivateFile.write(Hex.encode(randomBytes(32)) + "\n", to: file, replacing: false)
        } catch {
            // A command beside the node may have made it just now.
            guard error.code == EEXIST else { throw error }
        }
    }

    /// Reads a key, and makes it if it is not there.
    ///
    /// - Parameter loss: what is lost with the key.
    private static func key(_ name: String, in path: String, without loss: String) throws(NodeError) -> Secret
    {
        let file = "\(path)/\(name)"
        do {
            if access(file, F_OK) != 0 { try makeKey(at: file) }
            guard let key = key(of: try PrivateFile.read(file, limit: longestKey)) else {
                throw NodeError.configuration(
                    "\(file) is not a key of 64 hex digits: restore it, or move it into another folder and lose \(loss)"
                )
            }
            return key
        } catch let error as NodeError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// Bytes of a file with such a key, and more.
    static let longestKey = 128

    /// Returns the key in a file of 64 hex digits; `nil`: there is none.
    package static func key(of file: [UInt8]) -> Secret? {
        guard file.count <= longestKey,
            let key = Hex.decode(
                String(decoding: file, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""),
            key.count == 32
        else { return nil }
        return Secret(key)
    }

    /// Makes a file of a secret if it is not there.
    func make(_ file: OwnFile) throws(NodeError) {
        guard access(file.path, F_OK) != 0 else { return }
        do {
            try PrivateFile.write(file.make().bytes, to: file.path, replacing: false)
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
