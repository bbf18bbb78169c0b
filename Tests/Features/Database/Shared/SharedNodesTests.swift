import Foundation
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// What nodes of one real database know of one another.
extension SharedStoreTests {
    /// It is looked for about once a second.
    private func known(_ outbox: OutboxStore, _ figures: NodeFigures = NodeFigures()) async throws
        -> SharedNodes
    {
        while true {
            if let known = try await outbox.divide(ShareRequest(figures: figures)).known { return known }
            try Task.checkCancellation()
        }
    }

    @Test func eachNodeKnowsAllOthers() async throws {
        let (first, second) = try await pair()
        _ = try await first.divide(
            ShareRequest(figures: NodeFigures(waiting: 7, bytes: 700, oldestAcceptedAt: 5)))
        _ = try await first.commit([.proof])
        _ = try await second.commit([
            .store(one(1, 3, .elsewhere(room: 9))), .store(one(3, 4, .elsewhere(room: 9))),
        ])
        let seen = try await known(second)
        #expect(seen.nodes.map(\.number) == [1, 2] && seen.nodes.map(\.name) == ["node 1", "node 2"])
        #expect(seen.nodes.map(\.isHere) == [false, true] && seen.nodes.map(\.version) == ["1", "1"])
        #expect(seen.nodes.map(\.shards) == [Self.half, Self.otherHalf] && seen.withoutOwner == 0)
        #expect(seen.nodes[0].figures == NodeFigures(waiting: 7, bytes: 700, oldestAcceptedAt: 5))
        #expect(seen.nodes[0].unseen.waiting == 2 && seen.nodes[0].unseen.bytes > 50)
        #expect(seen.nodes[1].unseen == NodeFigures())
        for node in seen.nodes {
            #expect(node.isAlive && node.leaseAge < .seconds(8))
            #expect(abs(node.clockAhead.components.seconds) < 5)
        }
        // What it has seen waits there, and is said so with the same commit.
        #expect(try await first.divide(ShareRequest(figures: NodeFigures(waiting: 7))).arrived.count == 2)
        let later = try await known(second)
        #expect(later.nodes[0].unseen.waiting == 0 && later.nodes[0].figures.waiting == 9)
        await first.close()
        await second.close()
    }

    @Test func aNodeThatIsGoneIsTold() async throws {
        let (first, second) = try await pair()
        _ = try directory.psql(
            """
            UPDATE onionbell.node SET until = clock_timestamp() - interval '1 second',
                clock_ahead = 3600000 WHERE owner = '\\x02'
            """)
        // Nobody takes them as long as the other one has as much as it may have.
        _ = try directory.psql(
            "INSERT INTO onionbell.node SELECT '\\x03', 3, 'host', '1', 0, until, 0, false FROM onionbell.node WHERE number = 1"
        )
        let seen = try await known(first)
        #expect(seen.nodes.map(\.isAlive) == [true, false, true])
        #expect(seen.nodes[1].leaseAge >= .seconds(9) && seen.nodes[1].clockAhead == .seconds(3600))
        #expect(seen.withoutOwner == 128)
        // A number is given anew only when its node is gone.
        await first.close()
        await second.close()
    }

    /// What was in the memory of a node that was killed: all that it can have begun to send.
    @Test func whatMayGoOutTwiceIsCounted() async throws {
        let (first, second) = try await pair()
        let rows = [one(1, 3), one(3, 3), one(5, 4), one(7, 4, .backlog(room: 9))]
        _ = try await first.commit(rows.map { .store($0) })
        // Nobody has it yet, so nobody has begun it.
        _ = try await second.commit([.store(one(9, 5, .elsewhere(room: 9)))])
        #expect(try await second.divide(ShareRequest()).takenOver == nil)
        _ = try directory.psql(
            "UPDATE onionbell.node SET until = clock_timestamp() - interval '1 second' WHERE owner = '\\x01'")
        let share = try await second.divide(ShareRequest())
        #expect(share.takenOver == TakeOver(shards: 128, mayRepeat: 4))
        #expect(try await second.divide(ShareRequest()).takenOver == nil)
        await first.close()
        // Killed, and started again at once: the same of itself.
        let again = try await open(2)
        #expect(try await again.content().takenOver == TakeOver(shards: 256, mayRepeat: 5))
        await second.close()
        await again.close()
        // One that stops gives all back, and has begun nothing.
        let third = try await open(3)
        #expect(try await third.content().takenOver == nil)
        await third.close()
    }

    @Test func whatIsGivenUpWasNotBegun() async throws {
        let (first, second) = try await pair()
        _ = try await first.commit([.store(one(1, 3)), .store(one(3, 4, .backlog(room: 9)))])
        _ = try await first.commit([.giveUp(Shards([3, 4]))])
        await first.close()
        let share = try await second.divide(ShareRequest())
        #expect(share.owned == .all && share.takenOver == nil)
        await second.close()
    }

    /// Neither has seen what the other one does: what waits for one node is twice what may wait for it, and never more.
    @Test func whatWaitsForANodeIsBoundedWhoeverAcceptsIt() async throws {
        let (first, second) = try await pair()
        let owner = try await SharingNode(first, waiting: 40)
        let other = try await SharingNode(second, waiting: 40)
        try await knows(owner, waiting: 0, at: 1)
        try await knows(other, waiting: 0, at: 1)
        #expect(try await owner.submit(0..<60, to: 3) == 40)
        let added = try await other.submit(100..<160, to: 3)
        #expect(added > 0 && added <= 40)
        // Before the owner has seen any of it, and afterwards, nobody takes more.
        try await knows(other, waiting: added, at: 1)
        #expect(try await other.submit(200..<210, to: 3) == 0)
        try await knows(owner, waiting: 40 + added, at: 1)
        #expect(owner.waiting == 40 + added)
        #expect(try await owner.submit(300..<310, to: 4) == 0)
        #expect(try await other.submit(300..<310, to: 4) == 0)
        // For itself the other one has room.
        #expect(try await other.submit(0..<10, to: 200) == 10)
        // What was let go makes room at both.
        try await owner.giveUp()
        try await knows(owner, waiting: 0, at: 1)
        try await knows(other, waiting: 0, at: 1)
        #expect(try await other.submit(400..<410, to: 3) == 10)
        #expect(try await owner.submit(500..<510, to: 3) == 10)
        await first.close()
        await second.close()
    }

    /// A node looks until it knows that so much waits for that one.
    private func knows(_ node: SharingNode, waiting: Int, at number: Int) async throws {
        while !Task.isCancelled {
            try await node.pass()
            let owner = node.sharing?.known?.nodes.first { $0.number == number }
            if owner?.waiting.waiting == waiting { return }
        }
        Issue.record("\(String(describing: node.sharing?.known)) is not \(waiting)")
    }
}
