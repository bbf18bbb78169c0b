import Testing
import Vectors

@testable import Relay

/// Origins that are dead, slow, hostile or made up are nobody else's trouble: neither that of the app's other origins nor
/// that of other apps. Where tokens name more servers than an app has lanes for, those that the operator has named have
/// theirs all the same.
@Suite struct OriginIsolationTests {
    private static let good = "push.good.example"
    private static let named = "named"
    private static let minutes = 10

    /// - Parameters:
    ///   - madeUp: Names that nobody has.
    ///   - isBroken: A core in which one origin's trouble is all of its app's.
    private func play(seed: UInt64, madeUp: ClosedRange<Int>, isBroken: Bool = false) -> OriginPlay {
        var random = SeededRandom(state: seed)
        let play = OriginPlay(seed: seed)
        let end = 1000 * 60 * Self.minutes
        func submit(to origin: String?, phones: Int, times: Int) {
            for _ in 0..<times {
                let phone = OriginPlay.Phone(
                    origin: origin, number: Int.random(in: 0..<phones, using: &random))
                play.submit(to: phone, at: .milliseconds(Int.random(in: 0..<end, using: &random)))
            }
        }
        let count = [20, 200].randomElement(using: &random)!
        for origin in [Self.good, Self.named, nil] { submit(to: origin, phones: count, times: count) }
        for bad in ["dead", "slow", "hostile"] {
            for number in 0..<Int.random(in: 1...4, using: &random) {
                submit(
                    to: "\(bad)\(number).example", phones: 20, times: Int.random(in: 1...60, using: &random))
            }
        }
        for number in 0..<Int.random(in: madeUp, using: &random) {
            submit(to: "made-up\(number).example", phones: 3, times: 2)
        }
        var faults = SeededRandom(state: seed &+ 1)
        let scope = isBroken ? Deferral.Scope.app : .host
        play.run(until: .seconds(60 * Self.minutes + 60)) { phone in
            guard let origin = phone.origin, ![Self.good, Self.named].contains(origin) else {
                return (.accepted, .milliseconds(50))
            }
            switch origin.first {
            case "d":
                return (.deferred(Deferral(reason: "SetupTimeout", scope: scope, witnesses: 1)), .seconds(15))
            case "s": return (.accepted, .seconds(14))
            case "m": return (.deferred(Deferral(reason: "Unreachable", scope: scope)), .seconds(5))
            case _: break
            }
            let wish: Duration? =
                Bool.random(using: &faults) ? .seconds(Int.random(in: 0...86_400, using: &faults)) : nil
            let outcomes: [Outcome] = [
                .refused(reason: "HTTP400"), .tokenDead(reason: "HTTP410", since: nil), .accepted,
                .deferred(Deferral(reason: "HTTP503", scope: scope, retryAfter: wish, witnesses: 1)),
                .deferred(Deferral(reason: "HTTP429", scope: .device, retryAfter: wish, isThrottle: true)),
                .deferred(Deferral(reason: "AnswerTimeout", scope: .device)),
            ]
            return (
                outcomes.randomElement(using: &faults)!,
                .milliseconds(Int.random(in: 1...15_000, using: &faults))
            )
        }
        return play
    }

    @Test(arguments: UInt64(1)...(isLong ? 16 : 4))
    func aHealthyOriginsPhonesAreRungAtOnce(seed: UInt64) {
        let play = play(seed: seed, madeUp: 10...200)
        check(play, [Self.good, Self.named, nil])
        #expect(play.mostOrigins > 10)
    }

    @Test(arguments: UInt64(1)...(isLong ? 8 : 1))
    func namesBeyondCountTakeNothingFromServersThatAreNamed(seed: UInt64) {
        let play = play(seed: seed, madeUp: 400...500)
        check(play, [Self.named, nil])
        #expect(play.mostOrigins == Pipeline.mostOriginsPerApp && !play.turnedAway.isEmpty)
    }

    private func check(_ play: OriginPlay, _ healthy: [String?]) {
        let delays = play.delays { healthy.contains($0.origin) }
        let turnedAway = play.turnedAway.count { healthy.contains($0.origin) }
        #expect(delays.count >= 20 * healthy.count && turnedAway == 0)
        #expect(delays.last! <= .milliseconds(100), "\(delays.last!)")
    }

    /// The test finds a core in which one origin speaks for all of its app's.
    @Test func oneOriginsTroubleThatIsAllOfTheAppsIsFound() {
        let delays = play(seed: 1, madeUp: 10...200, isBroken: true).delays { $0.origin == Self.good }
        #expect(delays.last! > .seconds(5), "\(delays.last!)")
    }

    // MARK: Silent servers

    /// Seven hundred circuits bring a silent server each, again and again. An origin that has taken something before hears
    /// no "busy", and waits for nobody, though its own lane had gone.
    @Test func whatHasTakenSomethingKeepsAShareThatSilentServersCantUse() {
        let play = OriginPlay(seed: 1)
        let honest = (0..<6).map { OriginPlay.Phone(origin: "honest\($0).example", number: 0) }
        for phone in honest { play.submit(to: phone, at: .zero, by: 5000) }
        // Its lane closes after five minutes.
        let begin = 400_000
        for number in 0..<1600 {
            let phone = OriginPlay.Phone(origin: "silent\(number).example", number: 0)
            play.submit(to: phone, at: .milliseconds(begin + 80 * number), by: number)
        }
        for (index, phone) in honest.enumerated() {
            for second in stride(from: 20, to: 120, by: 10) {
                play.submit(
                    to: phone, at: .milliseconds(begin + 1000 * second + index), by: 6000 + index)
            }
        }
        play.run(until: .milliseconds(begin + 140_000)) { phone in
            phone.origin!.hasPrefix("honest")
                ? (.accepted, .milliseconds(50))
                : (.deferred(Deferral(reason: "AnswerTimeout", scope: .host)), .seconds(15))
        }
        #expect(play.turnedAway.count { $0.origin!.hasPrefix("honest") } == 0)
        #expect(play.turnedAway.count > 100)
        #expect(play.delays { $0.origin!.hasPrefix("honest") }.last! <= .milliseconds(100))
    }

    // MARK: Made-up names

    private static func madeUp(_ number: Int) -> OriginPlay.Phone {
        OriginPlay.Phone(origin: "made-up\(number).example", number: 0)
    }

    /// One circuit brings a name for each of three hundred: it gets eight lanes.
    @Test func oneCircuitTakesEightLanes() {
        let play = OriginPlay(seed: 1)
        for number in 0..<300 { play.submit(to: Self.madeUp(number), at: .milliseconds(3 * number), by: 1) }
        for number in 0..<20 {
            let phone = OriginPlay.Phone(origin: "good\(number).example", number: 0)
            play.submit(to: phone, at: .milliseconds(1000 + number), by: 100 + number)
        }
        play.run(until: .seconds(10)) { phone in
            phone.origin!.hasPrefix("good")
                ? (.accepted, .milliseconds(50))
                : (.deferred(Deferral(reason: "Unreachable", scope: .host)), .seconds(5))
        }
        #expect(play.turnedAway.count == 292 && play.mostOrigins <= 28)
        #expect(play.delays { $0.origin!.hasPrefix("good") }.last! == .zero)
    }

    /// Circuits that can't be told apart have half of all together.
    @Test func unknownCircuitsLeaveRoom() {
        let play = OriginPlay(seed: 1)
        for number in 0..<600 { play.submit(to: Self.madeUp(number), at: .milliseconds(number)) }
        play.submit(to: OriginPlay.Phone(origin: Self.good, number: 0), at: .seconds(10), by: 1)
        play.run(until: .seconds(20)) { phone in
            phone.origin == Self.good
                ? (.accepted, .milliseconds(50))
                : (.deferred(Deferral(reason: "Unreachable", scope: .host)), .seconds(5))
        }
        // Half of all lanes, which are three times as many as have a gateway.
        #expect(play.turnedAway.count == 600 - Pipeline.mostOriginsPerApp * 3 / 2)
        #expect(play.mostOrigins == Pipeline.mostOriginsPerApp)
        let delays = play.delays { $0.origin == Self.good }
        #expect(delays.count == 1 && delays[0] <= Self.longestRequest, "\(delays)")
    }

    /// No lane gives way with a request under way.
    private static let longestRequest: Duration = .seconds(5)

    /// Several circuits take all lanes together: who comes then has one as soon as a request of theirs has ended, and those
    /// that gave way lose nothing.
    @Test(arguments: isLong ? [32, 60, 128] : [32, 60])
    func circuitsThatTakeAllLanesGiveWay(circuits: Int) {
        let play = OriginPlay(seed: 1)
        for number in 0..<circuits * 8 {
            play.submit(to: Self.madeUp(number), at: .milliseconds(number), by: number / 8)
        }
        for number in 0..<100 {
            let phone = OriginPlay.Phone(origin: "good\(number).example", number: 0)
            play.submit(to: phone, at: .milliseconds(1000 + 600 * number), by: 1000 + number)
        }
        // They exist after all, from the third minute on.
        play.run(until: .seconds(180)) { phone in
            phone.origin!.hasPrefix("good")
                ? (.accepted, .milliseconds(50))
                : (.deferred(Deferral(reason: "Unreachable", scope: .host)), .seconds(5))
        }
        #expect(!play.turnedAway.contains { $0.origin!.hasPrefix("good") })
        let delays = play.delays { $0.origin!.hasPrefix("good") }
        print(
            "made-up origins: \(circuits * 8) of \(circuits) circuits, \(play.turnedAway.count) turned away, \(play.mostOrigins) lanes with a gateway and \(play.mostParked) without at most; a true one's notification leaves after \(delays[50]) (median), \(delays.last!) at the latest"
        )
        #expect(delays.count == 100 && delays.last! <= Self.longestRequest, "\(delays.suffix(3))")
        #expect(play.mostParked <= 2 * Pipeline.mostOriginsPerApp)
        play.run(until: .seconds(1800)) { _ in (.accepted, .milliseconds(50)) }
        let stored = circuits * 8 - play.turnedAway.count
        #expect(play.mostOrigins == Pipeline.mostOriginsPerApp && play.mostParked > 0)
        #expect(play.delivered { $0.origin!.hasPrefix("made-up") } == stored)
    }
}
