import Testing
import Vectors

@testable import Relay

/// A lane's condition, event by event. Times are nanoseconds.
@Suite struct LaneTests {
    private let policy = RetryPolicy()
    private static let minute: Int64 = 60_000_000_000

    private func lane() -> Lane { Lane(id: Node.android) }

    @Test func anOpenLaneSendsAsMuchAsIsAskedFor() {
        var lane = lane()
        for _ in 0..<1000 {
            #expect(lane.mayBegin(at: 0) == true)
            lane.began()
        }
        #expect(lane.inFlight == 1000)
    }

    @Test func aPauseEndsWithOneTryAndAnAnswerOpens() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(60), at: 0, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: Self.minute))
        #expect(lane.mayBegin(at: Self.minute - 1) == false)
        #expect(lane.mayBegin(at: Self.minute) == true)
        #expect(lane.condition == .trying)
        lane.began()
        #expect(lane.mayBegin(at: Self.minute) == false)
        lane.ended()
        #expect(lane.mayBegin(at: Self.minute) == true)
        _ = lane.answered()
        #expect(lane.condition == .open)
    }

    @Test func noTryBeginsWhileAnOlderOneIsUnderWay() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.began()
        lane.began()
        lane.ended()
        lane.pause(atLeast: .seconds(60), at: 0, policy: policy, using: &random)
        #expect(lane.mayBegin(at: Self.minute) == false)
        #expect(lane.condition == .trying)
        lane.ended()
        #expect(lane.mayBegin(at: Self.minute) == true)
    }

    @Test func ofManyThatFailTogetherOneCounts() {
        var random = SeededRandom(state: 1)
        var alone = lane()
        var together = lane()
        alone.pause(atLeast: nil, at: 0, policy: policy, using: &random)
        random = SeededRandom(state: 1)
        for _ in 0..<100 { together.pause(atLeast: nil, at: 0, policy: policy, using: &random) }
        #expect(together.condition == alone.condition)
    }

    @Test func aLaterWishProlongsAPauseAndNoneShortensIt() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(60), at: 0, policy: policy, using: &random)
        lane.pause(atLeast: .seconds(10), at: 1, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: Self.minute))
        lane.pause(atLeast: .seconds(60), at: 1, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: Self.minute + 1))
        lane.pause(atLeast: .seconds(Int64.max), at: 1, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: 86_400_000_000_001))
    }

    @Test func pausesGrowUntilAnAnswer() {
        var random = SeededRandom(state: 5)
        var lane = lane()
        var longest: Int64 = 0
        var time: Int64 = 0
        for _ in 0..<200 {
            lane.pause(atLeast: nil, at: time, policy: policy, using: &random)
            guard case .paused(let until) = lane.condition else { break }
            longest = max(longest, until - time)
            time = until
            #expect(lane.mayBegin(at: time) == true)
        }
        #expect(longest > 10 * Self.minute)
        #expect(longest <= 15 * Self.minute)
        _ = lane.answered()
        lane.pause(atLeast: nil, at: time, policy: policy, using: &random)
        guard case .paused(let until) = lane.condition else { return #expect(Bool(false)) }
        #expect(until - time <= 1_000_000_000)
    }

    @Test func aBlockedLaneTellsTheOperatorAndTriesAMinuteLater() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.block(reason: "BadTopic", at: 0, policy: policy, using: &random)
        #expect(lane.blockedReason == "BadTopic")
        #expect(lane.condition == .paused(until: Self.minute))
        #expect(lane.mayBegin(at: Self.minute) == true)
        #expect(lane.blockedReason == "BadTopic")
        lane.began()
        lane.ended()
        _ = lane.answered()
        #expect(lane.blockedReason == nil)
        #expect(lane.condition == .open)
    }

    @Test func anAnswerFromBeforeABlockChangesNothing() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.block(reason: "BadTopic", at: 0, policy: policy, using: &random)
        _ = lane.answered()
        #expect(lane.blockedReason == "BadTopic")
        #expect(lane.condition == .paused(until: Self.minute))
    }

    @Test func newCredentialsAreTriedAtOnce() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.block(reason: "InvalidProviderToken", at: 0, policy: policy, using: &random)
        lane.resume()
        #expect(lane.condition == .trying)
        #expect(lane.mayBegin(at: 0) == true)
        #expect(lane.blockedReason == "InvalidProviderToken")
    }

    @Test func newCredentialsOfAnOpenLaneChangeNothing() {
        var lane = lane()
        lane.resume()
        #expect(lane.condition == .open)
    }
}
