import Clocks
import Relay

/// How often each stranger may try to enter the console. A stranger who fails often uses up no share but his own.
struct ConsoleAttempts {
    private let rate: Rate
    /// The uses of the rate, by the sender's number. 0 has those whom nothing tells apart.
    private var used: [Int: Rate.Use] = [:]

    /// Senders that are remembered; those beyond it share ``crowd``.
    static let mostSenders = 1000
    private static let crowd = -1

    init(perSecond: Double, burst: Int) { rate = Rate(perSecond: perSecond, burst: burst) }

    /// Counts an attempt if it may come now.
    ///
    /// - Returns: The time until it may; zero: it is counted.
    mutating func take(by sender: Int, at now: MonotonicTime) -> Duration {
        if used[sender] == nil, used.count >= Self.mostSenders {
            used = used.filter { !$0.value.isOver(at: now) }
        }
        let isKnown = used[sender] != nil || used.count < Self.mostSenders
        return rate.take(from: &used[isKnown ? sender : Self.crowd, default: Rate.Use()], at: now)
    }
}
