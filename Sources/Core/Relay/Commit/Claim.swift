import Clocks

/// Asks the outbox for notifications of its backlog.
package struct Claim: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// The notifications of a lane that are due: first those that were put off, then the others by rank
        /// and sequence number. Rank is: urgent without an earlier one of its device in the backlog that is
        /// not urgent, then all others. So no notification comes before an earlier one of its device.
        case due(LaneID)
        /// The notifications of all lanes that have expired.
        case expired
    }

    package let kind: Kind
    /// The present by a clock that is not set while the node runs.
    package let time: UnixTime
    /// The highest sequence number that is asked for.
    package let last: Int64
    package let limit: Int

    package init(_ kind: Kind, at time: UnixTime, last: Int64, limit: Int) {
        self.kind = kind
        self.time = time
        self.last = last
        self.limit = limit
    }

    /// A time after all others: such a claim takes notifications whether they are due or not.
    static let anyTime = UnixTime(milliseconds: .max / 2)

    /// The longest time, in milliseconds, for which a notification is put off. A later time was written by a clock that was
    /// wrong.
    package static let longestWait: Int64 = 86_400_000 + 60_000

    /// The spans of time within which a notification's end of waiting lies when this claim takes it: in the past, or so far
    /// ahead that a wrong clock must have written it. A span excludes its start and includes its end.
    package var spared: [(start: UnixTime, end: UnixTime)] {
        let latest = time.milliseconds.addingReportingOverflow(Claim.longestWait).partialValue
        return [(0, time), (UnixTime(milliseconds: latest), .max)]
    }
}

/// The rows that a ``Claim`` brought.
package struct Claimed: Equatable, Sendable {
    package struct Row: Equatable, Sendable {
        package let row: WaitingRow
        package let notification: Notification

        package init(_ row: WaitingRow, _ notification: Notification) {
            self.row = row
            self.notification = notification
        }
    }

    package var rows: [Row]
    /// The time when the next postponed notification of the lane is due; `nil`: none is postponed.
    package var nextDue: UnixTime?
    /// Whether the claim was refused because notifications have arrived from other nodes that this node has not counted yet.
    /// Claimed now, they would be counted twice.
    package var isEarly: Bool

    package init(_ rows: [Row] = [], nextDue: UnixTime? = nil, isEarly: Bool = false) {
        self.rows = rows
        self.nextDue = nextDue
        self.isEarly = isEarly
    }
}

/// How many notifications of a lane are in the backlog.
package struct LaneBacklog: Equatable, Sendable {
    package let lane: LaneID
    package let waiting: Int
    package let bytes: Int
    /// The time of about the oldest.
    package let oldestAcceptedAt: UnixTime
    /// The device that all of them are for; `nil`: there may be several.
    package let device: Digest?

    package init(lane: LaneID, waiting: Int, bytes: Int, oldestAcceptedAt: UnixTime, device: Digest? = nil) {
        self.lane = lane
        self.device = device
        self.waiting = waiting
        self.bytes = bytes
        self.oldestAcceptedAt = oldestAcceptedAt
    }
}

/// How much of what waits is in memory. What is beyond it waits in the backlog, on disk only.
package struct Window: Sendable {
    /// The most notifications of one lane in memory.
    package var perLane = 4096
    /// The most notifications of all lanes together in memory.
    package var total = 16_384
    /// The most notifications of one lane in memory while ``total`` is reached.
    package var least = 64
    /// How many are claimed at a time, when no more than half as many wait in memory.
    package var claim = 512

    package init() {}
}
