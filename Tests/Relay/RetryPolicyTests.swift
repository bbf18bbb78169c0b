import Testing
import Vectors

@testable import Relay

@Suite struct RetryPolicyTests {
    /// All bits set, or one (with none the draw is repeated for ever): the longest and the shortest draw.
    private struct Constant: RandomNumberGenerator {
        let value: UInt64
        mutating func next() -> UInt64 { value }
    }

    private func longest(_ attempts: Int, _ policy: RetryPolicy = RetryPolicy()) -> Duration {
        var random = Constant(value: .max)
        return policy.delay(afterAttempts: attempts, atLeast: nil, using: &random)
    }

    @Test(
        arguments: zip(
            [1, 2, 3, 4, 10, 11, 20, 21, 22, 1000, Int.max], [1, 2, 4, 8, 512, 900, 900, 900, 900, 900, 900]))
    func theBoundDoublesUpToAQuarterOfAnHour(attempts: Int, seconds: Int) {
        #expect(longest(attempts) == .seconds(seconds))
    }

    @Test func attemptsBelowOneCountAsOne() {
        #expect(longest(0) == .seconds(1))
        #expect(longest(.min + 1) == .seconds(1))
    }

    @Test func theJitterIsFull() {
        var none = Constant(value: 1)
        #expect(RetryPolicy().delay(afterAttempts: 9, atLeast: nil, using: &none) == .zero)
        var random = SeededRandom(state: 7)
        let drawn = (0..<1000).map { _ in
            RetryPolicy().delay(afterAttempts: 4, atLeast: nil, using: &random)
        }
        #expect(drawn.allSatisfy { (.zero ... .seconds(8)).contains($0) })
        #expect(drawn.contains { $0 < .seconds(1) })
        #expect(drawn.contains { $0 > .seconds(7) })
    }

    @Test func theGatewaysWishIsTheLeast() {
        var none = Constant(value: 1)
        let policy = RetryPolicy()
        #expect(policy.delay(afterAttempts: 1, atLeast: .seconds(3600), using: &none) == .seconds(3600))
        #expect(policy.delay(afterAttempts: 1, atLeast: .seconds(86400), using: &none) == .seconds(86400))
        #expect(policy.delay(afterAttempts: 1, atLeast: .seconds(86401), using: &none) == .seconds(86400))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-5), .seconds(Int64.min / 2)])
    func noWishTraps(asked: Duration) {
        var random = SeededRandom(state: 1)
        let delay = RetryPolicy().delay(afterAttempts: 1, atLeast: asked, using: &random)
        #expect((.zero ... .seconds(86400)).contains(delay))
        #expect((.zero ... .seconds(86400)).contains(RetryPolicy().obeyed(asked)))
    }

    @Test func aLongBaseOverflowsNothing() {
        var policy = RetryPolicy()
        policy.base = .seconds(86400)
        policy.longest = .seconds(7 * 86400)
        #expect(longest(3, policy) == .seconds(4 * 86400))
        #expect(longest(64, policy) == .seconds(7 * 86400))
    }
}
