import Clocks
import Encodings

/// Which app gets a submission when the one that it names can deliver nothing for long.
extension Pipeline {
    /// Turns a submission to the stand-in of its app when nothing gets through its lane before the operator has mended
    /// something, and has not for long.
    ///
    /// - Parameters:
    ///   - standIn: the name of another app; empty: there is none.
    ///   - patience: a lane that is blocked for less is waited for.
    /// - Returns: Why nothing gets through, where there is no stand-in, or it is blocked for long itself; `nil`: it goes
    ///   where it says.
    package mutating func route(
        _ submission: inout Submission, standIn: String, patience: Duration, at now: Instant
    ) -> String? {
        guard let reason = longBlock(of: submission, patience, at: now) else { return nil }
        // What was handed on by another node can't go that way.
        guard !standIn.isEmpty, submission.app != standIn, submission.hops == 0 else { return reason }
        var other = submission
        other.app = standIn
        if let reason = longBlock(of: other, patience, at: now) { return reason }
        submission = other
        return nil
    }

    /// Returns the reason why the lane that a submission would go to is blocked, if it is for long.
    private func longBlock(of submission: Submission, _ patience: Duration, at now: Instant) -> String? {
        // As good as never: then nothing else is looked at.
        guard delivery.lanes.contains(where: { $0.block != nil }),
            let recipient = try? validator.recipient(of: submission).0,
            let lane = delivery.lane(recipient.lane), let block = delivery.lanes[lane].block,
            now.monotonic - block.since >= patience
        else { return nil }
        return block.reason
    }
}
