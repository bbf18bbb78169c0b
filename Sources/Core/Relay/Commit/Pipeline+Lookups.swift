/// Repetitions of what is known, where a new one would be refused.
extension Pipeline {
    /// Refuses a submission: there is no room for it, or its device is dead. A repetition hears what became
    /// of the first submission all the same: the outbox is asked, with the next commit.
    mutating func refuse(
        _ submission: Submission, _ digests: SubmissionDigests, _ refusal: Receipt, from door: Int,
        awaitsOutcome: Bool, at now: Instant
    ) -> Submitted {
        guard !submission.isNeverRepeated, commits.mayLookUp else {
            return .answered(refusal)
        }
        let reply = senders.newID()
        commits.lookUp(
            digests,
            for: Ticket(
                purpose: .lookUp(refusal: refusal), door: door, submittedAt: now.monotonic,
                awaitsOutcome: awaitsOutcome, reply: reply))
        scheduleCommit(at: now.monotonic)
        return .storing(reply, NotificationID(digests))
    }

    mutating func settleLookup(
        _ ticket: Ticket, _ result: StoreResult, refusal: Receipt, at now: Instant
    ) {
        switch result {
        case .alreadyWaiting(let sequence): settleWaiting(ticket, sequence, at: now)
        case .alreadyKept(let sequence): settleKept(ticket, sequence, at: now)
        case .alreadyEnded(let ending): answer(ticket, .ended(ending), isRepetition: true, at: now)
        case .conflict: answer(ticket, .refused(.duplicateUid), at: now)
        case .unknown, .stored, .tooMany: answer(ticket, refusal, at: now)
        }
    }
}
