/// Submissions to an alias.
extension Pipeline {
    /// Submits a copy for each phone of an alias. The copies come into the same commit, and their sender
    /// hears of them as of one notification.
    mutating func submit(
        _ copies: [Submission], from door: Int, awaitsOutcome: Bool, at now: Instant,
        digests makeDigests: (Recipient) -> SubmissionDigests
    ) -> Submitted {
        var group = AliasSenders.Group(awaitsOutcome: awaitsOutcome)
        var stored: [(reply: ReplyID, place: Int)] = []
        var first: NotificationID?
        for copy in copies {
            let submitted = submitOne(
                copy, from: door, awaitsOutcome: awaitsOutcome, at: now, digests: makeDigests)
            switch submitted {
            case .answered(let receipt): group.add(receipt)
            case .storing(let reply, let id):
                stored.append((reply, group.addUnanswered()))
                if first == nil { first = id }
            }
        }
        guard let first else { return .answered(group.verdict) }
        let sender = senders.newID()
        aliasSenders.add(group, of: sender, waitingFor: stored)
        return .storing(sender, first)
    }

    mutating func tellSender(of reply: ReplyID, _ news: AliasSenders.News?) {
        guard let news else { return }
        for word in news.words {
            switch word {
            case .receipt(let receipt, let isLast):
                effects.append(.tell(news.sender, receipt, isLast: isLast))
                if isLast, news.sender != reply { senders.leave(news.sender) }
            case .nothingMore:
                effects.append(.drop(news.sender))
                if news.sender != reply { senders.leave(news.sender) }
            }
        }
    }
}
