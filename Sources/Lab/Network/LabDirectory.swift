import Glibc
import Reactor

/// A directory of mode 0700 under /tmp for the Lab's processes. Its path is short: Unix sockets lie in it.
package struct LabDirectory: Sendable {
    package let path: String

    private static let prefix = "/tmp/onionlab-"

    package init() throws(LabError) {
        var template = Array("\(Self.prefix)\(getpid())-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .files(SystemError("make a directory in /tmp")) }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    /// Begins to remove what Labs have left behind whose process was killed: its number is in the directory's name.
    @EventLoop
    package static func removingLeftOvers() -> LabTool? {
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
        return paths.isEmpty ? nil : try? LabTool(["rm", "-rf", "--"] + paths)
    }

    /// Makes a directory in it; one that is there already will do.
    package func make(_ name: String) throws(LabError) -> String {
        let directory = "\(path)/\(name)"
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw .files(SystemError("make directory \(directory)"))
        }
        return directory
    }

    package static func write(_ bytes: [UInt8], to path: String) throws(LabError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .files(SystemError("write \(path)")) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw .files(SystemError("write \(path)")) }
            rest = rest.dropFirst(count)
        }
    }

    package static func read(_ path: String) throws(LabError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .files(SystemError("read \(path)")) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count >= 0 else { throw .files(SystemError("read \(path)")) }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }

    /// Removes it with all that is in it.
    @EventLoop
    package func remove() async {
        // What can't be removed is left to the system's clearing of /tmp.
        _ = try? await LabTool(["rm", "-rf", "--", path]).finish()
    }
}
