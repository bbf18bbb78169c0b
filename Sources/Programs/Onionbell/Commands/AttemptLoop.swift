import Clocks
import Processes
import Reactor

/// The attempts of a command that connects again and again until it is stopped.
@EventLoop
final class AttemptLoop {
    /// Whether the command is to end: nothing waits any more.
    var isStopping = false
    private var lastWords = ""
    private var backoff = Backoff(first: .seconds(2), longest: .seconds(120))

    /// Prints an outage once, not with every attempt.
    func tell(_ words: String) {
        guard words != lastWords else { return }
        lastWords = words
        printError("onionbell: \(words)")
    }

    /// Waits before the next attempt, longer each time.
    func pause() async {
        guard !isStopping else { return }
        var random = SystemRandomNumberGenerator()
        try? await Task.sleep(for: backoff.next(using: &random))
    }

    /// Makes the next pause a short one: a connection was good.
    func reset() { backoff.reset() }
}
