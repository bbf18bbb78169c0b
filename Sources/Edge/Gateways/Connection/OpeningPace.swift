import Clocks
import Relay

/// How soon another connection may be opened: at once after one that worked, with growing pauses after those that
/// didn't, and never in a storm, which Apple takes for an attack.
struct OpeningPace: Equatable, Sendable {
    static let firstPause: Duration = .milliseconds(500)
    static let longestPause: Duration = .seconds(60)
    /// The openings that may follow each other without pause.
    static let burst = 60
    /// The time after which one of these openings comes back.
    static let refill: Duration = .seconds(1)
    /// The time for which a connection must have stood to be no failure, if it was never used.
    static let longLife: Duration = .seconds(60)
    /// The pause between two connections that are given up because they only fail: it may be the gateway that
    /// fails.
    static let replacementPause: Duration = .seconds(60)

    private var backoff = Backoff(first: firstPause, longest: longestPause)
    /// The failures since the last connection that worked.
    var failures: Int { backoff.failures }
    private var replacedAt: MonotonicTime?
    private var notBefore = MonotonicTime.longAgo
    private var tokens = burst
    private var countedAt = MonotonicTime.longAgo

    /// Returns the earliest time at which the next connection may be opened.
    func nextOpening(at time: MonotonicTime) -> MonotonicTime {
        var pace = self
        pace.refill(at: time)
        return max(notBefore, pace.tokens > 0 ? time : pace.countedAt + OpeningPace.refill)
    }

    mutating func opening(at time: MonotonicTime) {
        refill(at: time)
        tokens = max(0, tokens - 1)
    }

    /// Notes that a connection has ended, or could not be opened.
    ///
    /// - Parameters:
    ///   - answers: The number of requests that the connection has answered.
    ///   - requests: The number of requests that were sent over it. If it has answered none of them, it was no use however
    ///     long it stood.
    ///   - openedAt: The time since when it stood; `nil`: it never did, however long that took.
    mutating func ended(
        answers: Int, of requests: Int, openedAt: MonotonicTime?, at time: MonotonicTime,
        using random: inout some RandomNumberGenerator
    ) {
        let isLongLived = openedAt.map { requests == 0 && time - $0 >= OpeningPace.longLife } ?? false
        guard answers == 0, !isLongLived else {
            reset(at: time)
            return
        }
        notBefore = max(notBefore, time + backoff.next(using: &random))
    }

    /// Takes the right to give up a connection that only fails for another one, and notes the time.
    ///
    /// - Returns: Whether it may be given up now; false while the pause after the one before lasts, which changes nothing.
    mutating func takeReplacement(at time: MonotonicTime) -> Bool {
        if let replacedAt, time - replacedAt < OpeningPace.replacementPause { return false }
        replacedAt = time
        return true
    }

    /// Lets the next try be made at once: what stood in the way is gone.
    mutating func reset(at time: MonotonicTime) {
        backoff.reset()
        notBefore = time
    }

    private mutating func refill(at time: MonotonicTime) {
        guard tokens < OpeningPace.burst else {
            countedAt = time
            return
        }
        let come = (time - countedAt).nanoseconds / OpeningPace.refill.nanoseconds
        tokens = Int(min(Int64(tokens) + come, Int64(OpeningPace.burst)))
        countedAt = countedAt + OpeningPace.refill * come
    }
}
