import Clocks
import Relay

/// How often each stranger may try to enter the console. A stranger who fails often uses up no share but his own.
struct ConsoleAttempts<Stranger: Hashable> {
    private let rate: Rate
    private var used: [Stranger: Rate.Use] = [:]
    /// The use of all strangers beyond ``most``.
    private var usedByOthers = Rate.Use()

    /// The most strangers that are remembered one by one. Further strangers together count as one.
    static var most: Int { 1000 }

    init(perSecond: Double, burst: Int) { rate = Rate(perSecond: perSecond, burst: burst) }

    /// Counts an attempt if it may come now.
    ///
    /// - Returns: The time until it may; zero: it is counted.
    mutating func take(by stranger: Stranger, at now: MonotonicTime) -> Duration {
        if used[stranger] == nil, used.count >= Self.most {
            used = used.filter { !$0.value.isOver(at: now) }
        }
        guard used[stranger] != nil || used.count < Self.most else {
            return rate.take(from: &usedByOthers, at: now)
        }
        return rate.take(from: &used[stranger, default: Rate.Use()], at: now)
    }
}
