import Glibc
import Reactor

/// A lock on a file, for one process at a time. It is a second file beside the first.
package final class FileLock {
    private let descriptor: CInt

    /// Takes the lock, and makes the directories above: one that can't be made shows when the file is opened.
    ///
    /// - Parameters:
    ///   - inUse: The error to throw if another process has the lock.
    ///   - unmade: Makes the error to throw if the file of the lock can't be opened.
    package init<Fault: Error>(of path: String, inUse: Fault, unmade: (SystemError) -> Fault) throws(Fault) {
        var end = path.startIndex
        while let slash = path[end...].dropFirst().firstIndex(of: "/") {
            mkdir(String(path[..<slash]), 0o700)
            end = slash
        }
        descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw unmade(SystemError("open \(path).lock")) }
        // An object whose making fails is let go, and so is the descriptor.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw inUse }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
