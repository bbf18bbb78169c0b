import Testing

@testable import Relay

/// From a submission to what its sender is told.
@Suite struct PipelineSubmitTests {
    @Test func aSoundSubmissionGoesToTheOutboxBeforeAnythingElse() {
        let node = Node()
        guard case .storing(let handle) = node.submit(Sample.android("u")) else {
            return #expect(Bool(false))
        }
        #expect(node.next() == .idle)
        let changes = node.take()
        guard changes.count == 1, case .store(let request) = changes[0] else { return #expect(Bool(false)) }
        #expect(request.sequence == handle.sequence)
        #expect(request.notification.content == Sample.android().content)
        #expect(request.digests == Sample.digests(Sample.android("u"), to: Sample.androidPhone))
        #expect(node.next() == .idle)
        #expect(node.pipeline.stored(handle, result: .stored, at: node.now) == .stored)
        #expect(node.next() == .send(handle, request.notification))
    }

    @Test func whatIsRefusedChangesNothing() {
        let node = Node()
        #expect(node.submit(Sample.android(message: "x")) == .answered(.refused(.badMessage)))
        #expect(node.pipeline.hasChanges == false)
        #expect(node.pipeline.waiting == 0)
        #expect(node.accept(Sample.android()) == 1)
    }

    @Test func aFullNodeAnswersWithATime() {
        let node = Node()
        for number in 0..<5 { #expect(node.accept(Sample.android("\(number)")) > 0) }
        #expect(node.submit(Sample.android("5")) == .answered(.busy(.device(retryAfter: .milliseconds(500)))))
        #expect(node.pipeline.hasChanges == false)
        #expect(node.pipeline.waiting == 5)
    }

    @Test func aFailedCommitLeavesNothingBehind() {
        let node = Node()
        guard case .storing(let handle) = node.submit(Sample.android()) else {
            return #expect(Bool(false))
        }
        node.pipeline.putBack(node.pipeline.takeChanges())
        node.pipeline.storeFailed(handle)
        #expect(node.pipeline.hasChanges == false)
        #expect(node.pipeline.waiting == 0)
        #expect(node.pipeline.waitingBytes == 0)
        #expect(node.pipeline.isWaiting(handle.sequence) == false)
        #expect(node.next() == .idle)
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
        guard case .storing(let second) = node.submit(Sample.android("u")) else {
            return #expect(Bool(false))
        }
        _ = node.take()
        #expect(node.pipeline.stored(second, result: result, at: node.now) == receipt)
        #expect(node.pipeline.isWaiting(second.sequence) == false)
        #expect(node.pipeline.waiting == 1)
        #expect(node.sendAll() == [1])
        #expect(node.take() == [])
    }

    @Test func aRepetitionOfWhatEndsDuringTheCommitFindsTheEnd() throws {
        let node = Node()
        node.accept(Sample.android("u"))
        let first = try #require(node.send())
        guard case .storing(let second) = node.submit(Sample.android("u")) else {
            return #expect(Bool(false))
        }
        node.end(first, .accepted)
        #expect(node.take().count == 2)
        _ = node.pipeline.stored(second, result: .alreadyWaiting(sequence: 1), at: node.now)
        #expect(node.pipeline.isWaiting(1) == false)
        #expect(node.pipeline.unsavedEnding(of: 1) == .delivered)
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
            Sample.android(token: Sample.token(9), expiresAt: node.now.unixMilliseconds + 1000))
        node.pass(.seconds(1))
        #expect(node.pipeline.expire(at: node.now).map(\.ending) == [.expired])
        #expect(node.pipeline.waiting == 0)
        #expect(node.pipeline.waitingBytes == 0)
    }
}
