import Figures
import Overview
import Reactor

/// Sees how late the event loop is: once a second, by how late this timer was, and by the longest turn meanwhile.
@EventLoop
final class LoopWatch {
    private var lateness = LastMinute()
    private var turns = LastMinute()
    /// The time of the next look, by the clock of timers: who sleeps is not late.
    private var dueAt: Int64 = 0
    private let timer = Timer()

    private static let interval: Int64 = 1_000_000_000

    init() { timer.action = { [unowned self] in look() } }

    func start() {
        // What the start itself took is nobody's wait.
        _ = EventLoop.takeLongestTurn()
        startTimer(at: EventLoop.awakeNanoseconds)
    }

    func stop() { timer.stop() }

    private func startTimer(at now: Int64) {
        dueAt = now + LoopWatch.interval
        timer.start(after: .nanoseconds(LoopWatch.interval))
    }

    private func look() {
        let now = EventLoop.awakeNanoseconds
        count(at: now)
        startTimer(at: now)
    }

    private func count(at now: Int64) {
        lateness.add(now - dueAt, at: now)
        turns.add(EventLoop.takeLongestTurn(), at: now)
    }

    /// The figures of the last minute.
    var figures: Report.Loop {
        var loop = Report.Loop()
        guard timer.isRunning else { return loop }
        let now = EventLoop.awakeNanoseconds
        count(at: now)
        loop.lag = .nanoseconds(max(0, lateness.maximum(at: now)))
        loop.longestTurn = .nanoseconds(turns.maximum(at: now))
        return loop
    }
}
