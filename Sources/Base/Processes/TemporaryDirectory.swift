import Glibc
import Reactor

/// A directory of mode 0700 under /tmp, for as long as this process needs it. Its path is short: Unix sockets lie in it.
package struct TemporaryDirectory: Sendable {
    package let path: String

    private static let prefix = "/tmp/onionbell-"

    package init() throws(SystemError) {
        var template = Array("\(Self.prefix)\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make a directory in /tmp") }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Begins to remove what is left of processes that were killed: the name has the number of the process.
    @EventLoop
    package static func removingLeftOvers() -> Tool? {
        guard let temporary = opendir("/tmp") else { return nil }
        var paths: [String] = []
        while let entry = readdir(temporary) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { "/tmp/" + String(cString: $0) }
            }
            guard name.hasPrefix(prefix),
                let process = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ pid_t($0) }),
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
            paths.append(name)
        }
        closedir(temporary)
        return paths.isEmpty ? nil : try? Tool(["rm", "-rf", "--"] + paths)
    }

    /// Removes the directory with all that is in it.
    @EventLoop
    package func remove() async {
        // What can't be removed is left to the system's clearing of /tmp.
        _ = try? await Tool(["rm", "-rf", "--", path]).finish()
    }
}
