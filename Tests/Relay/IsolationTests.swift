import Testing
import Vectors

@testable import Relay

/// What a gateway answers one phone is nobody else's trouble.
@Suite struct IsolationTests {
    private static let thirdParty = Outcome.blocked(reason: "THIRD_PARTY_AUTH_ERROR")
    private static let unavailable = Outcome.deferred(
        Deferral(reason: "UNAVAILABLE", scope: .host, retryAfter: .seconds(10)))
    private static let healthy = 1000..<1_000_000

    /// Some phones whose app the gateway always calls wrong: the others' notifications leave within a second. Of more
    /// than it takes at once, some have still to try.
    @Test(arguments: [(1, 1), (3, 1), (20, 1), (200, 6)])
    func phonesThatAreAlwaysBlockedHoldUpNoOther(bad: Int, seconds: Int) {
        let play = GatewayPlay()
        for phone in 0..<bad { play.submit(to: phone, at: .zero) }
        play.submit(to: 1000, at: .seconds(1))
        for number in 1..<60 { play.submit(to: 1000 + number, at: .seconds(10 * number)) }
        play.run(until: .seconds(900)) { phone, _ in phone < 1000 ? Self.thirdParty : .accepted }
        let delays = play.delays(of: Self.healthy)
        #expect(delays.count == 60)
        #expect(delays.last! <= .seconds(seconds), "\(delays.last!)")
        #expect(delays[50] == .zero)
    }

    /// Some phones that the gateway always calls overloaded, and asks for ten seconds each time: once, three of them may
    /// speak for all.
    @Test(arguments: [1, 3, 20, 200])
    func phonesThatAlwaysHearOfOverloadHoldUpNoOther(bad: Int) {
        let play = GatewayPlay()
        for phone in 0..<bad { play.submit(to: phone, at: .zero) }
        for number in 0..<240 { play.submit(to: 1000 + number, at: .milliseconds(500 * number)) }
        play.run(until: .seconds(300)) { phone, _ in phone < 1000 ? Self.unavailable : .accepted }
        let delays = play.delays(of: Self.healthy)
        #expect(delays.count == 240)
        #expect(delays.last! <= (bad < 3 ? .zero : .seconds(10.1)), "\(delays.last!)")
        #expect(delays[120] == .zero, "\(delays[120])")
    }

    /// At night nobody else's success speaks for the gateway.
    @Test func aFewThatAlwaysFailDoNotSilenceAQuietNight() {
        let play = GatewayPlay()
        for phone in 0..<3 { play.submit(to: phone, at: .seconds(phone)) }
        for number in 0..<6 { play.submit(to: 1000 + number, at: .seconds(3600 * (number + 1))) }
        let failure = Outcome.deferred(Deferral(reason: "HTTP500", scope: .host))
        play.run(until: .seconds(8 * 3600)) { phone, _ in phone < 1000 ? failure : .accepted }
        let delays = play.delays(of: Self.healthy)
        #expect(delays.count == 6)
        #expect(delays.last! <= .seconds(1), "\(delays.last!)")
    }

    /// One of a thousand requests is called overload, at five hundred a second.
    @Test func oneOverloadInAThousandSilencesNobody() {
        let play = GatewayPlay()
        for number in 0..<10_000 { play.submit(to: 1000 + number, at: .milliseconds(2 * number)) }
        var random = SeededRandom(state: 3)
        play.run(until: .seconds(60)) { _, _ in
            Int.random(in: 0..<1000, using: &random) == 0 ? Self.unavailable : .accepted
        }
        let delays = play.delays(of: Self.healthy)
        #expect(delays.count == 10_000)
        #expect(delays.last! <= .seconds(1), "\(delays.last!)")
        #expect(delays[9_900] == .zero)
    }

    /// A gateway that is away for ten minutes is asked now and then, and everything leaves soon after.
    @Test func anOutageOfAllEndsForAll() {
        let play = GatewayPlay()
        for number in 0..<2000 { play.submit(to: 1000 + number, at: .milliseconds(300 * number)) }
        let failure = Outcome.deferred(Deferral(reason: "HTTP503", scope: .host))
        play.run(until: .seconds(600)) { _, _ in failure }
        let asked = play.requests.count
        #expect(asked < 1500, "\(asked) requests to a gateway that is away")
        #expect(asked > 20)
        play.run(until: .seconds(720)) { _, _ in .accepted }
        #expect(play.delays(of: Self.healthy).last! < .seconds(720))
        let first = play.requests.first { $0.at > .seconds(600) }
        #expect(first!.at <= .seconds(660))
    }

    /// After an outage requests come back over a minute and not at once (Firebase).
    @Test func afterAnOutageRequestsAreFewAtFirst() {
        let play = GatewayPlay()
        for number in 0..<3000 { play.submit(to: 1000 + number, at: .zero) }
        play.run(until: .seconds(11)) { _, time in time < .seconds(1) ? Self.unavailable : .accepted }
        let soon = play.requests.count { $0.at >= .seconds(10) && $0.at < .seconds(10.5) }
        #expect((1...40).contains(soon), "\(soon)")
        play.run(until: .seconds(100)) { _, _ in .accepted }
        #expect(play.delays(of: Self.healthy).last! < .seconds(100))
    }

    /// Whatever the answers of up to fifty others are, a notification to a phone that is well leaves within half a minute;
    /// longer wishes of the gateway than ten seconds are not played.
    @Test(arguments: UInt64(1)...40)
    func whateverOthersHearAHealthyOneLeavesSoon(seed: UInt64) {
        var random = SeededRandom(state: seed)
        let play = GatewayPlay(seed: seed)
        let bad = Int.random(in: 1...50, using: &random)
        var faults: [Outcome] = []
        for phone in 0..<bad {
            for _ in 0..<Int.random(in: 1...10, using: &random) {
                play.submit(to: phone, at: .milliseconds(Int.random(in: 0..<600_000, using: &random)))
            }
            let wish: Duration? =
                Bool.random(using: &random) ? .seconds(Int.random(in: 0...10, using: &random)) : nil
            faults.append(
                [
                    Self.thirdParty, Self.unavailable, .blocked(reason: "HTTP403"),
                    .refused(reason: "BadPath"),
                    .deferred(Deferral(reason: "HTTP500", scope: .host, retryAfter: wish)),
                    .deferred(Deferral(reason: "QUOTA_EXCEEDED", scope: .app, retryAfter: wish)),
                    .deferred(Deferral(reason: "AnswerTimeout", scope: .device)),
                ].randomElement(using: &random)!)
        }
        let count = [10, 100, 2000].randomElement(using: &random)!
        for number in 0..<count {
            play.submit(
                to: 1000 + number, at: .milliseconds(Int.random(in: 0..<600_000, using: &random)))
        }
        play.run(until: .seconds(660)) { phone, _ in phone < 1000 ? faults[phone] : .accepted }
        let delays = play.delays(of: Self.healthy)
        #expect(delays.count == count)
        #expect(delays.last! <= .seconds(30), "\(delays.last!) of \(bad)")
    }
}
