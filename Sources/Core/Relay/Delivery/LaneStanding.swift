import Clocks

/// The record of a lane's gateway: who brought the lane, and whether the gateway has taken or failed anything since.
///
/// A lane to an origin that has never taken anything belongs to the sender who brought it, and gives its gateway away once
/// it has had its try: see `Pipeline+Origins.swift`.
struct LaneStanding: Sendable {
    /// The sender of the first notification that the lane was made for; `nil`: one without an identity.
    let broughtBy: SenderID?
    /// Whether the gateway has taken a notification since the start, or some waited for it then.
    private(set) var isProven = false
    /// Whether the gateway has taken a notification since the lane was made, or is known to have taken one before.
    private(set) var hasDelivered: Bool
    /// Whether the gateway has failed, or refused a notification, since the lane was made or got it again.
    private(set) var hasFailed = false
    /// The time at which the lane was made, or got its gateway again.
    private(set) var openedAt: MonotonicTime

    init(broughtBy: SenderID?, hasDelivered: Bool, at time: MonotonicTime) {
        (self.broughtBy, self.hasDelivered) = (broughtBy, hasDelivered)
        openedAt = time
    }

    /// Notes that the gateway has taken a notification.
    mutating func delivered() { (isProven, hasDelivered) = (true, true) }

    /// Notes that a notification waited for the gateway at the start.
    mutating func hadWaiting() { isProven = true }

    /// Notes that the gateway has failed, or refused a notification.
    mutating func failed() { hasFailed = true }

    /// Notes that the lane may have a gateway again.
    mutating func reopened(at time: MonotonicTime) {
        hasFailed = false
        openedAt = time
    }
}
