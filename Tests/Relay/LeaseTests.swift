import Testing

@testable import Relay

/// A store that other nodes can come to: what is in it is sent only while it is certainly this node's.
@Suite struct LeaseTests {
    private func start() -> Node {
        let node = Node(isShared: true)
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
        _ = node.pipeline.add(Node.android)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        node.begin()
        node.pipeline.committed([], at: node.now)
        return node
    }

    private func holds(_ node: Node) -> Bool {
        node.pipeline.holdsLease(at: node.now.monotonic)
    }

    private func sent(_ node: Node) -> Int {
        node.pipeline.pump(node.pipeline.lane(Node.android), room: 1, at: node.now)
        return node.takeEffects().count { if case .send = $0 { true } else { false } }
    }

    @Test func anIdleNodeRenewsIt() throws {
        let node = start()
        for _ in 0..<5 {
            node.pass(Lease.renewal)
            node.pipeline.wake(at: node.now, clockOffset: 0)
            #expect(node.begin().contains(.proof))
            node.pipeline.committed([], at: node.now)
            node.pass(Lease.renewal)
            #expect(holds(node))
        }
    }

    /// What was read at the start may have taken longer than the lease.
    @Test func nothingIsSentBeforeACommitHasProvenIt() {
        let node = Node(isShared: true)
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
        #expect(!holds(node))
        node.pipeline.wake(at: node.now, clockOffset: 0)
        #expect(node.begin().contains(.proof))
        #expect(!holds(node))
        node.pipeline.committed([], at: node.now)
        #expect(holds(node))
    }

    @Test func aStoreOfOnesOwnNeedsNone() {
        let node = Node()
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
        node.pass(Lease.renewal)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        #expect(node.begin() == [])
        node.pass(.seconds(1000))
        #expect(holds(node))
    }

    /// From before the commit began: the store counts from later.
    @Test func nothingIsSentOnceItMayHaveEnded() {
        let node = start()
        node.accept(Sample.android("one", token: Sample.token(1)))
        node.accept(Sample.android("two", token: Sample.token(2)))
        node.pass(.seconds(1))
        #expect(sent(node) == 1)
        // A commit is begun, and does not come back.
        node.pass(.seconds(1))
        node.pipeline.wake(at: node.now, clockOffset: 0)
        #expect(node.begin().contains(.proof))
        let begun = node.now
        node.pass(.seconds(4))
        #expect(sent(node) == 0)
        node.pipeline.committed([], at: node.now)
        #expect(sent(node) == 1)
        node.now = begun
        node.pass(Lease.length)
        #expect(!holds(node))
    }
}
