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

    private let phone = Sample.digest("phone")

    @Test func aPauseEndsWithAFewTriesAndAnAnswerOpens() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(60), at: 0, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: Self.minute))
        #expect(lane.mayBegin(at: Self.minute - 1) == false)
        for _ in 1...Lane.trials {
            #expect(lane.mayBegin(at: Self.minute) == true)
            #expect(lane.condition == .trying)
            lane.began()
        }
        #expect(lane.mayBegin(at: Self.minute) == false)
        lane.ended()
        _ = lane.answered(phone, at: Self.minute)
        #expect(lane.condition == .open)
        #expect(lane.mayBegin(at: Self.minute) == true)
    }

    /// So that a few that always fail don't keep others from their turn.
    @Test func eachTimeTwiceAsManyTry() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        var time: Int64 = 0
        var tries: [Int] = []
        for _ in 1...7 {
            lane.pause(atLeast: nil, at: time, policy: policy, using: &random)
            time += 10 * Self.minute
            var count = 0
            while lane.mayBegin(at: time) {
                lane.began()
                count += 1
            }
            for _ in 0..<count { lane.ended() }
            tries.append(count)
        }
        #expect(tries == [3, 6, 12, 24, 48, 48, 48])
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

    @Test func pausesGrowToAMinuteUntilAnAnswer() {
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
        #expect(longest == Self.minute)
        _ = lane.answered(phone, at: time)
        lane.pause(atLeast: nil, at: time, policy: policy, using: &random)
        guard case .paused(let until) = lane.condition else { return #expect(Bool(false)) }
        #expect(until - time <= 1_000_000_000)
    }

    /// One that was on its way when others failed: the gateway works, and what it asked for holds.
    @Test func anAnswerDuringAPauseEndsWhatTheGatewayHasNotAskedFor() {
        var random = SeededRandom(state: 1)
        var own = lane()
        own.block(reason: "BadTopic", at: 0)
        own.pause(atLeast: nil, at: 0, policy: policy, using: &random)
        _ = own.answered(phone, at: 1)
        #expect(own.condition == .open)
        #expect(own.blockedReason == nil)
        var asked = lane()
        asked.pause(atLeast: .seconds(60), at: 0, policy: policy, using: &random)
        _ = asked.answered(phone, at: 1)
        #expect(asked.condition == .paused(until: Self.minute))
    }

    @Test func newCredentialsAreTriedAtOnce() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.block(reason: "InvalidProviderToken", at: 0)
        lane.pause(atLeast: nil, at: 0, policy: policy, using: &random)
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

@Suite struct LaneWindowTests {
    @Test func aFailureHalvesItAndEachAnswerAddsOne() {
        var window = LaneWindow()
        #expect(window.limit(at: 0) == .max)
        window.shrink(inFlight: 99)
        #expect(window.limit(at: 0) == 50)
        for _ in 1...10 { window.answered() }
        #expect(window.limit(at: 0) == 60)
        for _ in 1...20 { window.shrink(inFlight: 60) }
        #expect(window.limit(at: 0) == 1)
        for _ in 1...1023 { window.answered() }
        #expect(window.limit(at: 0) == 1024)
        window.answered()
        #expect(window.limit(at: 0) == .max)
    }

    @Test func afterAnOutageItGrowsOverAMinute() {
        var window = LaneWindow()
        window.restart(after: .seconds(5), at: 0)
        for _ in 1...5000 { window.answered() }
        func seconds(_ count: Int64) -> Int64 { count * 1_000_000_000 }
        #expect(window.limit(at: 0) == 3)
        #expect(window.limit(at: seconds(7) - 1) == 3)
        #expect(window.limit(at: seconds(7)) == 6)
        #expect(window.limit(at: seconds(58)) == 768)
        #expect(window.limit(at: seconds(63)) == .max)
        window.restart(after: .milliseconds(4999), at: seconds(70))
        #expect(window.limit(at: seconds(70)) == 1024)
    }
}

@Suite struct SuspicionTests {
    private let phones = (0..<5000).map { Digest(high: UInt64($0), low: 0) }

    @Test func differentDevicesAreWitnessesUntilOneIsAnswered() {
        var suspicion = Suspicion()
        #expect(suspicion.failed(phones[0]) == .news(witnesses: 1))
        #expect(suspicion.failed(phones[0]) == .again)
        #expect(suspicion.failed(phones[1]) == .news(witnesses: 2))
        #expect(suspicion.answered(phones[2]) == true)
        #expect(suspicion.answered(phones[2]) == false)
        #expect(suspicion.isAlone(phones[0]) && !suspicion.isAlone(phones[2]))
        #expect(suspicion.failed(phones[0]) == .alone)
        #expect(suspicion.failed(phones[3]) == .news(witnesses: 1))
        // Answered itself, it is as good as any other.
        _ = suspicion.answered(phones[0])
        #expect(suspicion.failed(phones[0]) == .news(witnesses: 1))
    }

    @Test func whatIsRememberedIsBounded() {
        var suspicion = Suspicion()
        for phone in phones { _ = suspicion.failed(phone) }
        #expect(suspicion.failed(phones[0]) == .news(witnesses: 5001))
    }
}
