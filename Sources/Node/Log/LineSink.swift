import Glibc
import Reactor
import Synchronization

/// Lines on their way to a descriptor that may not be read: the writer of a line never waits.
///
/// A thread of its own does the writing. What it has not written yet is held, up to ``capacity`` bytes; lines beyond
/// that are lost and counted, and a line says how many as soon as there is room again.
actor LineSink {
    /// Bytes of lines that wait.
    static let capacity = 256 << 10

    private struct Waiting {
        var bytes: [UInt8] = []
        var lost = 0
        /// The thread writes, or will at once.
        var isWriting = false
    }

    private nonisolated let thread: WorkThread
    private let descriptor: CInt
    private nonisolated let lostLine: @Sendable (_ count: Int) -> String
    private nonisolated let waiting = Mutex(Waiting())

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Makes a sink with a thread of its own.
    ///
    /// - Parameters:
    ///   - name: of the thread.
    ///   - lostLine: what to write in the place of lines that were lost.
    init(_ descriptor: CInt, named name: String, lostLine: @escaping @Sendable (_ count: Int) -> String) {
        thread = WorkThread(named: name)
        self.descriptor = descriptor
        self.lostLine = lostLine
    }

    deinit { thread.end() }

    /// Takes a line, with its end.
    nonisolated func write(_ line: String) {
        let mustWake = waiting.withLock { waiting in
            guard waiting.bytes.count + line.utf8.count <= LineSink.capacity else {
                waiting.lost += 1
                return false
            }
            addLost(to: &waiting)
            waiting.bytes.append(contentsOf: line.utf8)
            defer { waiting.isWriting = true }
            return !waiting.isWriting
        }
        if mustWake { Task { await writeWaiting() } }
    }

    private nonisolated func addLost(to waiting: inout Waiting) {
        guard waiting.lost > 0 else { return }
        waiting.bytes.append(contentsOf: lostLine(waiting.lost).utf8)
        waiting.lost = 0
    }

    private func writeWaiting() {
        while let bytes = next() {
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written)
                }
                if count < 0, errno == EAGAIN {
                    // Somebody has made it non-blocking: wait for its reader here.
                    var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&writable, 1, -1)
                } else if count < 0, errno != EINTR {
                    break  // nobody will ever read it
                }
                written += max(0, count)
            }
        }
    }

    /// Takes all bytes that wait, for the thread; `nil`: none wait.
    private func next() -> [UInt8]? {
        waiting.withLock { waiting in
            addLost(to: &waiting)
            guard !waiting.bytes.isEmpty else {
                waiting.isWriting = false
                return nil
            }
            defer { waiting.bytes = [] }
            return waiting.bytes
        }
    }

    /// Waits until all lines are written, but no longer than a second: for the end of the process, whatever thread ends
    /// it.
    nonisolated func flush() {
        for _ in 0..<500 where waiting.withLock(\.isWriting) { usleep(2000) }
    }
}
