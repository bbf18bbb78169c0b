import Clocks
import Encodings

/// A record of whether a lane's gateway fails again and again. The operator hears of such trouble when it begins, every ten
/// minutes while it lasts, and when it is over.
///
/// A notification that is sent again and then taken is no trouble, nor is one that came back unharmed or is too much for one
/// device; a blocked lane has an event of its own.
package struct LaneTrouble: Equatable, Sendable {
    package enum News: Equatable, Sendable {
        /// The last attempts came to nothing, the newest for this
        /// reason; `attempts` is how many of them in a row.
        case failing(reason: String, attempts: Int)
        case recovered(attempts: Int, after: Duration)
    }

    /// The number of attempts in a row that are trouble when they lasted for ``lasting``.
    static let few = 3
    /// The number of attempts in a row that are trouble in any case.
    static let many = 20
    static let lasting: Duration = .seconds(5)
    static let interval: Duration = .seconds(600)
    /// The shortest time between two events about a gateway that comes and goes.
    static let shortestInterval: Duration = .seconds(60)

    private var attempts = 0
    private var since: MonotonicTime = 0
    private var isReported = false
    private var reportedAt: MonotonicTime?

    mutating func note(_ outcome: Outcome, at time: MonotonicTime) -> News? {
        switch outcome {
        case .accepted, .kept, .refused, .tokenDead:
            defer {
                attempts = 0
                isReported = false
            }
            return isReported ? .recovered(attempts: attempts, after: (time - since)) : nil
        case .blocked: return nil
        case .deferred(let deferral):
            guard !deferral.isUnharmed, !deferral.isThrottle else { return nil }
            if attempts == 0 { since = time }
            attempts += 1
            guard isTrouble(at: time), isDue(at: time) else { return nil }
            isReported = true
            reportedAt = time
            return .failing(reason: deferral.reason, attempts: attempts)
        }
    }

    private func isTrouble(at time: MonotonicTime) -> Bool {
        attempts >= LaneTrouble.many
            || attempts >= LaneTrouble.few && time - since >= LaneTrouble.lasting
    }

    private func isDue(at time: MonotonicTime) -> Bool {
        guard let reportedAt else { return true }
        let interval = isReported ? LaneTrouble.interval : LaneTrouble.shortestInterval
        return time - reportedAt >= interval
    }
}
