import Clocks
import Testing

@testable import Relay

/// What waits because a gateway failed, when it works again.
@Suite struct SuspendedTests {
    /// Ways in which the first of a device goes while it waits.
    enum Departure: CaseIterable { case expires, isDropped }
    /// Ways in which it is known that the gateway works.
    enum Recovery: CaseIterable { case answer, operatorResumes }

    /// Waits of up to 15 minutes after a failure.
    private func patientNode() -> Node {
        var policy = RetryPolicy()
        policy.base = .seconds(15 * 60)
        return Node(policy: policy)
    }

    /// The wait is the gateway's trouble, not that of the one notification that found it.
    @Test(arguments: Departure.allCases, Recovery.allCases)
    func whoComesAfterAFailedOneIsReleasedWithTheOthers(departure: Departure, recovery: Recovery) throws {
        let node = patientNode()
        let end = node.now.unix + .seconds(5)
        let first = node.accept(Sample.android("1", expiresAt: end))
        let second = node.accept(Sample.android("2"))
        node.end(try #require(node.send()), .overloaded)
        switch departure {
        case .expires:
            node.pass(.seconds(5))
            #expect(node.expire().map(\.sequence) == [first])
        case .isDropped: #expect(node.pipeline.drop([first], at: node.now) == 1)
        }
        try #require(node.send() == nil, "it waits as long as the first")
        switch recovery {
        case .answer:
            node.accept(Sample.android("3", token: Sample.token(3)))
            node.end(try #require(node.send()), .accepted)
        case .operatorResumes: node.pipeline.resume(Node.android, at: node.now)
        }
        #expect(node.sendAll() == [second])
    }

    /// Nobody else waits for what one device was to wait for.
    @Test func whatTheGatewayAskedForHoldsForWhoComesAfter() throws {
        let node = patientNode()
        let first = node.accept(Sample.android("1"))
        let second = node.accept(Sample.android("2"))
        let wish = Deferral(reason: "ServiceUnavailable", scope: .host, retryAfter: .seconds(100))
        node.end(try #require(node.send()), .deferred(wish))
        #expect(node.pipeline.drop([first], at: node.now) == 1)
        node.accept(Sample.android("3", token: Sample.token(3)))
        node.end(try #require(node.send()), .accepted)
        #expect(node.send() == nil)
        node.pass(.seconds(99))
        #expect(node.send() == nil)
        node.pass(.seconds(1))
        #expect(node.sendAll() == [second])
    }
}
