import Clocks
import Relay
import Testing
import Vectors

@testable import Gateways

@Suite struct ConnectionLifeTests {
    /// One that was used.
    private func open(needsProof: Bool = false) -> ConnectionLife {
        var life = ConnectionLife(needsProof: needsProof, at: 0)
        life.opened(at: 0)
        life.sent(at: 0)
        life.ended(wasAnswered: true, at: 0)
        return life
    }

    @Test func nothingIsSentBeforeTheGatewayHasSpoken() {
        let life = ConnectionLife(needsProof: false, at: 0)
        #expect(life.room(freeStreams: 100) == 0)
        #expect(open().room(freeStreams: 100) == 100)
    }

    @Test func withATokenOneRequestGoesUntilOneIsAnswered() {
        var life = open(needsProof: true)
        #expect(life.room(freeStreams: 1000) == 1)
        life.sent(at: 0)
        #expect(life.room(freeStreams: 999) == 0)
        #expect(!life.isFull(freeStreams: 999))
        life.ended(wasAnswered: true, at: .second(1))
        #expect(life.room(freeStreams: 1000) == 1)
        life.proved()
        #expect(life.room(freeStreams: 1000) == 500)
    }

    @Test func theGatewaysLimitIsFollowedUpAndDown() {
        var life = open()
        for _ in 0..<10 { life.sent(at: 0) }
        #expect(life.room(freeStreams: 90) == 90)
        #expect(life.room(freeStreams: -9) == 0)
        #expect(life.isFull(freeStreams: -9))
        #expect(life.room(freeStreams: 1) == 1)
        #expect(life.room(freeStreams: .max) == 490)
    }

    @Test func aDrainingConnectionTakesNothingAndEndsWithItsLastRequest() {
        var life = open()
        life.sent(at: 0)
        life.drain()
        #expect(life.room(freeStreams: 100) == 0)
        expect(life.check(at: .second(1), isSpare: false), is: .wait(until: .second(10)))
        life.ended(wasAnswered: true, at: .second(2))
        expect(life.check(at: .second(2), isSpare: false), is: .end(.drained))
    }

    @Test func oneThatNeverSpeaksIsGivenUpAfter30Seconds() {
        var life = ConnectionLife(needsProof: false, at: .second(5))
        expect(life.check(at: .second(34), isSpare: false), is: .wait(until: .second(35)))
        expect(life.check(at: .second(35), isSpare: false), is: .end(.setupTimeout))
    }

    @Test func anIdleOneIsAskedForALifeSignEachMinute() {
        var life = open()
        expect(life.check(at: .second(59), isSpare: false), is: .wait(until: .second(60)))
        expect(life.check(at: .second(60), isSpare: false), is: .ping)
        expect(life.check(at: .second(61), isSpare: false), is: .wait(until: .second(70)))
        life.received(at: .second(62))
        expect(life.check(at: .second(63), isSpare: false), is: .wait(until: .second(122)))
    }

    @Test func aSilentOneIsGivenUp10SecondsAfterThePing() {
        var life = open()
        expect(life.check(at: .second(60), isSpare: false), is: .ping)
        expect(life.check(at: .second(70), isSpare: false), is: .end(.silent))
    }

    @Test func aWaitingRequestMakesThePingComeSooner() {
        var life = open()
        life.sent(at: .second(50))
        expect(life.check(at: .second(59), isSpare: false), is: .wait(until: .second(60)))
        expect(life.check(at: .second(60), isSpare: false), is: .ping)
    }

    @Test func oneThatTakesRequestsAndAnswersNoneIsReplaced() {
        var life = open()
        life.sent(at: .second(1))
        life.sent(at: .second(2))
        life.ended(wasAnswered: true, at: .second(3))
        life.timedOut(sentAt: .second(2))
        #expect(life.phase == .open)
        // An answer in the moment in which it was sent is that of one before.
        var other = life
        other.timedOut(sentAt: .second(3))
        #expect(other.phase == .draining)
        life.timedOut(sentAt: .second(4))
        #expect(life.phase == .draining)
    }

    /// MAX_CONCURRENT_STREAMS=0 that stays: another connection may do better.
    @Test func oneThatAllowsNothingForAMinuteGoes() {
        var life = open()
        life.received(at: .second(99))
        expect(
            life.check(at: .second(100), isSpare: false, starvedSince: .second(41)),
            is: .wait(until: .second(159)))
        expect(
            life.check(at: .second(101), isSpare: false, starvedSince: nil), is: .wait(until: .second(159)))
        expect(life.check(at: .second(101), isSpare: false, starvedSince: .second(41)), is: .end(.starved))
        life.sent(at: .second(101))
        expect(
            life.check(at: .second(101), isSpare: false, starvedSince: .second(41)),
            is: .wait(until: .second(111)))
    }

    /// Two failures ten seconds apart are enough, at the last moment that is too early and the first that is not. What is
    /// taken between them makes it good again, and a refusal neither.
    @Test(
        arguments: [
            ([(.fails, 0)], 99, false), ([(.fails, 0), (.fails, 9)], 9, false),
            ([(.fails, 0), (.fails, 9)], 10, true), ([(.fails, 0), (.fails, 10)], 10, true),
            ([(.works, 0), (.fails, 1), (.fails, 2)], 11, true),
            ([(.fails, 0), (.works, 1), (.fails, 2)], 99, false),
            ([(.fails, 0), (.nothing, 1), (.fails, 2)], 10, true),
            ([(.nothing, 0), (.nothing, 9)], 99, false),
        ] as [([(ConnectionLife.Sign, Int64)], Int64, Bool)])
    func oneThatOnlyFailsIsKnown(signs: [(ConnectionLife.Sign, Int64)], at time: Int64, onlyFails: Bool) {
        var life = open()
        for (sign, time) in signs { life.note(sign, at: .second(time)) }
        #expect(life.onlyFails(at: .second(time)) == onlyFails)
        life.drain()
        #expect(!life.onlyFails(at: .second(time)))
    }

    /// Whatever form a failure has. A node's answers in the peers' protocol have no such numbers.
    @Test func eachEndOfARequestIsASign() {
        func sign(_ status: Int, _ body: String = "") -> ConnectionLife.Sign {
            ExchangeEnd.answered(GatewayAnswer(status: status, body: Array(body.utf8))).sign
        }
        for status in [200, 201, 299] { #expect(sign(status, "{}") == .works && sign(status) == .works) }
        for status in [500, 503, 599] { #expect(sign(status, "{}") == .fails) }
        for status in [3, 5, 6, 302, 400, 410, 429, 499, 600] { #expect(sign(status) == .nothing) }
        #expect(sign(200, "\r\n <!DOCTYPE html>") == .fails && sign(404, "<html>") == .nothing)
        for reason: ExchangeReason in [
            .own(.answerTimeout), .own(.answerTooLarge), .reset(2), .system("broken"),
        ] {
            #expect(ExchangeEnd.unclear(reason).sign == .fails)
        }
        #expect(ExchangeEnd.unharmed(.own(.notProcessed)).sign == .fails)
    }

    /// It answers each PING to its end, and the last one is long before it.
    @Test func oneWithNothingToDoGoesAfterAnHour() {
        var life = open()
        for minute in 1...59 as ClosedRange<Int64> {
            life.received(at: .second(60 * minute - 60))
            expect(life.check(at: .second(60 * minute), isSpare: false), is: .ping)
        }
        life.received(at: .second(3540))
        expect(
            life.check(at: .second(3600) - .nanoseconds(1), isSpare: false), is: .wait(until: .second(3600)))
        var busy = life
        expect(life.check(at: .second(3600), isSpare: false), is: .end(.unused))
        busy.sent(at: .second(3599))
        expect(busy.check(at: .second(3600), isSpare: false), is: .wait(until: .second(3609)))
    }

    /// Whatever it was opened for is gone, or somebody wanted to know whether that can be done.
    @Test func oneThatNobodyUsesGoesAfterThreeSeconds() {
        var life = ConnectionLife(needsProof: false, at: 0)
        life.opened(at: .second(9))
        life.received(at: .second(10))
        expect(life.check(at: .second(12) - .nanoseconds(1), isSpare: false), is: .wait(until: .second(12)))
        // What waits and may not be sent is no want of work.
        expect(
            life.check(at: .second(12), isSpare: false, starvedSince: .second(9)),
            is: .wait(until: .second(70)))
        expect(life.check(at: .second(12), isSpare: false), is: .end(.unused))
    }

    @Test func aSpareOneWithNothingToDoGoesAfterTenMinutes() {
        var life = open()
        life.received(at: .second(599))
        expect(life.check(at: .second(599), isSpare: true), is: .wait(until: .second(659)))
        expect(life.check(at: .second(600), isSpare: false), is: .wait(until: .second(659)))
        expect(life.check(at: .second(600), isSpare: true), is: .end(.spare))
    }
}

@Suite struct OpeningPaceTests {
    private var random = SystemRandomNumberGenerator()

    @Test mutating func afterOneThatWorkedTheNextIsOpenedAtOnce() {
        var pace = OpeningPace()
        pace.opening(at: 0)
        pace.ended(answers: 1, of: 1, openedAt: 0, at: .second(1), using: &random)
        #expect(pace.nextOpening(at: .second(1)) == .second(1))
        pace.opening(at: .second(1))
        pace.ended(answers: 0, of: 0, openedAt: .second(1), at: .second(61), using: &random)
        #expect(pace.nextOpening(at: .second(61)) == .second(61))
    }

    /// A relay's dial has a minute, the same as what is long: by the gateway's own limits, each that hangs is a failure.
    @Test mutating func aDialThatHangsIsAFailureHoweverLongItTakes() {
        var pace = OpeningPace()
        var time: MonotonicTime = 0
        for failures in 1...3 {
            var life = ConnectionLife(limits: RelayGateway.limits, needsProof: false, at: time)
            time = time + RelayGateway.limits.setup
            expect(life.check(at: time, isSpare: false), is: .end(.setupTimeout))
            pace.ended(answers: life.answers, of: 0, openedAt: life.openedAt, at: time, using: &random)
            #expect(pace.failures == failures && pace.nextOpening(at: time) > time)
        }
        // One that stood at last for as long is none, and one that took as long to stand and went is.
        var life = ConnectionLife(limits: RelayGateway.limits, needsProof: false, at: time)
        life.opened(at: time + .seconds(59))
        #expect(life.openedAt == time + .seconds(59))
        var other = pace
        pace.ended(answers: 0, of: 0, openedAt: life.openedAt, at: time + .seconds(118), using: &random)
        #expect(pace.failures == 4)
        other.ended(answers: 0, of: 0, openedAt: life.openedAt, at: time + .seconds(119), using: &random)
        #expect(other.failures == 0)
    }

    /// A relay has a minute for its answer, the same as what is long: one that takes requests and answers none is no use.
    @Test mutating func aConnectionThatAnswersNothingIsAFailureHoweverLongItStands() {
        let limits = RelayGateway.limits
        var life = ConnectionLife(limits: limits, needsProof: false, at: 0)
        life.opened(at: .second(1))
        life.sent(at: .second(1))
        let end = MonotonicTime.second(1) + limits.request
        life.timedOut(sentAt: .second(1))
        life.ended(wasAnswered: false, at: end)
        expect(life.check(at: end, isSpare: false), is: .end(.drained))
        var demand = LinkDemand()
        demand.isRunning = true
        expect(demand.want(room: 0, isOpening: false), is: true)
        expect(demand.ended(life, requests: 1, isOurs: false, at: end, using: &random), is: .failure)
        #expect(demand.pace.failures == 1)
    }

    @Test mutating func failuresWaitLongerAndLongerUpToAMinute() {
        var pace = OpeningPace()
        var time: MonotonicTime = 0
        for bound in [1, 2, 4, 8, 16, 32, 64, 120, 120] {
            pace.ended(answers: 0, of: 0, openedAt: time, at: time, using: &random)
            let next = pace.nextOpening(at: time)
            #expect((.milliseconds(bound * 250) ... .milliseconds(bound * 500)).contains(next - time))
            time = next
        }
        pace.reset(at: time)
        #expect(pace.nextOpening(at: time) == time)
    }

    /// It may be the gateway that fails, and then no other connection does better.
    @Test func oneThatOnlyFailsIsReplacedOnceAMinute() {
        var pace = OpeningPace()
        expect(pace.takeReplacement(at: 0), is: true)
        expect(pace.takeReplacement(at: .second(60) - .nanoseconds(1)), is: false)
        expect(pace.takeReplacement(at: .second(60)), is: true)
    }

    @Test mutating func aStormOfOpeningsIsSlowedDown() {
        var pace = OpeningPace()
        for _ in 0..<60 {
            #expect(pace.nextOpening(at: 0) == 0)
            pace.opening(at: 0)
            pace.ended(answers: 9, of: 9, openedAt: 0, at: 0, using: &random)
        }
        #expect(pace.nextOpening(at: 0) == .second(1))
        #expect(pace.nextOpening(at: .second(1)) == .second(1))
        pace.opening(at: .second(1))
        #expect(pace.nextOpening(at: .second(1)) == .second(2))
        #expect(pace.nextOpening(at: .second(9)) == .second(9))
    }
}

@Suite struct WishedPauseTests {
    private func deferral(_ word: String, _ pause: Duration?, _ scope: Deferral.Scope = .host) -> Deferral {
        Deferral(reason: word, scope: scope, retryAfter: pause)
    }

    @Test func theLongestIsToldUntilSomethingIsTaken() {
        var wished = WishedPause()
        expect(wished.asked(deferral("a", nil), at: 0), is: nil)
        expect(wished.asked(deferral("b", .seconds(99), .device), at: 0), is: nil)
        #expect(wished.wish == nil)
        expect(wished.asked(deferral("day", .seconds(3600)), at: 0), is: 3600)
        expect(wished.asked(deferral("rate", .seconds(10), .app), at: .second(1)), is: nil)
        #expect(wished.wish?.reason == "day" && wished.wish?.until == .second(3600))
        wished.accepted()
        #expect(wished.wish == nil)
        expect(wished.asked(deferral("rate", .seconds(10)), at: .second(600) - .nanoseconds(1)), is: nil)
        expect(wished.asked(deferral("rate", .seconds(10)), at: .second(600)), is: 10)
    }
}

@Suite struct GatewayURLTests {
    @Test(
        arguments: [
            ("https://api.push.apple.com", true, "api.push.apple.com", 443, "/", "api.push.apple.com"),
            (
                "https://api.push.apple.com:2197/", true, "api.push.apple.com", 2197, "/",
                "api.push.apple.com:2197"
            ),
            ("https://a:443/token/x", true, "a", 443, "/token/x", "a"),
            ("http://127.0.0.1:8080", false, "127.0.0.1", 8080, "/", "127.0.0.1:8080"),
            ("http://localhost", false, "localhost", 80, "/", "localhost"),
            ("https://[::1]:8443/a", true, "::1", 8443, "/a", "[::1]:8443"),
            ("http://[::1]", false, "::1", 80, "/", "[::1]"),
        ] as [(String, Bool, String, UInt16, String, String)])
    func anAddressIsReadWhole(
        text: String, isSecure: Bool, host: String, port: UInt16, path: String, authority: String
    ) throws {
        let url = try GatewayURL(text)
        #expect(url.isSecure == isSecure && url.host == host && url.port == port && url.path == path)
        #expect(url.authority == authority)
    }

    @Test(arguments: [
        "", "api.push.apple.com", "ftp://a", "https://", "https:///a", "https://a:0", "https://a:65536",
        "https://a b",
        "https://u@a", "https://a?x", "https://a#x", "https://a:x", "https://::1", "https://é",
    ])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(throws: GatewayURL.Fault.notURL) { try GatewayURL(text) }
    }

    @Test(arguments: ["http://example.com", "http://10.0.0.1:80", "http://127.example.com"])
    func plainHTTPStaysOnThisMachine(text: String) {
        #expect(throws: GatewayURL.Fault.plainBeyondLoopback) { try GatewayURL(text) }
    }
}
