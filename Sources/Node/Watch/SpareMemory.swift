import Reactor

/// Gives memory back to the system: after the start what only the start needed, and after a burst what it has left free.
///
/// The C library keeps free memory that lies between what is used, however much it is. To find it takes milliseconds, so another
/// thread does it, and only when there is more of it than was left the last time.
///
/// Code that ran once, as that of a console whose page is closed, stays in memory as long as the process lives. So every
/// five minutes all of it is given back. What is in use is mapped again, out of the kernel's cache: some hundred page faults.
@EventLoop
final class SpareMemory {
    /// Spare bytes that were left when memory was given back last, or fewer since then.
    private var kept = Int.max
    private let timer = Timer()
    private var looks = 0
    private var isStopped = false

    /// The time after a start in which Tor and the gateways are reached too, and memory is needed.
    private static let settling: Duration = .seconds(20)
    private static let interval: Duration = .seconds(10)
    /// Bytes.
    nonisolated private static let worthwhile = 2 << 20
    /// Five minutes.
    private static let looksBetweenRests = 30

    init() { timer.action = { [unowned self] in look() } }

    func start() {
        ThisProcess.releaseUnusedMemory()
        timer.start(after: SpareMemory.settling)
    }

    func stop() {
        isStopped = true
        timer.stop()
    }

    private func look() {
        looks += 1
        let isRest = looks % SpareMemory.looksBetweenRests == 0
        Task { [weak self, kept] in
            let left = await SpareMemory.giveBack(beyond: kept, isRest: isRest)
            guard let self, !isStopped else { return }
            self.kept = left
            timer.start(after: SpareMemory.interval)
        }
    }

    /// Gives free memory back to the system, if it is enough to be worthwhile.
    ///
    /// - Returns: The spare bytes that count as kept from now on.
    @FileThread
    private static func giveBack(beyond kept: Int, isRest: Bool) -> Int {
        let spare = ProcessFigures.spareBytes
        if kept == .max || isRest {
            ThisProcess.releaseUnusedMemory()
        } else if spare - kept > worthwhile {
            ThisProcess.trimHeap()
        } else {
            return min(kept, spare)
        }
        return ProcessFigures.spareBytes
    }
}
