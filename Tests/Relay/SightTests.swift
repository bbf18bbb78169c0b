import Testing

@testable import Relay

/// What other nodes have put into a shared store goes out first, although this node has not seen it yet.
@Suite struct SightTests {
    private static let again = Pipeline.Submitted.answered(Pipeline.comeAgain)

    /// One of two nodes.
    private func start(_ owned: Shards) -> Node {
        let node = Node(isShared: true)
        var content = OutboxContent()
        content.shards = owned
        node.pipeline.start(content, at: node.now, clockOffset: 0)
        _ = node.pipeline.add(Node.android)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        node.begin()
        node.commit()
        return node
    }

    private func share(_ owned: Shards, gained: Shards = .none) -> Share {
        var share = Share()
        (share.owned, share.gained, share.nodes) = (owned, gained, 2)
        return share
    }

    /// The next question is asked.
    private func look(_ node: Node) {
        _ = node.takeEffects()
        node.pass(Ownership.interval)
        node.pipeline.wake(at: node.now, clockOffset: 0)
        #expect(node.takeEffects().contains { if case .divide = $0 { true } else { false } })
    }

    private func isTaken(_ node: Node, _ message: String) -> Bool {
        if case .storing = node.submit(Sample.android(message: message)) { true } else { false }
    }

    private static func message(_ letter: String) -> String { String(repeating: letter, count: 40) }

    @Test func aNodeThatJoinsAcceptsNothingBeforeItHasLooked() {
        let own = Shards(0..<255)
        let node = start(own)
        #expect(node.submit(Sample.android()) == Self.again)
        node.pipeline.divided(share(own), at: node.now)
        #expect(isTaken(node, Sample.message))
        // Who has all was alone: nothing can be there.
        #expect(isTaken(start(.all), Sample.message))
    }

    @Test func afterAnOutageNothingIsAcceptedBeforeItHasLooked() {
        let own = Shards(0..<255)
        let node = start(own)
        node.pipeline.divided(share(own), at: node.now)
        #expect(isTaken(node, Self.message("a")))
        node.begin()
        // Behind a commit that hangs.
        #expect(isTaken(node, Self.message("b")))
        look(node)
        _ = node.takeEffects()
        node.pipeline.commitFailed(.full, at: node.now)
        let told = node.takeEffects().compactMap {
            if case .tell(_, let receipt, _) = $0 { receipt } else { nil }
        }
        #expect(told == [Pipeline.comeAgain, Pipeline.comeAgain])
        // Asked before the outage.
        node.pipeline.divided(share(own), at: node.now)
        #expect(node.submit(Sample.android()) == Self.again)
        #expect(!node.begin().contains { if case .store = $0 { true } else { false } })
        node.commit()
        #expect(node.submit(Sample.android()) == Self.again)
        look(node)
        node.pipeline.divided(share(own), at: node.now)
        #expect(isTaken(node, Sample.message))
    }

    /// It has taken one as another node's, and owns its shard before that one is stored.
    @Test func whatItTookForAnotherNodeGoesOutFirst() {
        let node = start(Shards([]))
        node.pipeline.divided(share(Shards([])), at: node.now)
        #expect(isTaken(node, Self.message("a")))
        look(node)
        node.pipeline.divided(share(.all, gained: .all), at: node.now)
        #expect(node.submit(Sample.android()) == Self.again)
        node.begin()
        look(node)
        // The answer does not have it yet.
        node.pipeline.divided(share(.all), at: node.now)
        #expect(node.submit(Sample.android()) == Self.again)
        node.commit([.stored(sequence: 7)])
        look(node)
        node.pipeline.divided(share(.all), at: node.now)
        #expect(isTaken(node, Sample.message))
    }

    /// What another node has put there for a device holds up what comes for that device, and no other.
    @Test func onlyTheirOwnDeviceWaitsBehindArrivals() throws {
        let node = start(.all)
        func isShelved(_ number: Int) throws -> Bool {
            node.accept(Sample.android("\(number)", token: Sample.token(number)))
            return try #require(node.stores.last).destination != .window
        }
        var share = share(.all)
        // The other one has ended since.
        share.nodes = 1
        share.arrived = [1, 2].map {
            LaneBacklog(
                lane: Node.android, waiting: 1, bytes: 100,
                oldestAcceptedAt: Sample.start.unix, device: Self.device($0))
        }
        node.pipeline.divided(share, at: node.now)
        #expect(try !isShelved(3))
        #expect(try isShelved(1))
        // Behind what this node has put there itself, all wait.
        #expect(try isShelved(3))
    }

    private static func device(_ number: Int) -> Digest {
        let submission = Sample.android(token: Sample.token(number))
        return Sample.digests(
            submission, to: Recipient(lane: Node.android, deviceToken: submission.deviceToken)
        ).token
    }

    // MARK: Words of other nodes

    private func asks(_ node: Node) -> Bool {
        node.pipeline.wake(at: node.now, clockOffset: 0)
        return node.takeEffects().contains { if case .divide = $0 { true } else { false } }
    }

    @Test func aNodeThatIsToldOfSomethingLooksAtOnce() {
        let own = Shards(0..<255)
        let node = start(own)
        node.pipeline.divided(share(own), at: node.now)
        node.pass(Ownership.intervalNotified)
        #expect(!asks(node))
        node.pipeline.arrivalsNotified(at: node.now)
        #expect(node.pipeline.wakeAt == node.now.monotonic)
        #expect(asks(node))
        // The answer may be older than what was told meanwhile, but who is told all the time looks now and then only.
        node.pipeline.arrivalsNotified(at: node.now)
        #expect(!asks(node))
        node.pipeline.divided(share(own), at: node.now)
        node.pipeline.arrivalsNotified(at: node.now)
        node.pass(Ownership.intervalNotified - .milliseconds(1))
        #expect(!asks(node))
        node.pass(.milliseconds(1))
        #expect(asks(node))
        // Who told it says nothing of what it puts there soon after.
        node.pipeline.divided(share(own), at: node.now)
        node.pass(Ownership.intervalNotified)
        #expect(asks(node))
        // It looks without being told, too.
        node.pipeline.divided(share(own), at: node.now)
        node.pass(Ownership.interval - .milliseconds(1))
        #expect(!asks(node))
        node.pass(.milliseconds(1))
        #expect(asks(node))
    }
}
