import Clocks
import Testing

@testable import Relay

/// A token that was called dead may live again: an app that is installed anew can have registered the same one.
@Suite struct DeadTokensTests {
    private static let refused = Pipeline.Submitted.answered(.ended(Sample.deadSinceTheStart))

    /// A node that was told at the start that the token of all samples is dead.
    private func node() throws -> Node {
        let node = Node()
        node.accept(Sample.android("first"))
        node.end(try #require(node.send()), .tokenDead(reason: "Unregistered", since: nil))
        _ = node.take()
        return node
    }

    @Test func whatComesWithinSixHoursIsRefusedAtOnce() throws {
        let node = try node()
        #expect(node.submit(Sample.android("second")) == Self.refused)
        node.pass(.seconds(6 * 3600) - .nanoseconds(1))
        #expect(node.submit(Sample.android("second")) == Self.refused)
        node.pass(.nanoseconds(1))
        #expect(node.accept(Sample.android("second")) > 0)
    }

    @Test func oneIsLetThroughAndThoseBesideItAreRefused() throws {
        let node = try node()
        node.pass(.seconds(6 * 3600))
        // Both are stored in one commit.
        for uid in ["a", "b"] { _ = node.submit(Sample.android(uid)) }
        node.begin()
        let results = [StoreResult.stored(sequence: node.number()), .stored(sequence: node.number())]
        #expect(node.commit(results) == [.stored])
        node.begin()
        #expect(node.commit() == [.ended(Sample.deadSinceTheStart)])
        #expect(node.submit(Sample.android("c")) == Self.refused)
        #expect(node.sendAll().count == 1)
    }

    @Test func aTokenThatTheGatewayTakesLivesAgain() throws {
        let node = try node()
        node.pass(.seconds(6 * 3600))
        node.accept(Sample.android("second"))
        node.end(try #require(node.send()), .accepted)
        #expect(
            node.take().contains(.reviveToken(Sample.digest("android", "production", Sample.androidToken))))
        #expect(node.accept(Sample.android("third")) > 0)
    }

    /// The gateway is asked at once, and has the last word.
    @Test func aTokenThatWasRegisteredSinceLivesAgain() throws {
        let node = try node()
        var submission = Sample.android("second")
        submission.registeredAt = Sample.start.unix
        #expect(node.submit(submission) == Self.refused)
        submission.registeredAt = Sample.start.unix + .milliseconds(1)
        #expect(node.accept(submission) > 0)
        #expect(
            node.changes.contains(.reviveToken(Sample.digest("android", "production", Sample.androidToken))))
        #expect(node.accept(Sample.android("third")) > 0)
        node.end(try #require(node.send()), .tokenDead(reason: "Unregistered", since: nil))
        #expect(node.submit(Sample.android("fourth")) == Self.refused)
    }

    @Test func aTokenThatIsStillDeadRestsForSixHoursMore() throws {
        let node = try node()
        node.pass(.seconds(6 * 3600))
        node.accept(Sample.android("second"))
        node.end(try #require(node.send()), .tokenDead(reason: "Unregistered", since: 1))
        node.pass(.seconds(6 * 3600 - 1))
        guard case .answered(.ended(.tokenDead)) = node.submit(Sample.android("third")) else {
            Issue.record("a dead token was tried twice within six hours")
            return
        }
        node.pass(.seconds(1))
        #expect(node.accept(Sample.android("third")) > 0)
    }

    /// The repetition of one that was refused tells its end, and does not use up the try.
    @Test func aRepetitionIsNoTry() throws {
        let node = try node()
        node.pass(.seconds(6 * 3600))
        let ending = Ending.tokenDead(reason: "Unregistered")
        #expect(node.accept(Sample.android("first"), result: .alreadyEnded(ending)) == 0)
        #expect(node.accept(Sample.android("second")) > 0)
    }

    /// Whatever the wall clock did meanwhile, a new process waits for no more than six hours.
    @Test(arguments: [0, -40, 40] as [Int64])
    func aNewProcessTriesAsSoonAsTheOldOneWouldHave(days: Int64) {
        let node = Node()
        let buriedAt = node.now.unix + .seconds(days * 86_400)
        let token = Sample.digest("android", "production", Sample.androidToken)
        node.pipeline.start(
            OutboxContent(deadTokens: [token: DeadToken(since: buriedAt, buriedAt: buriedAt)]), at: node.now,
            clockOffset: 0)
        node.pass(.seconds(6 * 3600))
        #expect(node.accept(Sample.android()) > 0)
    }
}
