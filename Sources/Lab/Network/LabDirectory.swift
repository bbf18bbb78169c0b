import Glibc
import Processes
import Reactor

/// A directory for the Lab's processes, and reading and writing of its files.
package struct LabDirectory: Sendable {
    private let directory: TemporaryDirectory

    package var path: String { directory.path }

    package init() throws(LabError) {
        do { directory = try TemporaryDirectory() } catch { throw .files(error) }
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

    /// Removes the directory with all that is in it.
    @EventLoop
    package func remove() async { await directory.remove() }
}
