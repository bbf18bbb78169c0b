import Clocks
import Testing
import Vectors

@testable import Relay

/// A lane's condition, event by event.
@Suite struct LaneTests {
    private let policy = RetryPolicy()
    private static let second = Duration.seconds(1)
    private static let start: MonotonicTime = 0
    private static let minute = start + .seconds(60)

    private func lane() -> Lane { Lane(id: Node.android) }

    @Test func anOpenLaneSendsAsMuchAsIsAskedFor() {
        var lane = lane()
        for _ in 0..<1000 {
            #expect(lane.turn(at: 0) == .oldest)
            lane.began(at: 0)
        }
        #expect(lane.inFlight == 1000)
    }

    private let phone = Sample.digest("phone")

    @Test func aPauseEndsWithAFewTriesAndAnAnswerOpens() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(10), isSure: false, at: 0, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: Self.start + Self.second * 10))
        #expect(lane.turn(at: Self.start + Self.second * 6 - .nanoseconds(1)) == nil)
        #expect(lane.turn(at: Self.start + Self.second * 10 - .nanoseconds(1)) == .probe)
        for turn in [Lane.Turn.newest, .oldest, .newest] {
            #expect(lane.turn(at: Self.start + Self.second * 10) == turn)
            #expect(lane.condition == .trying)
            lane.began(at: Self.start + Self.second * 10)
        }
        #expect(lane.turn(at: Self.start + Self.second * 10) == nil)
        lane.ended()
        _ = lane.answered(phone, at: Self.start + Self.second * 10)
        #expect(lane.condition == .open)
        #expect(lane.turn(at: Self.start + Self.second * 10) == .oldest)
    }

    /// So that none of those who fail first speaks for the rest.
    @Test func inALongPauseAFewOfTheOthersTry() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(3600), isSure: false, at: 0, policy: policy, using: &random)
        var tries: [Int64] = []
        var time = Self.start
        while time < Self.start + .seconds(3600) {
            while lane.turn(at: time) == .probe {
                lane.began(at: time)
                tries.append(time.nanoseconds / 1_000_000_000)
            }
            time = time + Self.second
        }
        // The longer the gateway's wish, the rarer; and first more, since half of what is new may fail.
        let times = [6, 6, 18, 36, 72, 144, 288, 576, 1152, 2304] as [Int64]
        #expect(tries == times.flatMap { [$0, $0, $0] })
        #expect(lane.turn(at: time) == .newest)
    }

    /// What the gateway says of us, and not of one device.
    @Test func aSureWishIsObeyedWholly() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(60), isSure: true, at: 0, policy: policy, using: &random)
        for second in 0..<60 { #expect(lane.turn(at: Self.start + Self.second * second) == nil) }
        #expect(lane.turn(at: Self.minute) == .newest)
    }

    @Test func eachTimeTwiceAsManyTry() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        var time = Self.start
        var tries: [Int] = []
        for _ in 1...5 {
            lane.pause(atLeast: nil, isSure: false, at: time, policy: policy, using: &random)
            time = time + .seconds(600)
            var count = 0
            while lane.turn(at: time) != nil {
                lane.began(at: time)
                count += 1
            }
            for _ in 0..<count { lane.ended() }
            tries.append(count)
        }
        #expect(tries == [3, 6, 12, 12, 12])
    }

    /// A try that says nothing of the gateway is no try.
    @Test func allTriesMustFailBeforeTheNextPause() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(10), isSure: false, at: 0, policy: policy, using: &random)
        let time = Self.start + Self.second * 10
        for number in 0..<3 {
            #expect(lane.turn(at: time) != nil)
            lane.began(at: time)
            if number == 0 { lane.endedAlone(begunAt: time) }
        }
        func fails(_ number: Int) -> Bool {
            lane.failed(
                Sample.digest("\(number)"), from: nil, witnesses: 3, begunAt: time, at: time
            ).pauses
        }
        #expect(!fails(1) && !fails(2))
        #expect(lane.turn(at: time) != nil)
        lane.began(at: time)
        #expect(fails(3))
    }

    @Test func ofManyThatFailTogetherOneCounts() {
        var random = SeededRandom(state: 1)
        var alone = lane()
        var together = lane()
        alone.pause(atLeast: nil, isSure: true, at: 0, policy: policy, using: &random)
        random = SeededRandom(state: 1)
        for _ in 0..<100 { together.pause(atLeast: nil, isSure: true, at: 0, policy: policy, using: &random) }
        #expect(together.condition == alone.condition)
    }

    @Test func aLaterWishProlongsAPauseAndNoneShortensIt() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.pause(atLeast: .seconds(60), isSure: true, at: 0, policy: policy, using: &random)
        lane.pause(atLeast: .seconds(10), isSure: true, at: 1, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: Self.minute))
        lane.pause(atLeast: .seconds(60), isSure: true, at: 1, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: Self.minute + .nanoseconds(1)))
        lane.pause(atLeast: .seconds(Int64.max), isSure: true, at: 1, policy: policy, using: &random)
        #expect(lane.condition == .paused(until: 86_400_000_000_001))
    }

    @Test func pausesGrowToAMinuteUntilAnAnswer() {
        var random = SeededRandom(state: 5)
        var lane = lane()
        var longest = Duration.zero
        var time = Self.start
        for _ in 0..<200 {
            lane.pause(atLeast: nil, isSure: true, at: time, policy: policy, using: &random)
            guard case .paused(let until) = lane.condition else { break }
            longest = max(longest, until - time)
            time = until
            #expect(lane.turn(at: time) != nil)
        }
        #expect(longest == .seconds(60))
        _ = lane.answered(phone, at: time)
        lane.pause(atLeast: nil, isSure: true, at: time, policy: policy, using: &random)
        guard case .paused(let until) = lane.condition else { return #expect(Bool(false)) }
        #expect(until - time <= .seconds(1))
    }

    /// One that was on its way when others failed: the gateway works, and what it surely asked for holds.
    @Test func anAnswerDuringAPauseEndsWhatTheGatewayHasNotSurelyAskedFor() {
        var random = SeededRandom(state: 1)
        var own = lane()
        own.block(reason: "BadTopic", at: 0)
        own.pause(atLeast: .seconds(60), isSure: false, at: 0, policy: policy, using: &random)
        _ = own.answered(phone, at: 1)
        #expect(own.condition == .open)
        #expect(own.block == nil)
        var asked = lane()
        asked.pause(atLeast: .seconds(60), isSure: true, at: 0, policy: policy, using: &random)
        _ = asked.answered(phone, at: 1)
        #expect(asked.condition == .paused(until: Self.minute))
    }

    @Test func newCredentialsAreTriedAtOnce() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        lane.block(reason: "InvalidProviderToken", at: 0)
        lane.pause(atLeast: nil, isSure: true, at: 0, policy: policy, using: &random)
        lane.resume(at: 0)
        #expect(lane.condition == .trying)
        #expect(lane.turn(at: 0) == .newest)
        #expect(lane.block?.reason == "InvalidProviderToken")
    }

    /// After several pauses, while more have tried than do after the first: it would never send again.
    @Test func newCredentialsAmongTriesAreTriedAtOnce() {
        var random = SeededRandom(state: 1)
        var lane = lane()
        for _ in 1...2 {
            lane.pause(atLeast: nil, isSure: false, at: 0, policy: policy, using: &random)
            #expect(lane.turn(at: Self.minute) != nil)
        }
        for number in 0..<4 {
            lane.began(at: Self.minute)
            lane.ended()
            let failed = lane.failed(
                Sample.digest("\(number)"), from: nil, witnesses: 3, begunAt: Self.minute, at: Self.minute)
            #expect(!failed.pauses)
        }
        lane.resume(at: Self.minute + .seconds(60))
        #expect(lane.turn(at: Self.minute + .seconds(60)) == .newest)
    }

    @Test func newCredentialsOfAnOpenLaneChangeNothing() {
        var lane = lane()
        lane.resume(at: 0)
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
        func seconds(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000_000) }
        #expect(window.limit(at: 0) == 3)
        #expect(window.limit(at: seconds(7) - .nanoseconds(1)) == 3)
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
        var suspicion = Suspicion<Digest>()
        #expect(suspicion.failed(phones[0], from: nil) == .news)
        #expect(suspicion.failed(phones[0], from: nil) == .again)
        #expect(suspicion.failed(phones[1], from: nil) == .news)
        #expect(suspicion.isReason(witnesses: 2, at: 0) && !suspicion.isReason(witnesses: 3, at: 0))
        #expect(suspicion.answered(phones[2]) == true)
        #expect(suspicion.answered(phones[2]) == false)
        #expect(suspicion.isAlone(phones[0]) && !suspicion.isAlone(phones[2]))
        #expect(suspicion.failed(phones[0], from: nil) == .alone)
        #expect(suspicion.failed(phones[3], from: nil) == .news)
        #expect(suspicion.isReason(witnesses: 1, at: 0) && !suspicion.isReason(witnesses: 2, at: 0))
        // Answered itself, it is as good as any other.
        suspicion.answered(phones[0])
        #expect(suspicion.failed(phones[0], from: nil) == .news)
    }

    /// One sender's devices count as one, and eight of them as another.
    @Test func theDevicesOfOneSenderSayLittle() {
        var suspicion = Suspicion<Digest>()
        for phone in phones.prefix(23) { suspicion.failed(phone, from: SenderID(1)) }
        #expect(!suspicion.isReason(witnesses: 3, at: 0))
        suspicion.failed(phones[23], from: SenderID(1))
        #expect(suspicion.isReason(witnesses: 3, at: 0))
        suspicion.answered(phones[100])
        for number in 0..<3 { suspicion.failed(phones[30 + number], from: SenderID(number)) }
        #expect(suspicion.isReason(witnesses: 3, at: 0))
    }

    /// Whoever has been wrong needs twice as many, for ten minutes.
    @Test func witnessesThatProvedWrongAreBelievedLess() {
        let minute: MonotonicTime = 60_000_000_000
        let eleventh: MonotonicTime = 660_000_000_000
        var suspicion = Suspicion<Digest>()
        suspicion.doubt(at: minute)
        #expect(suspicion.doubts(at: minute) == 1)
        suspicion.doubt(at: minute)
        #expect(suspicion.doubts(at: eleventh - .nanoseconds(1)) == 2 && suspicion.doubts(at: eleventh) == 0)
        for number in 0..<11 { suspicion.failed(phones[number], from: SenderID(number)) }
        #expect(!suspicion.isReason(witnesses: 3, at: minute))
        #expect(suspicion.isReason(witnesses: 3, at: eleventh))
        suspicion.failed(phones[11], from: SenderID(11))
        #expect(suspicion.isReason(witnesses: 3, at: minute))
    }

    @Test func whatIsRememberedIsBounded() {
        var suspicion = Suspicion<Digest>()
        for phone in phones { suspicion.failed(phone, from: nil) }
        #expect(suspicion.failed(phones[0], from: nil) == .news)
    }
}
