import Testing

@testable import Relay

/// What a gateway keeps until its phone fetches it: stored, and later delivered.
@Suite struct KeptTests {
    private func tells(_ node: Node) -> [Receipt] {
        node.takeEffects().compactMap { if case .tell(_, let receipt, _) = $0 { receipt } else { nil } }
    }

    /// Stores one whose sender waits for the outcome, and has it kept.
    @discardableResult
    private func keep(_ node: Node, _ submission: Submission) throws -> Int64 {
        guard case .storing = node.submit(submission, awaitsOutcome: true) else { return 0 }
        node.begin()
        let sequence = node.number()
        #expect(node.commit([.stored(sequence: sequence)]) == [.stored])
        let handle = try #require(node.send())
        _ = node.takeEffects()
        node.pipeline.attemptEnded(handle, .kept, at: node.now, using: &node.random)
        #expect(tells(node) == [.kept], "nobody has to wait for a phone that is away")
        return sequence
    }

    @Test func itLeavesTheOutboxAndItsSenderHearsTheEndLater() throws {
        let node = Node()
        let sequence = try keep(node, Sample.android())
        #expect(node.take() == [], "its gateway has taken it out")
        #expect(node.pipeline.waiting == 0)
        #expect(tells(node).isEmpty)
        node.pipeline.keptEnded(sequence, .delivered)
        #expect(tells(node) == [.ended(.delivered)])
        node.pipeline.keptEnded(sequence, .delivered)
        #expect(tells(node).isEmpty, "once")
    }

    @Test func theBoundOfADeviceDoesNotApply() throws {
        let node = Node()
        for number in 0..<(2 * node.pipeline.limits.waitingPerToken) {
            node.pass(.seconds(10))
            try keep(node, Sample.android("\(number)"))
        }
        #expect(node.pipeline.waiting == 0)
    }

    @Test func aRepetitionIsStoredAndHearsTheEndToo() throws {
        let node = Node()
        let sequence = try keep(node, Sample.android())
        _ = node.submit(Sample.android(), awaitsOutcome: true)
        node.begin()
        #expect(node.commit([.alreadyKept(sequence: sequence)]) == [.stored, .kept])
        #expect(node.accept(Sample.android(), result: .alreadyKept(sequence: sequence)) != 0)
        _ = tells(node)
        node.pipeline.keptEnded(sequence, .expired)
        #expect(tells(node) == [.ended(.expired), .ended(.expired)])
    }

    /// The commit found it kept, and the acknowledgement was quicker than its answer.
    @Test func whatEndsWhileACommitRunsIsToldByIt() throws {
        let node = Node()
        let sequence = try keep(node, Sample.android())
        _ = node.submit(Sample.android(), awaitsOutcome: true)
        node.begin()
        node.pipeline.keptEnded(sequence, .delivered)
        #expect(tells(node) == [.ended(.delivered)], "the first one")
        #expect(node.commit([.alreadyKept(sequence: sequence)]) == [.ended(.delivered)])
    }

    @Test func ofTooManyThatAreAwaitedTheOldestHearsNothingMore() {
        var kept = Kept()
        for sequence in 1...Int64(Kept.most) { #expect(kept.listen(to: sequence) == nil) }
        #expect(kept.listen(to: 1) == nil, "it is among them")
        kept.end(1, .delivered, isCommitting: false)
        #expect(kept.listen(to: 10_000) == nil)
        #expect(kept.listen(to: 10_001) == 2)
        #expect(kept.listen(to: 10_002) == 3)
        #expect(kept.ending(of: 1) == nil)
    }

    @Test func aFullMailboxIsToldAndTriedAgain() throws {
        let node = Node()
        let full = Outcome.refused(reason: Reason.mailboxFull, kind: .full)
        _ = node.submit(Sample.android(), awaitsOutcome: true)
        node.begin()
        node.commit([.stored(sequence: node.number())])
        let ends = node.end(try #require(node.send()), full)
        let ending = try #require(ends[1])
        #expect(!ending.isRemembered)
        guard case .failed(let failure) = Receipt.ended(ending).answer else {
            Issue.record("no failure")
            return
        }
        #expect(failure.kind == .full)
    }
}
