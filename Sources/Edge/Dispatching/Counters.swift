import Clocks
import Figures
import Reactor
import Relay

/// The counter of a door's figures. A door gets it from ``Dispatcher/door(_:)`` and names it with each submission.
@EventLoop
package final class DoorCounter {
    /// The label of metrics: lower-case letters, digits and `_`.
    package let name: String
    /// The door's place in the order in which they were made.
    let index: Int
    // Each access is over at once, as in `Stream`: two cannot overlap, so Swift need not look.
    @exclusivity(unchecked) package private(set) var figures = DoorFigures()

    init(name: String, index: Int) {
        self.name = name
        self.index = index
    }

    /// Counts what the door's own protocol has beside notifications.
    package func count(_ event: String) { figures.events.add(event) }

    /// Counts a submission that came to its end before it was stored.
    ///
    /// - Parameter time: Nanoseconds since the submission.
    func countUnstored(after time: Int64) {
        figures.receiptTime.add(time)
        figures.unstored += 1
    }

    /// Counts a submission by its first receipt.
    ///
    /// - Parameter time: Nanoseconds since the submission.
    func count(_ receipt: Receipt, isRepetition: Bool = false, isProbe: Bool = false, after time: Int64) {
        figures.receiptTime.add(time)
        guard !isProbe else {
            figures.probes += 1
            return
        }
        guard !isRepetition else {
            figures.duplicates += 1
            return
        }
        switch receipt {
        case .stored: figures.stored += 1
        case .held, .kept: break  // Never the first receipt.
        case .busy(.device): figures.busyDevice += 1
        case .busy(.node): figures.busyNode += 1
        case .ended(.refused(let reason, _)), .ended(.tokenDead(let reason, _)):
            figures.refused.add(reason.code)
        case .ended(.delivered), .ended(.expired): break  // Only ever of a repetition.
        }
    }
}

extension LaneFigures {
    mutating func count(_ end: Pipeline.End, at time: MonotonicTime) {
        guard !end.isProbe else {
            probes += 1
            lastProbe = time
            lastJudgement = time
            return
        }
        if end.ending == .delivered { deliveryTime.add((time - end.submittedAt).nanoseconds) }
        count(end.ending, at: time)
    }

    /// Counts a notification that its gateway has, and that is not delivered yet.
    mutating func countKept(at time: MonotonicTime) {
        kept += 1
        lastJudgement = time
    }

    mutating func count(_ ending: Ending, at time: MonotonicTime) {
        switch ending {
        case .delivered:
            delivered += 1
            lastDelivery = time
        case .refused(let reason, _): refused.add(reason.code)
        case .tokenDead(let reason, _): tokensDead.add(reason.code)
        case .expired:
            expired += 1
            return
        }
        lastJudgement = time
    }
}
