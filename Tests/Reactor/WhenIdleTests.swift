import Testing

@testable import Reactor

@EventLoop
@Suite struct WhenIdleTests {
    /// A timer that is due at once, again and again: the loop is never at rest.
    @EventLoop
    private final class Busy {
        private(set) var turns = 0
        private var timer: Timer!

        init(until isOver: @escaping @EventLoop (Busy) -> Bool, _ end: @escaping @EventLoop () -> Void) {
            timer = Timer { [unowned self] in
                turns += 1
                if isOver(self) { end() } else { timer.start(after: .zero) }
            }
            timer.start(after: .zero)
        }
    }

    @Test func whateverIsReadyGoesFirst() async {
        var order: [String] = []
        var busy: Busy?
        var idle: WhenIdle?
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            idle = WhenIdle(patience: .seconds(50)) {
                order.append("idle")
                continuation.resume()
            }
            idle?.schedule()
            idle?.schedule()
            busy = Busy(until: { $0.turns == 100 }) { order.append("ready") }
        }
        #expect(order == ["ready", "idle"])
        #expect(busy?.turns == 100)
        _ = idle
    }

    @Test func aBusyLoopIsNotWaitedForForEver() async {
        var runs = 0
        var busy: Busy?
        var idle: WhenIdle?
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            idle = WhenIdle(patience: .milliseconds(5)) { runs += 1 }
            idle?.schedule()
            busy = Busy(until: { _ in runs > 0 }) { continuation.resume() }
        }
        #expect(runs == 1)
        #expect(busy.map { $0.turns > 1 } == true)
        _ = idle
    }

    @Test func itIsCalledOnceForEachTimeItIsScheduled() async {
        var runs = 0
        var idle: WhenIdle?
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            idle = WhenIdle(patience: .seconds(50)) {
                runs += 1
                if runs < 3 { idle?.schedule() } else { continuation.resume() }
            }
            idle?.schedule()
        }
        await EventLoop.pass(.milliseconds(5))
        #expect(runs == 3)
    }
}
