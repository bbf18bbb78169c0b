import Clocks
import Relay
import Testing

@Suite struct RateTests {
    private let second = Duration.seconds(1)

    @Test func asManyAsTheBurstAtOnceAndThenOneAtATime() {
        let rate = Rate(perSecond: 2, burst: 3)
        var use = Rate.Use()
        let now: MonotonicTime = 1_000_000_000_000
        #expect((0..<4).map { _ in rate.take(from: &use, at: now) } == [.zero, .zero, .zero, second / 2])
        // What is not taken is not counted.
        #expect(rate.take(from: &use, at: now + second / 2) == .zero)
        #expect(rate.take(from: &use, at: now + second / 2) == second / 2)
        #expect(!use.isOver(at: now + second) && use.isOver(at: now + second * 2))
    }

    @Test func manyMayBeCountedAtOnceAndLater() {
        let rate = Rate(perSecond: Double(1 << 20), burst: (10 << 20) + 1)
        var use = Rate.Use()
        let now: MonotonicTime = 1_000_000_000
        rate.add(10 << 20, to: &use, at: now)
        #expect(rate.delay(after: use, at: now) == .zero)
        rate.add(1 << 20, to: &use, at: now)
        #expect(rate.delay(after: use, at: now) == second)
    }
}
