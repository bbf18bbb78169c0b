@testable import Relay

/// Gateways that keep notifications in the node's own store until phones fetch them.
extension World {
    /// A lane that keeps all, and one that does so now and then.
    func keeping(_ verdict: ModelGateway.Verdict, in lane: LaneID) -> ModelGateway.Verdict {
        guard verdict.outcome == .accepted,
            lane == World.lanes[2] || lane == World.android && draw(4) == 0
        else { return verdict }
        return ModelGateway.Verdict(
            outcome: .kept, isTaken: true, isTakenOnArrival: verdict.isTakenOnArrival)
    }

    /// It is in the gateway's tables and no more in the outbox, with one commit; the node has not heard of it.
    func keep(_ sequence: Int64) {
        keepBeside(sequence, outbox.rows[sequence]?.notification)
        outbox.keep(sequence, fail)
        keptUnheard.append(sequence)
    }

    func hearOfKept(_ sequence: Int64) {
        keptUnheard.removeAll { $0 == sequence }
        kept.append(sequence)
        books.keep(sequence)
        shares.end(sequence)
        healthySince[sequence] = nil
    }

    /// A phone acknowledges one, or one expires where it lies.
    func fetch() {
        guard !kept.isEmpty else { return }
        let sequence = kept.remove(at: draw(kept.count))
        let ending: Ending = draw(8) == 0 ? .expired : .delivered
        endKeptBeside(sequence, ending)
        let identity = outbox.keptEnded(sequence, ending)
        if let identity, !ending.isRemembered {
            _ = outbox.takeForgotten()
            senders.forget(identity)
        }
        books.keptEnded(ending)
        pipeline.keptEnded(sequence, ending)
        carryOut()
    }
}
