import Clocks
import Relay

/// Refusals of good credentials by an ntfy server, which passes: asked for many things at once it answers 403 (40301) now
/// and then to a user that may write (seen with 2.11 and 2.27).
///
/// A refusal therefore counts only when another came before, a second ago or longer, and nothing was taken
/// between them.
struct LoneRefusals: Equatable, Sendable {
    static let pause: Duration = .seconds(1)
    private var refusedSince: MonotonicTime?

    mutating func accepted() { refusedSince = nil }

    /// Notes a refusal.
    ///
    /// - Returns: Whether it stands alone: the server is to be asked again before this refusal counts.
    mutating func noteRefusal(at time: MonotonicTime) -> Bool {
        guard let refusedSince else {
            self.refusedSince = time
            return true
        }
        return time - refusedSince < LoneRefusals.pause
    }
}
