import Lab
import Outbound
import Reactor
import Relay
import Testing

@testable import Gateways

/// What each push service says, as the gateway understands it: in statuses, words and texts of its own.
@Suite(.serialized) @EventLoop struct WebPushMannersTests {
    typealias Manner = WebPushRules.Manner

    private static func deferred(_ reason: String, after: Duration? = nil) -> Outcome {
        .deferred(Deferral(reason: reason, scope: after == nil ? .device : .host, retryAfter: after))
    }

    private static func throttled(_ reason: String, after: Duration? = nil) -> Outcome {
        .deferred(Deferral(reason: reason, scope: .device, retryAfter: after, isThrottle: true))
    }

    /// The outcome of each refusal; of a token that is refused twice, the second is a new one.
    private static func outcome(of refusal: WebPushRefusal, by manner: Manner) -> Outcome? {
        let words: (mozilla: String?, apple: String, google: String, own: String?)
        let make: (String) -> Outcome
        switch refusal {
        case .gone:
            (words, make) = (
                ("Errno106", "Unregistered", "HTTP410", "HTTP404"), { .tokenDead(reason: $0, since: nil) }
            )
        case .otherKey:
            (words, make) = (
                ("OtherVapidKey", "OtherVapidKey", "OtherVapidKey", nil),
                // Nothing was taken before.
                { .refused(reason: $0) }
            )
        case .badToken:
            (words, make) = (("Errno109", "BadJwtToken", "HTTP403", nil), { .blocked(reason: $0) })
        case .tooLarge:
            (words, make) = (("Errno104", "PayloadTooLarge", "HTTP413", "HTTP413"), { .refused(reason: $0) })
        case .noTTL: (words, make) = (("Errno111", "BadTtl", "HTTP400", "HTTP400"), { .refused(reason: $0) })
        case .badTopic:
            (words, make) = (("Errno113", "BadWebPushTopic", "HTTP400", "HTTP400"), { .refused(reason: $0) })
        case .tooMany:
            (words, make) = (
                (nil, "TooManyRequests", "HTTP429", "HTTP429"),
                { throttled($0, after: manner == .unifiedPush ? .seconds(5) : nil) }
            )
        case .broken:
            (words, make) = (("Errno999", "InternalServerError", "HTTP500", "HTTP500"), { deferred($0) })
        case .unavailable:
            (words, make) = (
                ("Errno201", "ServiceUnavailable", "HTTP503", "HTTP503"),
                { deferred($0, after: manner == .mozilla ? .seconds(120) : nil) }
            )
        }
        let word =
            switch manner {
            case .mozilla: words.mozilla
            case .apple: words.apple
            case .google: words.google
            case .unifiedPush: words.own
            }
        return word.map(make)
    }

    @Test(arguments: Manner.allCases, WebPushRefusal.allCases)
    func eachServicesWordsAreUnderstood(manner: Manner, refusal: WebPushRefusal) async throws {
        let fault = manner.fault(refusal)
        let expected = Self.outcome(of: refusal, by: manner)
        #expect((fault == nil) == (expected == nil), "a service that says what it never says")
        guard let fault, let expected else { return }
        let world = try WebPushWorld(manner)
        let browser = try world.browser()
        world.server.faults = FaultScript([FaultRule(fault)])
        #expect(await world.gateway.deliver(webPush(to: browser)) == expected)
        #expect(world.server.book.isEmpty)
        world.server.faults = FaultScript()
        #expect(await world.gateway.deliver(webPush(to: browser, id: 2)) == .accepted)
        #expect(world.gateway.fault == nil)
        world.end()
    }

    /// The longest message, at the least that a service is known to take: Mozilla's, for Firefox on Android.
    @Test(arguments: Manner.allCases)
    func theLongestMessageFitsIntoWhatEachServiceTakes(manner: Manner) async throws {
        let world = try WebPushWorld(manner, longestBody: 2744)
        let browser = try world.browser()
        let longest = String(repeating: "A", count: 2600)
        #expect(await world.gateway.deliver(webPush(to: browser, longest)) == .accepted)
        let push = try #require(world.server.book.first)
        #expect(try browser.open(push).utf8.prefix(2600).elementsEqual(longest.utf8))
        #expect(push.body.count <= 2744)
        // What Apple wants of it, and the others take.
        #expect(push.headers["topic"]?.utf8.count == 32 && push.headers["urgency"] == "high")
        #expect((push.headers["ttl"].flatMap(Int.init) ?? 0) > 0)
        world.end()
        let small = try WebPushWorld(manner, longestBody: 2000)
        guard case .refused = await small.gateway.deliver(webPush(to: try small.browser(), longest)) else {
            return #expect(Bool(false), "a message that is too large is not refused")
        }
        small.end()
    }

    /// Whoever got nothing of a turn is the first of the next: with many servers none waits for long.
    @Test func whoWaitsForSealingIsToldInTurn() async throws {
        final class Waiting {}
        let budget = SealingBudget()
        let all = (0..<24).map { _ in Waiting() }
        var told: [Int] = []
        budget.take()
        for (index, one) in all.enumerated() { budget.wait(one) { told.append(index) } }
        // Who asks again keeps the place.
        budget.wait(all[5]) { told.append(-1) }
        try await EventLoop.until { !told.isEmpty }
        #expect(told == Array(0..<24))
    }
}
