import CSupport
import Reactor

/// Gives memory back to the system: after the start what only the start needed, and after a burst what it has left free.
///
/// The C library keeps free memory that lies between what is used, however much it is. Looking for it takes milliseconds,
/// so another thread does it, and only when the process has grown.
@EventLoop
final class SpareMemory {
    /// Resident bytes after memory was given back last, or fewer since then.
    private var kept = Int.max
    private var timer: Timer!

    /// Tor and the gateways have been reached by then as well.
    private static let settling: Duration = .seconds(20)
    private static let interval: Duration = .seconds(10)
    /// Bytes.
    nonisolated private static let worthwhile = 4 << 20

    init() { timer = Timer { [unowned self] in look() } }

    func start() {
        onionbell_release_startup_memory()
        timer.start(after: SpareMemory.settling)
    }

    func stop() { timer.stop() }

    private func look() {
        Task { [weak self, kept] in
            let left = await SpareMemory.giveBack(beyond: kept)
            guard let self else { return }
            self.kept = left
            timer.start(after: SpareMemory.interval)
        }
    }

    /// - Returns: What is kept from now on.
    @FileThread
    private static func giveBack(beyond kept: Int) -> Int {
        let resident = ProcessFigures.residentBytes
        if kept == .max {
            onionbell_release_startup_memory()
        } else if resident - kept > worthwhile {
            onionbell_trim_heap()
        } else {
            return min(kept, resident)
        }
        return ProcessFigures.residentBytes
    }
}
