import Testing

@testable import Relay

/// Past an app that can deliver nothing for long.
@Suite struct RoutingTests {
    private static let patience: Duration = .seconds(600)

    /// An Android app that is blocked since now.
    private static func node() throws -> Node {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        _ = node.pipeline.add(Node.tight)
        try block(Node.android, "InvalidProviderToken", of: node)
        return node
    }

    /// One device's word is not enough for that.
    private static func block(_ lane: LaneID, _ reason: String, of node: Node) throws {
        for number in 1...3 {
            var submission = Sample.android(token: Sample.token(number))
            submission.app = lane.app
            node.accept(submission)
            node.end(try #require(node.send(lane)), .blocked(reason: reason))
        }
        #expect(node.blockedReason(lane) == reason)
    }

    private static func route(
        _ node: Node, to standIn: String = "tight", hops: Int = 0
    ) -> (app: String, reason: String?) {
        var submission = Sample.android()
        submission.hops = hops
        let reason = node.pipeline.route(&submission, standIn: standIn, patience: patience, at: node.now)
        return (submission.app, reason)
    }

    @Test func aShortBlockIsWaitedFor() throws {
        let node = try Self.node()
        node.pass(Self.patience - .nanoseconds(1))
        #expect(Self.route(node) == ("", nil))
    }

    @Test func aLongOneIsPassedBy() throws {
        let node = try Self.node()
        node.pass(Self.patience)
        #expect(Self.route(node) == ("tight", nil))
    }

    @Test func whereThereIsNoOtherWayTheReasonIsTold() throws {
        let node = try Self.node()
        node.pass(Self.patience)
        #expect(Self.route(node, to: "") == ("", "InvalidProviderToken"))
        // What another node has handed on would go in a circle.
        #expect(Self.route(node, hops: 1) == ("", "InvalidProviderToken"))
    }

    @Test func aStandInThatIsBlockedItselfIsNoOtherWay() throws {
        let node = try Self.node()
        try Self.block(Node.tight, "TopicDisallowed", of: node)
        node.pass(Self.patience)
        #expect(Self.route(node) == ("", "TopicDisallowed"))
    }

    @Test func whatIsNotBlockedGoesWhereItSays() {
        let node = Node()
        _ = node.pipeline.add(Node.android)
        node.pass(.seconds(86_400))
        #expect(Self.route(node) == ("", nil))
    }
}
