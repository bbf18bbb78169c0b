import Clocks
import Glibc
import Overview
import Reactor

/// How much room the disk of the outbox has. It is asked on another thread, since a disk that hangs does not answer.
@EventLoop
final class DiskWatch {
    private let path: String
    /// Bytes left for us; `nil`: not known.
    private(set) var available: Int?
    /// The time of the last answer; `nil`: there was none yet.
    private(set) var answeredAt: MonotonicTime?
    /// The time of the question that is not answered yet.
    private var askedAt: MonotonicTime?
    private let timer = Timer()
    private var isStopped = false

    private static let interval: Duration = .seconds(10)

    /// Makes a watch of the disk that `path` lies on.
    init(_ path: String) {
        self.path = path
        timer.action = { [unowned self] in look() }
    }

    func start() { look() }

    func stop() {
        isStopped = true
        timer.stop()
    }

    /// How long the disk has been silent; `nil`: it has answered.
    var silence: Duration? { askedAt.map { EventLoop.now - $0 } }

    private func look() {
        askedAt = EventLoop.now
        Task { [weak self, path] in
            let available = await DiskWatch.available(at: path)
            guard let self, !isStopped else { return }
            self.available = available
            askedAt = nil
            answeredAt = EventLoop.awake
            timer.start(after: DiskWatch.interval)
        }
    }

    @FileThread
    private static func available(at path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }
}
