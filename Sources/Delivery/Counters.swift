import Metrics
import Reactor
import Relay

/// What came in by one door since the start. A door gets it from ``Dispatcher/door(_:)`` and names it with each
/// submission. Counts only: nothing here is about one device.
@EventLoop
package final class DoorFigures {
    /// The label of metrics: lower-case letters, digits and `_`.
    package let name: String
    package private(set) var stored = 0
    /// Repetitions of what was stored before.
    package private(set) var duplicates = 0
    /// No room for this device.
    package private(set) var busyDevice = 0
    /// No room in the node, or its outbox fails, or it is stopping.
    package private(set) var busyNode = 0
    /// Refused before anything was stored, by reason word.
    package private(set) var refused = WordCounts()
    /// From the submission to its first receipt, whatever that says.
    package private(set) var receiptTime = Histogram()

    init(name: String) { self.name = name }

    package var submitted: Int { stored + duplicates + busyDevice + busyNode + refused.total }

    /// - Parameter time: Nanoseconds since the submission.
    func count(_ receipt: Receipt, isRepetition: Bool = false, after time: Int64) {
        receiptTime.add(time)
        guard !isRepetition else {
            duplicates += 1
            return
        }
        switch receipt {
        case .stored: stored += 1
        case .held: break  // Never the first receipt.
        case .busy(.device): busyDevice += 1
        case .busy(.node): busyNode += 1
        case .ended(.refused(let reason, _)), .ended(.tokenDead(let reason, _)): refused.add(reason)
        case .ended(.delivered), .ended(.expired): break  // Only ever of a repetition.
        }
    }
}

/// What became of the notifications of one lane since the start.
package struct LaneFigures: Equatable, Sendable {
    package private(set) var delivered = 0
    package private(set) var expired = 0
    /// Refusals, by the gateway's word.
    package private(set) var refused = WordCounts()
    /// Dead tokens, by the gateway's word; those that waited for such a token with it.
    package private(set) var tokensDead = WordCounts()
    /// Times that a notification was handed to the gateway.
    package internal(set) var attempts = 0
    /// Attempts that have to be repeated, by reason.
    package internal(set) var deferred = WordCounts()
    /// From the submission to the gateway's yes.
    package private(set) var deliveryTime = Histogram()
    /// Monotonic nanoseconds of the last delivery, and of the gateway's last word on any notification; `nil`: none yet.
    package private(set) var lastDelivery: Int64?
    package private(set) var lastJudgement: Int64?

    mutating func count(_ end: Pipeline.End, at time: Int64) {
        switch end.ending {
        case .delivered:
            delivered += 1
            deliveryTime.add(time - end.acceptedAt)
            lastDelivery = time
        case .refused(let reason, _): refused.add(reason)
        case .tokenDead(let reason, _): tokensDead.add(reason)
        case .expired:
            expired += 1
            return
        }
        lastJudgement = time
    }
}

/// What the outbox did since the start.
package struct CommitFigures: Equatable, Sendable {
    package internal(set) var done = 0
    package internal(set) var failed = 0
    /// From the request to the answer, of those that were done.
    package internal(set) var time = Histogram()
}

/// All doors and lanes together.
package struct Counters: Equatable, Sendable {
    package var submitted = 0
    package var stored = 0
    package var duplicates = 0
    package var busy = 0
    package var refusedByReason = WordCounts()
    package var delivered = 0
    package var tokensDead = 0
    package var expired = 0
    package var refusedByGateway = WordCounts()
    package var attempts = 0
    package var deferred = WordCounts()
    package var commits = 0
    package var failedCommits = 0

    @EventLoop
    init(doors: [DoorFigures], lanes: [LaneFigures], commits: CommitFigures) {
        for door in doors {
            submitted += door.submitted
            stored += door.stored
            duplicates += door.duplicates
            busy += door.busyDevice + door.busyNode
            refusedByReason.add(door.refused)
        }
        for lane in lanes {
            delivered += lane.delivered
            tokensDead += lane.tokensDead.total
            expired += lane.expired
            refusedByGateway.add(lane.refused)
            attempts += lane.attempts
            deferred.add(lane.deferred)
        }
        self.commits = commits.done
        failedCommits = commits.failed
    }
}
