import Testing

@testable import Relay

/// Who has which part of a shared store, and who leaves what: by value.
@Suite struct ShardsTests {
    @Test func aSetOfShardsIsASet() {
        let odd = Shards((0..<256).filter { $0 % 2 == 1 })
        #expect(odd.count == 128 && odd[1] && !odd[0] && odd[255])
        #expect(Shards.all.subtracting(odd).union(odd) == .all)
        #expect(odd.intersection(Shards(0..<4)).numbers == [1, 3])
        #expect(Shards.none.isEmpty && Shards.all.count == 256)
        #expect(odd.contains(Digest(high: 0x0100_0000_0000_0000, low: 0)))
        #expect(!odd.contains(Digest(high: 0x0200_0000_0000_0000, low: .max)))
        // As PostgreSQL's get_bit counts.
        #expect(
            Shards([0, 9, 255]).bits.enumerated().filter { $0.element != 0 }.map(\.offset) == [0, 1, 31])
        #expect(Shards([9]).bits[1] == 2)
    }

    @Test(arguments: 1...300) func whatNodesMayHaveIsAllAndNotMuchMore(nodes: Int) {
        let most = Shards.most(nodes: nodes)
        #expect(most * nodes >= 256 && (most - 1) * nodes < 256)
    }

    private func share(_ owned: Shards, gained: Shards = .none, nodes: Int) -> Share {
        var share = Share()
        share.owned = owned
        share.gained = gained
        share.nodes = nodes
        return share
    }

    @Test func whoHasMoreThanItsPartLeavesWhatHasNothingToDoFirst() {
        var ownership = Ownership(owned: .all)
        #expect(ownership.isWhole)
        #expect(ownership.take(share(.all, nodes: 2), at: 0).isEmpty)
        let busy = Shards(60..<256)
        ownership.leaveSurplus(busy: busy)
        #expect(ownership.leaving.count == 128)
        #expect(Shards(0..<60).subtracting(ownership.leaving).isEmpty)
        #expect(!ownership.isWhole)
        // What is busy is given up later, and nothing twice.
        #expect(ownership.give(busy: busy) == Shards(0..<60))
        #expect(ownership.give(busy: busy).isEmpty)
        #expect(ownership.give(busy: .none).count == 68)
        // Nothing more, since it is on its way.
        let leaving = ownership.leaving
        ownership.leaveSurplus(busy: busy)
        #expect(ownership.leaving == leaving)
        for number in 0..<256 {
            #expect(ownership.holds(Digest(high: UInt64(number) << 56, low: 0)) == !leaving[number])
        }
    }

    @Test func whatIsGoneIsNoLongerLeft() {
        var ownership = Ownership(owned: .all)
        _ = ownership.take(share(.all, nodes: 2), at: 0)
        ownership.leaveSurplus(busy: .none)
        let left = ownership.give(busy: .none)
        let rest = Shards.all.subtracting(left)
        #expect(ownership.take(share(rest, nodes: 2), at: 0) == left)
        #expect(ownership.leaving.isEmpty && ownership.given.isEmpty && ownership.owned == rest)
        // The other one is gone: all is here again, as something new.
        #expect(ownership.take(share(.all, gained: left, nodes: 1), at: 0).isEmpty)
        #expect(ownership.owned == .all && !ownership.isWhole)
    }

    /// Given up and got back between two looks: what was known of it is old.
    @Test func whatComesBackAtOnceWasLost() {
        var ownership = Ownership(owned: .all)
        _ = ownership.take(share(.all, nodes: 2), at: 0)
        ownership.leaveSurplus(busy: .none)
        let left = ownership.give(busy: .none)
        #expect(ownership.take(share(.all, gained: left, nodes: 1), at: 0) == left)
        #expect(ownership.leaving.isEmpty)
    }

    @Test(arguments: 2...5) func nodesThatComeAndGoEndWithFairParts(nodes: Int) {
        var all = (0..<nodes).map { Ownership(owned: $0 == 0 ? .all : .none) }
        for _ in 0..<20 {
            for index in all.indices {
                let taken = all.reduce(Shards.none) { $0.union($1.owned) }
                let room = Shards.most(nodes: nodes) - all[index].owned.count
                let gained = Shards(Shards.all.subtracting(taken).numbers.prefix(max(0, room)))
                _ = all[index].take(
                    share(all[index].owned.union(gained), gained: gained, nodes: nodes), at: 0)
                all[index].leaveSurplus(busy: .none)
                let given = all[index].give(busy: .none)
                _ = all[index].take(share(all[index].owned.subtracting(given), nodes: nodes), at: 0)
            }
        }
        #expect(all.reduce(0) { $0 + $1.owned.count } == 256)
        #expect(all.allSatisfy { $0.owned.count <= Shards.most(nodes: nodes) && $0.leaving.isEmpty })
    }

    @Test func endsOfOthersAreAskedForInTurns() {
        var ownership = Ownership(owned: .all)
        for sequence in 1...600 as ClosedRange<Int64> { ownership.await(sequence) }
        let first = ownership.ask(NodeFigures()) { $0 != 3 }
        #expect(first.awaited.count == 499 && !first.awaited.contains(3))
        ownership.answered([1: .ended(.delivered), 2: .kept, 4: .forgotten])
        let second = ownership.ask(NodeFigures()) { _ in true }
        #expect(second.awaited.prefix(100) == Array(501...600)[...])
        #expect(second.awaited.contains(2) && !second.awaited.contains(1) && !second.awaited.contains(4))
        ownership.answered([:])
        #expect(ownership.takeKeptReport(2) && !ownership.takeKeptReport(2))
    }
}
