import Glibc
import Reactor
import Testing

@EventLoop
@Suite struct LoopTurnTests {
    /// Whatever holds the loop is seen afterwards, and once.
    @Test(arguments: [false, true])
    func theLongestTurnIsSeen(inATimer isInTimer: Bool) async {
        _ = EventLoop.takeLongestTurn()
        if isInTimer {
            var timer: Timer?
            await withCheckedContinuation { continuation in
                timer = Timer {
                    usleep(120_000)
                    continuation.resume()
                }
                timer?.start(after: .zero)
            }
            timer?.stop()
        } else {
            usleep(120_000)
        }
        await Task.yield()
        #expect(EventLoop.takeLongestTurn() >= 100_000_000)
    }
}
