import Clocks
import Relay

/// The rule for when a node may take what another node seems to have lost.
///
/// A lease ends by the store's clock, and its node renews it every two seconds. When that clock has jumped, or nobody could
/// renew a lease because the store was away, leases of nodes that live seem to have ended. Everyone gets the time of a lease
/// then, counted by this node's own clock, to renew it first.
struct TakeOverPatience: Sendable {
    /// One answer of the store, with its clock.
    struct Look: Equatable, Sendable {
        /// The time by the store's clock, between the question and the answer.
        var storeTime: UnixTime
        var askedAt: MonotonicTime
        var answeredAt: MonotonicTime

        /// Whether the store's clock has gone otherwise than this node's between two looks.
        fileprivate func isJump(after last: Look) -> Bool {
            let (advance, isOverflow) = storeTime.milliseconds.subtractingReportingOverflow(
                last.storeTime.milliseconds)
            let least = (askedAt - last.answeredAt).milliseconds - TakeOverPatience.step
            let most = (answeredAt - last.askedAt).milliseconds + TakeOverPatience.step
            return isOverflow || advance < least || advance > most
        }
    }

    /// The milliseconds by which two clocks may differ between two looks without a jump. A lease lasts longer.
    private static let step: Int64 = 1000

    private let lease: Duration
    private var last: Look?
    private var endsAt = MonotonicTime.longAgo

    /// Makes the patience of a node that has not looked yet.
    ///
    /// - Parameter lease: How long the store lets nobody else have what a node has.
    init(lease: Duration = SharedNode.lease) { self.lease = lease }

    /// Notes a look.
    ///
    /// - Returns: Whether a lease that seems to have ended has ended.
    mutating func note(_ look: Look) -> Bool {
        if let last, look.isJump(after: last) || look.answeredAt - last.answeredAt > lease / 2 {
            endsAt = look.answeredAt + lease
        }
        last = look
        return look.answeredAt >= endsAt
    }
}
