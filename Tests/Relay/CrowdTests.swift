import Testing
import Vectors

@testable import Relay

/// Two apps and thousands of phones, each with a fate of its own, all at once.
@Suite struct CrowdTests {
    private enum Fate { case healthy, overloaded, blocked, throttled, dead, silent }

    private static let phones = 3000
    private static let minutes = 10
    /// A healthy phone's notification leaves within this time, whatever the others are answered.
    private static let stated: Duration = .seconds(30)

    private static func fate(_ phone: Int) -> Fate {
        guard phone < phones else { return .blocked }
        return switch phone % 50 {
        case 0: .overloaded
        case 1: .blocked
        case 2: .throttled
        case 3: .dead
        case 4: .silent
        case _: .healthy
        }
    }

    private static func outcome(_ phone: Int, using random: inout SeededRandom) -> Outcome {
        switch fate(phone) {
        case .healthy:
            return Int.random(in: 0..<2000, using: &random) == 0
                ? .deferred(Deferral(reason: "UNAVAILABLE", scope: .host, retryAfter: .seconds(10)))
                : .accepted
        case .overloaded:
            return .deferred(Deferral(reason: "UNAVAILABLE", scope: .host, retryAfter: .seconds(10)))
        case .blocked: return .blocked(reason: "THIRD_PARTY_AUTH_ERROR")
        case .throttled:
            return .deferred(
                Deferral(reason: "429", scope: .device, retryAfter: .seconds(3600), isThrottle: true))
        case .dead: return .tokenDead(reason: "UNREGISTERED", since: nil)
        case .silent: return .deferred(Deferral(reason: "Silence", scope: .host))
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func aHealthyPhonesNotificationLeavesInTime(seed: UInt64) {
        let play = GatewayPlay(seed: seed, apps: ["android", "tight"]) {
            $0 < Self.phones ? "android" : "tight"
        }
        var random = SeededRandom(state: seed)
        // Ten a second to phones of the first app, five to those of one whose account is closed.
        for number in 0..<Self.minutes * 600 {
            let phone = Int.random(in: 0..<Self.phones, using: &random)
            play.submit(to: phone, at: .milliseconds(100 * number + Int.random(in: 0..<100, using: &random)))
            if number % 2 == 0 {
                play.submit(to: Self.phones + number % 1000, at: .milliseconds(100 * number))
            }
        }
        play.run(until: .seconds(60 * Self.minutes) + Self.stated) { phone, _ in
            Self.outcome(phone, using: &random)
        }
        let delays = play.delays(of: { Self.fate($0) == .healthy })
        #expect(delays.count > 4000)
        #expect(delays.last ?? .zero <= Self.stated, "\(delays.suffix(3))")
        #expect(delays[delays.count / 2] == .zero)
        // The closed account holds what it has, and no more than its share.
        #expect(play.waiting(in: "tight") > 0)
    }
}
