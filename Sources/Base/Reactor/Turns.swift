/// Divides work over turns of the loop: between two of them everybody else's events are handled.
@EventLoop
package final class Turns {
    private let most: Int
    private var done = 0

    /// Makes turns of at most `most` pieces of work.
    package init(of most: Int) { self.most = most }

    /// Waits for the next turn, or returns at once while this turn may do more. To be awaited before each
    /// piece.
    package func next() async {
        done += 1
        guard done > most else { return }
        done = 1
        await EventLoop.nextTurn()
    }
}

extension EventLoop {
    /// Returns when the loop has looked for new events.
    @EventLoop
    package static func nextTurn() async {
        // What is made active within a turn belongs to it; a timer that is over is seen after the next look.
        await pass(.zero)
    }

    /// Returns when every timer that is due within that time has done its work: however busy the machine is, timers come in
    /// their order.
    @EventLoop
    package static func pass(_ time: Duration) async {
        var timer: Timer?
        await withCheckedContinuation { continuation in
            timer = Timer { continuation.resume() }
            timer?.start(after: time)
        }
        timer?.stop()
    }
}
