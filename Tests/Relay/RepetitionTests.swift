import Testing
import Vectors

@testable import Relay

/// A repetition hears of the first also where a new one would be refused.
@Suite struct RepetitionTests {
    private func node(_ change: (inout Admission.Limits) -> Void = { _ in }) -> Node {
        var limits = Admission.Limits()
        change(&limits)
        return Node(limits: limits, mostLookups: 2)
    }

    /// Submits; what is told with a commit in which the outbox answers so.
    private func told(_ node: Node, _ submission: Submission, _ result: StoreResult) -> [Receipt] {
        guard case .storing = node.submit(submission) else { return [] }
        let changes = node.begin()
        #expect(changes.contains { if case .lookUp = $0 { true } else { false } })
        return node.commit([result])
    }

    /// It was delivered, and the token died after it.
    @Test func whoWasDeliveredIsNotToldOfADeadToken() throws {
        let node = node()
        node.accept(Sample.android())
        node.end(try #require(node.send()), .accepted)
        node.accept(Sample.android(message: "QUJD" + Sample.message))
        node.end(try #require(node.send()), .tokenDead(reason: "Unregistered", since: nil))
        _ = node.take()
        #expect(told(node, Sample.android(), .alreadyEnded(.delivered)) == [.ended(.delivered)])
        let news = told(node, Sample.android(message: "QUJDQUJD" + Sample.message), .unknown)
        guard news.count == 1, case .ended(.tokenDead(reason: .unregistered, _))? = news.first else {
            Issue.record("\(news)")
            return
        }
        #expect(node.pipeline.waiting == 0)
    }

    @Test(arguments: [true, false]) func whoIsStoredIsNotToldToComeAgain(isOfNode: Bool) {
        let node = node {
            if isOfNode { $0.waiting = 1 } else { $0.waitingPerToken = 1 }
        }
        node.accept(Sample.android("a"))
        #expect(told(node, Sample.android("a"), .alreadyWaiting(sequence: 1)) == [.stored])
        #expect(told(node, Sample.android("b"), .conflict) == [.refused(.duplicateUid)])
        let news = told(node, Sample.android("c"), .unknown)
        guard news.count == 1, case .busy? = news.first else {
            Issue.record("\(news)")
            return
        }
        #expect(node.pipeline.waiting == 1)
    }

    /// Whoever is refused costs no more than a look, and of these there are so many in a commit.
    @Test func soManyAreLookedUpInACommit() {
        let node = node { $0.waiting = 1 }
        node.accept(Sample.android("a"))
        let answers = (0..<5).map { node.submit(Sample.android("\($0)")) }
        #expect(answers.count { if case .storing = $0 { true } else { false } } == 2)
        node.begin()
        #expect(node.commit([.unknown, .unknown]).count == 2)
        guard case .storing = node.submit(Sample.android("x")) else { return #expect(Bool(false)) }
    }

    /// The outbox can't be asked: what is refused is refused.
    @Test func whereTheOutboxFailsTheRefusalHolds() {
        let node = node { $0.waiting = 1 }
        node.accept(Sample.android("a"))
        _ = node.submit(Sample.android("b"))
        node.begin()
        _ = node.takeEffects()
        node.pipeline.commitFailed(.full, at: node.now)
        let told = node.takeEffects().compactMap {
            if case .tell(_, let receipt, _) = $0 { receipt } else { nil }
        }
        #expect(told == [.busy(.node(retryAfter: Admission.retryWhenFull))])
        guard case .answered(.busy) = node.submit(Sample.android("c")) else { return #expect(Bool(false)) }
    }
}
