import Reactor
import Relay

/// The rule for when another node hears that something was stored for it: not with each commit.
///
/// Who was told looks at once and, ``Ownership/intervalTold`` later, once more: what was put there meanwhile is seen without
/// a word. Where there are more than two nodes it is not known here who was told of what, so that each commit tells.
struct ToldOwners {
    /// Nodes that live, this one among them.
    var nodes = 0
    /// Monotonic nanoseconds from which on there is a word again.
    private var next = Int64.min

    /// Less than the time after which who was told looks once more.
    static let interval = Duration.milliseconds(40)

    /// Takes the turn to tell an owner that something was put there, and notes when the next one is.
    ///
    /// - Returns: Whether the owner is to be told now; if not, nothing changes.
    mutating func takeTurn(at time: Int64) -> Bool {
        guard nodes == 2, time < next else {
            next = time + ToldOwners.interval.nanoseconds
            return true
        }
        return false
    }
}
