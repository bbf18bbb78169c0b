import Clocks
import Glibc
import Processes
import Reactor

/// The attempts of a command that connects again and again until it is stopped.
@EventLoop
package final class AttemptLoop {
    package init() {}

    /// Whether the command is to end: nothing waits any more.
    package var isStopping = false
    private var lastWords = ""
    private var backoff = Backoff(first: .seconds(2), longest: .seconds(120))

    /// Runs a command until it ends by itself or is told to stop, and returns its exit status.
    ///
    /// - Parameter finishing: Called when the command is told to stop. False: nothing is in hand, and it ends at once.
    package func run(
        by tor: WatchTor, finishing: @escaping @EventLoop () -> Bool, _ body: @EventLoop () async -> Int32
    ) async -> Int32 {
        let signals = [SIGTERM, SIGINT].map { number in
            SignalSource(number) { [self] in
                isStopping = true
                guard !finishing() else { return }
                Task {
                    await tor.stop()
                    Glibc.exit(EXIT_SUCCESS)
                }
            }
        }
        defer { withExtendedLifetime(signals) {} }
        let status = await body()
        await tor.stop()
        return status
    }

    /// Prints an outage once, not with every attempt.
    package func tell(_ words: String) {
        guard words != lastWords else { return }
        lastWords = words
        printError("onionbell: \(words)")
    }

    /// Waits before the next attempt, longer each time.
    package func pause() async {
        guard !isStopping else { return }
        try? await Task.sleep(for: nextPause())
    }

    package func nextPause() -> Duration {
        var random = SystemRandomNumberGenerator()
        return backoff.next(using: &random)
    }

    /// Makes the next pause a short one: a connection was good.
    package func reset() { backoff.reset() }

    /// Notes that a connection has ended. A connection that has brought something was good, however short it was: a node that
    /// restarts a few times makes nobody wait for minutes.
    package func connectionEnded(after lasted: Duration, hasNews: Bool) {
        if hasNews || lasted > AttemptLoop.long { reset() }
    }

    /// The time after which a connection was good that has brought nothing.
    private static let long: Duration = .seconds(30)
}
