import Clocks
import Testing

@testable import Relay

/// From a submission to what its sender is told.
@Suite struct PipelineSubmitTests {
    @Test func aSoundSubmissionGoesToTheOutboxBeforeAnythingElse() {
        let node = Node()
        guard case .storing(_, let id) = node.submit(Sample.android("u")) else {
            return #expect(Bool(false))
        }
        #expect(node.next() == .idle)
        let changes = node.begin()
        guard changes.count == 1, case .store(let request) = changes[0] else { return #expect(Bool(false)) }
        #expect(request.notification.id == id)
        #expect(request.notification.content == Sample.android().content)
        #expect(request.digests == Sample.digests(Sample.android("u"), to: Sample.androidPhone))
        #expect(node.next() == .idle)
        #expect(node.commit([.stored(sequence: 7)]) == [.stored])
        #expect(node.next() == .send(Pipeline.Handle(slot: 0, sequence: 7), request.notification))
    }

    @Test func whatIsRefusedChangesNothing() {
        let node = Node()
        #expect(node.submit(Sample.android(message: "x")) == .answered(.refused(.badMessage)))
        #expect(node.pipeline.commits.isEmpty == true)
        #expect(node.pipeline.waiting == 0)
        #expect(node.accept(Sample.android()) == 1)
    }

    @Test func aFullNodeAnswersWithATime() {
        let node = Node()
        for number in 0..<5 { #expect(node.accept(Sample.android("\(number)")) > 0) }
        #expect(node.submit(Sample.android("5")) == .answered(.busy(.device(retryAfter: .seconds(1)))))
        #expect(node.pipeline.commits.isEmpty == true)
        #expect(node.pipeline.waiting == 5)
    }

    @Test func aFailedCommitLeavesNothingBehind() {
        let node = Node()
        guard case .storing(let reply, _) = node.submit(Sample.android()) else {
            return #expect(Bool(false))
        }
        node.begin()
        _ = node.takeEffects()
        node.pipeline.commitFailed(.full, at: node.now)
        let busy = Receipt.busy(.node(retryAfter: .seconds(5)))
        #expect(node.takeEffects().contains(.tell(reply, busy, isLast: true)))
        #expect(node.pipeline.commits.isEmpty == true)
        #expect(node.pipeline.waiting == 0)
        #expect(node.pipeline.waitingBytes == 0)
        #expect(node.next() == .idle)
    }

    /// Also where the store was away before: the edge has to end where another node has it.
    @Test func aStoreThatWentBackOrIsTakenIsToldWhateverWasToldBefore() {
        let node = Node()
        for (error, isTold) in [
            (OutboxError.failed("away"), true), (.failed("away"), false), (.setBack("older"), true),
            (.failed("away"), false), (.taken("by another"), true),
        ] {
            _ = node.submit(Sample.android())
            node.begin()
            _ = node.takeEffects()
            node.pipeline.commitFailed(error, at: node.now)
            #expect(node.takeEffects().contains(.outboxFailed(error)) == isTold)
        }
    }

    /// What the outbox knows of a repetition, what its sender hears, and that nothing more is sent.
    @Test(arguments: [
        (StoreResult.alreadyWaiting(sequence: 1), Receipt.stored),
        (.alreadyEnded(.delivered), .ended(.delivered)),
        (.alreadyEnded(.expired), .ended(.expired)),
        (.alreadyEnded(.refused(reason: "BadTopic")), .ended(.refused(reason: "BadTopic"))),
        (.alreadyEnded(.tokenDead(reason: "Unregistered")), .ended(.tokenDead(reason: "Unregistered"))),
        (.conflict, .ended(.refused(reason: .duplicateUid))),
    ])
    func aRepetitionHearsOfTheFirstAndIsNotSent(result: StoreResult, receipt: Receipt) {
        let node = Node()
        node.accept(Sample.android("u"))
        _ = node.submit(Sample.android("u"))
        node.begin()
        #expect(node.commit([result]) == [receipt])
        #expect(node.pipeline.waiting == 1)
        #expect(node.sendAll() == [1])
        #expect(node.take() == [])
    }

    @Test func aRepetitionOfWhatEndsDuringTheCommitFindsTheEnd() throws {
        let node = Node()
        node.accept(Sample.android("u"))
        let first = try #require(node.send())
        _ = node.submit(Sample.android("u"), awaitsOutcome: true)
        node.end(first, .accepted)
        #expect(node.begin().count == 2)
        #expect(node.commit([.alreadyWaiting(sequence: 1)]) == [.ended(.delivered)])
        #expect(node.isWaiting(1) == false)
    }

    /// The end is in none of the commits that are over: it is told after the next one.
    @Test func aRepetitionOfWhatEndsWhileTheCommitRunsIsToldTheEndOnceItIsWrittenDown() throws {
        let node = Node()
        node.accept(Sample.android("u"))
        let first = try #require(node.send())
        _ = node.submit(Sample.android("u"), awaitsOutcome: true)
        node.begin()
        node.end(first, .accepted)
        #expect(node.commit([.alreadyWaiting(sequence: 1)]) == [.stored])
        #expect(node.begin() == [.finish(sequence: 1, .delivered)])
        #expect(node.commit() == [.ended(.delivered)])
    }

    @Test func aDeadTokenIsToldAfterTheTokenAndBeforeTheMessage() throws {
        let node = Node()
        node.accept(Sample.android())
        node.end(try #require(node.send()), .tokenDead(reason: "UNREGISTERED", since: nil))
        let dead = Pipeline.Submitted.answered(.ended(Sample.deadSinceTheStart))
        #expect(node.submit(Sample.android()) == dead)
        #expect(node.submit(Sample.android(message: "x", expiresAt: 1)) == dead)
        #expect(node.submit(Sample.android(token: "x")) == .answered(.refused(.badDeviceToken)))
        #expect(node.accept(Sample.android(token: Sample.token(2))) > 0)
    }

    @Test func sequenceNumbersRise() {
        let node = Node()
        let numbers = (0..<20).map { node.accept(Sample.android(token: Sample.token($0))) }
        #expect(numbers == Array(1...20))
    }

    @Test func aPlaceIsFreeAgainWhateverTheEnd() throws {
        let node = Node()
        let outcomes: [Outcome] = [
            .accepted, .refused(reason: "r"), .tokenDead(reason: "d", since: nil),
        ]
        for (number, outcome) in outcomes.enumerated() {
            node.accept(Sample.android(token: Sample.token(number)))
            node.end(try #require(node.send()), outcome)
            #expect(node.pipeline.waiting == 0)
            #expect(node.pipeline.waitingBytes == 0)
        }
        node.accept(
            Sample.android(token: Sample.token(9), expiresAt: node.now.unix + .milliseconds(1000)))
        node.pass(.seconds(1))
        #expect(node.expire().map(\.ending) == [.expired])
        #expect(node.pipeline.waiting == 0)
        #expect(node.pipeline.waitingBytes == 0)
    }
}
