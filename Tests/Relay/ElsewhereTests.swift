import Testing

@testable import Relay

/// What a node may give the others of a shared store: by value.
@Suite struct ElsewhereTests {
    private var limits: Admission.Limits {
        var limits = Admission.Limits()
        limits.waiting = 10
        limits.waitingBytes = 1000
        return limits
    }

    private func token(_ shard: UInt64) -> Digest { Digest(high: shard << 56, low: 1) }

    private func nodes(_ waiting: Int..., unseen: Int = 0) -> SharedNodes {
        SharedNodes(
            waiting.enumerated().map { index, waiting in
                SharedNode(
                    number: index + 1, isHere: index == 0, shards: Shards((index * 64)..<(index * 64 + 64)),
                    figures: NodeFigures(waiting: waiting, bytes: waiting))
            }, unseenOfNobody: NodeFigures(waiting: unseen, bytes: unseen))
    }

    private func taken(_ elsewhere: inout Elsewhere, by shard: UInt64, size: Int = 1) -> Int {
        for count in 0..<100 {
            guard elsewhere.hasRoom(for: token(shard), size: size, within: limits) else { return count }
            elsewhere.add(token(shard), size: size)
        }
        return 100
    }

    @Test func anotherNodeGetsNoMoreThanItMayHave() {
        var elsewhere = Elsewhere()
        #expect(taken(&elsewhere, by: 3) == 10)
        elsewhere.take(nodes(0, 4))
        #expect(taken(&elsewhere, by: 70) == 6)
        #expect(taken(&elsewhere, by: 71) == 0)
        // Of nobody: what lies there counts.
        var nobodys = Elsewhere()
        nobodys.take(nodes(0, 0, unseen: 7))
        #expect(taken(&nobodys, by: 255) == 3)
        // Bytes as well.
        var large = Elsewhere()
        large.take(nodes(0, 0))
        #expect(taken(&large, by: 70, size: 400) == 2)
    }

    /// All but the owner take at the same time what they believe to be free.
    @Test(arguments: 2...6) func allOthersTogetherGiveANodeNoMoreThanThat(count: Int) {
        var given = 0
        for _ in 1..<count {
            var elsewhere = Elsewhere()
            let all = (0..<count).map { index in
                SharedNode(
                    number: index, shards: Shards([index]), figures: NodeFigures(waiting: index == 0 ? 4 : 0))
            }
            elsewhere.take(SharedNodes(all))
            given += taken(&elsewhere, by: 0)
        }
        #expect(given >= 6 && given <= 6 + count)
    }

    /// Until it is certainly in what the store tells.
    @Test func whatWasAddedCountsUntilTheSecondAnswer() {
        var elsewhere = Elsewhere()
        elsewhere.take(nodes(0, 0))
        #expect(taken(&elsewhere, by: 70) == 10)
        elsewhere.ask()
        elsewhere.take(nodes(0, 0))
        #expect(taken(&elsewhere, by: 70) == 0)
        // Questions without an answer change nothing.
        elsewhere.ask()
        elsewhere.ask()
        #expect(taken(&elsewhere, by: 70) == 0)
        elsewhere.take(nodes(0, 0))
        #expect(taken(&elsewhere, by: 70) == 10)
    }
}
