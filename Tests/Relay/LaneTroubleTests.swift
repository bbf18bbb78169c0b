import Clocks
import Testing

@testable import Relay

private func second(_ number: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: number * 1_000_000_000) }

/// A lane, and what the operator is told of it.
private final class Watched {
    private var trouble = LaneTrouble()

    func news(of outcome: Outcome, at seconds: Int64...) -> [LaneTrouble.News] {
        seconds.compactMap { trouble.note(outcome, at: second($0)) }
    }

    /// One attempt at each of the given seconds, all in vain.
    func fails(at seconds: [Int64]) -> [LaneTrouble.News] {
        let unavailable = Outcome.deferred(Deferral(reason: "UNAVAILABLE", scope: .host))
        return seconds.compactMap { trouble.note(unavailable, at: second($0)) }
    }
}

@Suite struct LaneTroubleTests {
    private let lane = Watched()

    @Test func threeInARowThatLastFiveSecondsAreTroubleAndItsEndIsTold() {
        #expect(lane.fails(at: [10, 14]) == [])
        #expect(lane.fails(at: [15]) == [.failing(reason: "UNAVAILABLE", attempts: 3)])
        #expect(
            lane.news(of: .accepted, at: 40, 41) == [.recovered(attempts: 3, after: .seconds(30))])
    }

    @Test func twoAreNoneHoweverLongTheyLast() {
        #expect(lane.fails(at: [0, 900]) == [])
    }

    @Test func aPhoneThatGetsTooMuchIsNone() {
        let tooMany = Outcome.deferred(
            Deferral(reason: "TooManyRequests", scope: .device, isThrottle: true))
        for second in 0..<40 { #expect(lane.news(of: tooMany, at: Int64(second)) == []) }
    }

    @Test func twentyInARowAreTroubleAtOnce() {
        #expect(lane.fails(at: Array(repeating: 1, count: 19)) == [])
        #expect(lane.fails(at: [1]) == [.failing(reason: "UNAVAILABLE", attempts: 20)])
    }

    @Test(arguments: [.accepted, .refused(reason: "x"), .tokenDead(reason: "x", since: nil)] as [Outcome])
    func anyJudgementEndsTheRow(judgement: Outcome) {
        for time in 0..<100 {
            #expect(lane.fails(at: [Int64(time) * 10, Int64(time) * 10 + 1]) == [])
            #expect(lane.news(of: judgement, at: Int64(time) * 10 + 2) == [])
        }
    }

    @Test(
        arguments: [
            .blocked(reason: "BadTopic"),
            .deferred(Deferral(reason: "Shutdown", scope: .device, isUnharmed: true)),
        ] as [Outcome])
    func whatIsToldOtherwiseAndWhatCameBackUnharmedIsNone(outcome: Outcome) {
        for time in 0..<100 {
            #expect(lane.news(of: outcome, at: Int64(time)) == [])
        }
    }

    @Test func whileItLastsItIsToldEveryTenMinutes() {
        let told = lane.fails(at: Array(0...1210))
        #expect(
            told == [
                .failing(reason: "UNAVAILABLE", attempts: 6), .failing(reason: "UNAVAILABLE", attempts: 606),
                .failing(reason: "UNAVAILABLE", attempts: 1206),
            ])
    }

    @Test func oneThatComesAndGoesIsToldOncePerMinute() {
        #expect(lane.fails(at: [0, 1, 5]).count == 1)
        #expect(lane.news(of: .accepted, at: 6).count == 1)
        #expect(lane.fails(at: [10, 11, 20, 64]) == [])
        #expect(lane.fails(at: [65]) == [.failing(reason: "UNAVAILABLE", attempts: 5)])
    }
}
