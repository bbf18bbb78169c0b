import Relay
import Testing

@Suite struct RateTests {
    private let second: Int64 = 1_000_000_000

    @Test func asManyAsTheBurstAtOnceAndThenOneAtATime() {
        let rate = Rate(perSecond: 2, burst: 3)
        var use = Rate.Use()
        let now = 1000 * second
        #expect((0..<4).map { _ in rate.take(from: &use, at: now) } == [0, 0, 0, second / 2])
        // What is not taken is not counted.
        #expect(rate.take(from: &use, at: now + second / 2) == 0)
        #expect(rate.take(from: &use, at: now + second / 2) == second / 2)
        #expect(!use.isOver(at: now + second) && use.isOver(at: now + 2 * second))
    }

    @Test func manyMayBeCountedAtOnceAndLater() {
        let rate = Rate(perSecond: Double(1 << 20), burst: (10 << 20) + 1)
        var use = Rate.Use()
        rate.add(10 << 20, to: &use, at: second)
        #expect(rate.delay(after: use, at: second) == 0)
        rate.add(1 << 20, to: &use, at: second)
        #expect(rate.delay(after: use, at: second) == second)
    }
}
