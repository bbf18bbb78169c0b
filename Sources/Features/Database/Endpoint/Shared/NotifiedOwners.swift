import Clocks
import Reactor
import Relay

/// The rule for when another node is notified that something was stored for it: not with each commit.
///
/// A node that is notified polls at once and, ``Ownership/intervalNotified`` later, once more: that poll finds what was stored
/// meanwhile without a notice. Where there are more than two nodes it is not known here which of them was notified of what,
/// so that each commit notifies.
struct NotifiedOwners {
    /// The number of living nodes, this one included.
    var nodes = 0
    /// The time from which on an owner is notified again.
    private var nextAt = MonotonicTime.longAgo

    /// The least time between two notices; less than the time after which a notified node polls once more.
    static let interval = Duration.milliseconds(40)

    /// Takes the turn to notify an owner that something was stored for it, and notes when the next one is.
    ///
    /// - Returns: Whether the owner is to be notified now; if not, nothing changes.
    mutating func takeTurn(at time: MonotonicTime) -> Bool {
        guard nodes == 2, time < nextAt else {
            nextAt = time + NotifiedOwners.interval
            return true
        }
        return false
    }
}
