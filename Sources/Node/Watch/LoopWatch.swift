import Clocks
import Figures
import Overview
import Reactor

/// Sees how late the event loop is: once a second, by how late this timer was, and by the longest turn meanwhile.
@EventLoop
final class LoopWatch {
    private var lateness = LastMinute()
    private var turns = LastMinute()
    /// The time of the next look, by the clock of timers: who sleeps is not late.
    private var dueAt: MonotonicTime = 0
    private let timer = Timer()

    private static let interval = Duration.seconds(1)

    init() { timer.action = { [unowned self] in look() } }

    func start() {
        // What the start itself took is nobody's wait.
        _ = EventLoop.takeLongestTurn()
        startTimer(at: EventLoop.awake)
    }

    func stop() { timer.stop() }

    private func startTimer(at now: MonotonicTime) {
        dueAt = now + LoopWatch.interval
        timer.start(after: LoopWatch.interval)
    }

    private func look() {
        let now = EventLoop.awake
        count(at: now)
        startTimer(at: now)
    }

    private func count(at now: MonotonicTime) {
        lateness.add((now - dueAt).nanoseconds, at: now)
        turns.add(EventLoop.takeLongestTurn(), at: now)
    }

    /// The figures of the last minute.
    var figures: Report.Loop {
        var loop = Report.Loop()
        guard timer.isRunning else { return loop }
        let now = EventLoop.awake
        count(at: now)
        loop.lag = .nanoseconds(max(0, lateness.maximum(at: now)))
        loop.longestTurn = .nanoseconds(turns.maximum(at: now))
        return loop
    }
}
