import Metrics
import Overview
import Reactor

/// Reads the counters once a minute, for what happened when.
@EventLoop
final class NodeHistory {
    private var history: History
    private let totals: @EventLoop () -> History.Totals
    private var timer: Timer!

    init(totals: @escaping @EventLoop () -> History.Totals) {
        self.totals = totals
        history = History(at: NodeHistory.minute)
        timer = Timer { [unowned self] in
            _ = upToNow()
            start()
        }
    }

    /// With what has happened in this minute so far.
    func upToNow() -> History {
        history.read(totals(), at: NodeHistory.minute)
        return history
    }

    /// A little after each minute has begun is soon enough: what came before it would count as the next one's, so the
    /// reading is a little before its end.
    func start() {
        let rest = 60_000_000_000 - EventLoop.monotonicNanoseconds % 60_000_000_000
        timer.start(after: .nanoseconds(rest > 100_000_000 ? rest - 50_000_000 : rest + 59_950_000_000))
    }

    func stop() { timer.stop() }

    private static var minute: Int64 { EventLoop.monotonicNanoseconds / 60_000_000_000 }
}
