import Encodings

/// The number of a sender's way to hear more, at the edge that keeps it. Small, and used again after its last receipt.
package struct ReplyID: Hashable, Sendable {
    package let index: Int
}

/// An action for the edge. Actions are done in the order in which they are given.
package enum Effect: Equatable, Sendable {
    /// Tells a sender. `isLast`: the sender hears nothing more, and the id may name another one.
    case tell(ReplyID, Receipt, isLast: Bool)
    /// The sender hears nothing more.
    case drop(ReplyID)
    /// Hands a notification to the gateway of its lane; what became of it goes to ``Pipeline/attemptEnded(_:_:at:using:)``.
    case send(Pipeline.Handle, Notification, lane: Int)
    /// Reads notifications: ``Pipeline/loaded(_:of:lane:at:)`` or ``Pipeline/loadFailed(_:of:lane:at:)``.
    case load([Int64], lane: Int)
    /// Claims notifications: ``Pipeline/claimed(_:by:at:)`` or ``Pipeline/claimFailed(_:at:)``.
    case claim(Claim)
    /// Asks how the store is shared: ``Pipeline/divided(_:at:)`` or ``Pipeline/divideFailed(at:)``.
    case divide(ShareRequest)
    /// Begins a commit as soon as the loop has nothing else to do: ``Pipeline/beginCommit(at:)``.
    case commitSoon
    /// Stopping is over: nothing is on its way any more, or there is no more time.
    case stopped

    /// This place among ``Pipeline/lanes`` has been taken by a lane; what was counted for it belongs to another one.
    case laneOpened(Int)
    /// The lane at this place has been idle: its gateway goes. The place may be another one's by now, so here is under which
    /// name it was shown.
    case laneClosed(Int, shown: LaneID)
    case blocked(lane: Int, reason: String)
    case unblocked(lane: Int)
    /// Tells the operator of a gateway that fails.
    case trouble(LaneTrouble.News, lane: Int)
    case outboxFailed(OutboxError)
    case outboxRecovered
    /// The clock was set by so much, now or between two processes.
    case clockSet(by: Duration)
    /// The division of the store has changed. `shards` is the number of shards that are this node's.
    case shared(shards: Int, nodes: Int)

    /// Counts the first receipt of a submission, so long after it came by a door.
    case received(Receipt, isRepetition: Bool, door: Int, after: Duration)
    /// Counts a submission whose first receipt was its end, before it was stored, so long after it came
    /// by a door.
    case neverStored(door: Int, after: Duration)
    /// A gateway has refused what this sender brought, or called its device dead.
    case refused(SenderID)
    /// Counts an attempt that has to be repeated.
    case deferred(reason: String, lane: Int)
    /// Counts a notification that has left the books.
    case ended(Pipeline.End)
    /// Counts a notification that its gateway keeps.
    case kept(Pipeline.Leaving)
    /// Counts a commit that took so long.
    case committed(after: Duration)
}
