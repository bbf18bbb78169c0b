import Clocks
import Relay

/// Refusals of good credentials by an ntfy server, which passes: asked for many things at once it answers 403 (40301) now
/// and then to a user that may write (seen with 2.11 and 2.27).
///
/// A refusal therefore counts only when another came before, a second to an hour ago, and nothing was taken between them.
/// From then on all count, until something is taken.
struct LoneRefusals: Equatable, Sendable {
    static let pause: Duration = .seconds(1)
    /// The time for which a refusal waits for another one. An older one was alone: what it was for has ended otherwise.
    static let memory: Duration = .seconds(3600)

    private enum State: Equatable {
        case wellOrUnknown
        case refused(since: MonotonicTime)
        case believed
    }

    private var state = State.wellOrUnknown

    mutating func accepted() { state = .wellOrUnknown }

    /// Notes a refusal.
    ///
    /// - Returns: Whether it stands alone: the server is to be asked again before this refusal counts.
    mutating func noteRefusal(at time: MonotonicTime) -> Bool {
        switch state {
        case .refused(let since) where time - since < LoneRefusals.pause: return true
        case .refused(let since) where time - since < LoneRefusals.memory:
            state = .believed
            return false
        case .wellOrUnknown, .refused:
            state = .refused(since: time)
            return true
        case .believed: return false
        }
    }
}
