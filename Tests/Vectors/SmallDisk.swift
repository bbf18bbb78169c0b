import Foundation
import Glibc
import Processes
import Reactor

/// A small file system in memory, for a disk that can be filled. Only root can make one.
package struct SmallDisk: Sendable {
    package let path: String

    /// Whether this process can have one: it is tried.
    package static let isAvailable: Bool = {
        guard let disk = try? SmallDisk(megabytes: 1) else { return false }
        disk.remove()
        return true
    }()

    package init(megabytes: Int) throws {
        path = "/tmp/onionbell-disk-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        do {
            try ProgramRun(["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path]).succeeded()
        } catch {
            try FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Takes all room that is left.
    package func fill() throws {
        let filler = open(path + "/filler", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard filler >= 0 else { throw SystemError("fill \(path)") }
        defer { close(filler) }
        for size in [65_536, 4096, 1] {
            let zeros = [UInt8](repeating: 0, count: size)
            while write(filler, zeros, size) == size {}
        }
    }

    package func empty() throws { try FileManager.default.removeItem(atPath: path + "/filler") }

    package func remove() {
        _ = try? ProgramRun(["umount", "-l", path])
        try? FileManager.default.removeItem(atPath: path)
    }
}
