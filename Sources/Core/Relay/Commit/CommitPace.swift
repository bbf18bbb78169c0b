import Clocks

/// The pace of commits: the next one may begin when the last one has been over for as long as it took.
///
/// A commit costs as much as ten notifications in it. Under load one then holds twice as many as it would right behind
/// the other, and nobody waits for longer than three of them take: for the rest of one, as long again, and for the own.
///
/// If nodes share a store, each commit costs all of them: it has to prove a lease and to reach a disk. Then one that has
/// nothing but ends, for which no notification waits, and notifications for other nodes, which look every 50 ms, gathers
/// first. A node alone does so as well while one such commit follows the other: it costs no sync, but as much CPU as any.
struct CommitPace {
    /// The longest rest after a commit, however long the commit took.
    static let longestRest: Duration = .milliseconds(2)
    /// The time for which they wait for others.
    static let gathering: Duration = .milliseconds(10)
    /// Whether other nodes use the store at this time.
    var isShared = false

    private var next: MonotonicTime = 0
    /// The time at which the next commit may begin that nobody awaits.
    private(set) var endsAt: MonotonicTime = 0

    mutating func ended(begunAt begun: MonotonicTime, at now: MonotonicTime, isAwaited: Bool = true) {
        next = now + min(max(now - begun, .zero), CommitPace.longestRest)
        if !isAwaited { endsAt = now + CommitPace.gathering }
    }

    /// Returns the time until the next commit may begin; `nil`: it may begin now.
    func rest(at now: MonotonicTime) -> Duration? { now < next ? next - now : nil }
}
