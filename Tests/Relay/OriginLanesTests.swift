import Clocks
import Testing

@testable import Relay

/// Lanes to origins that addresses name: they come with the first notification and go when they are idle.
@Suite struct OriginLanesTests {
    private func origin(_ number: Int) -> String { "https://push\(number).example" }
    private func lane(_ number: Int) -> LaneID { LaneID(app: "web", host: LaneHost(origin(number))) }
    private func submission(_ number: Int) -> Submission { Sample.android(token: "wp1:\(origin(number))/a") }

    /// The place where a lane came to be, with its gateway.
    @discardableResult
    private func open(_ number: Int, on node: Node) -> Int? {
        _ = node.takeEffects()
        guard case .storing = node.submit(submission(number)) else { return nil }
        let opened = node.takeEffects().compactMap {
            if case .laneOpened(let lane) = $0 { lane } else { nil }
        }
        guard let place = opened.first else { return nil }
        if !node.pipeline.lanes[place].stage.isParked { #expect(node.pipeline.add(lane(number)) == place) }
        node.begin()
        node.commit([.stored(sequence: node.number())])
        return place
    }

    private func deliver(_ number: Int, on node: Node) throws {
        node.end(try #require(node.send(lane(number))), .accepted)
    }

    @Test(arguments: [
        ("https://updates.push.services.mozilla.com", true), ("http://abc.onion", true),
        ("https://[2001:db8::1]:8443", true), ("https://", false), ("https://A.example", false),
        ("https://a.example/", false), ("https://a b", false), ("ftp://a", false), ("production", false),
        ("https://ä.example", false), ("https://a.example\n", false),
        ("https://" + String(repeating: "a", count: LaneHost.longestOrigin - 8), true),
        ("https://" + String(repeating: "a", count: LaneHost.longestOrigin - 7), false),
    ])
    func anOriginIsOneInOneSpelling(text: String, isOrigin: Bool) {
        let host = LaneHost(origin: text)
        #expect((host != nil) == isOrigin)
        #expect(host?.description ?? "others" == "others")
        #expect(host?.name ?? text == text)
    }

    @Test func aLaneComesWithItsFirstNotificationAndGoesWhenIdle() throws {
        let node = Node()
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
        let place = try #require(open(1, on: node))
        #expect(node.pipeline.lanes[place].shown == LaneID(app: "web", host: .others))
        try deliver(1, on: node)
        for _ in 0..<20 {
            node.pass(.seconds(15))
            node.pipeline.wake(at: node.now, clockOffset: 0)
        }
        #expect(node.pipeline.lane(of: lane(1)) == place)
        node.pass(.seconds(15))
        _ = node.takeEffects()
        node.pipeline.wake(at: node.now, clockOffset: 0)
        let gone = LaneID(app: "web", host: .others)
        #expect(node.takeEffects().contains(.laneClosed(place, shown: gone)))
        #expect(node.pipeline.lane(of: lane(1)) == nil)
    }

    @Test func whatWaitsKeepsItsLane() throws {
        let node = Node()
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
        open(1, on: node)
        for _ in 0..<100 {
            node.pass(.seconds(15))
            node.pipeline.wake(at: node.now, clockOffset: 0)
        }
        #expect(node.pipeline.lane(of: lane(1)) != nil)
    }

    @Test func theLongestIdleLaneMakesRoomForANewcomer() throws {
        let node = Node(originsPerApp: 2)
        let first = try #require(open(1, on: node))
        #expect(open(2, on: node) != nil)
        // Both have something that waits: a third one is stored, and waits for a gateway.
        let third = try #require(open(3, on: node))
        #expect(node.pipeline.lanes[third].stage.isParked && !node.pipeline.lanes[third].stage.hasGateway)
        // Those that can't be told apart have half of all.
        #expect(node.submit(submission(4)) == .answered(.busy(.node(retryAfter: .seconds(5)))))
        let last = try #require(node.send(lane(2)))
        _ = node.takeEffects()
        node.pipeline.attemptEnded(last, .accepted, at: node.now, using: &node.random)
        #expect(node.takeEffects().contains(.laneOpened(third)))
        #expect(!node.pipeline.lanes[third].stage.isParked && node.pipeline.lane(of: lane(3)) == third)
        #expect(node.pipeline.lane(of: lane(2)) == nil)
        #expect(node.pipeline.lane(of: lane(1)) == first)
        // The next one has the place.
        #expect(node.pipeline.add(lane(3)) == third)
        try deliver(3, on: node)
        #expect(open(5, on: node) == third)
    }

    /// Strangers make up names all the time, also right after a restart.
    @Test func anOriginThatHasTakenSomethingKeepsItsShareOverARestart() throws {
        let before = Node(originsPerApp: 4)
        before.pipeline.start(OutboxContent(), at: before.now, clockOffset: 0)
        for number in 1...4 {
            try #require(open(number, on: before) != nil)
            try deliver(number, on: before)
            before.pass(.seconds(1))
        }
        #expect(before.pipeline.originsToRemember == (1...4).map(lane))

        func isBeside(_ node: Node) -> Bool {
            node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
            for number in 101...200 { open(number, on: node) }
            guard let place = open(1, on: node) else { return false }
            return node.pipeline.lanes[place].stage.hasGateway
        }
        #expect(!isBeside(Node(originsPerApp: 4)))
        let after = Node(originsPerApp: 4)
        after.pipeline.goOn(withOrigins: before.pipeline.originsToRemember, at: after.now)
        #expect(isBeside(after))
        // Their order is kept, and no more of them than there may be lanes.
        let many = (1...(Pipeline.mostLanes + 5)).map(lane) + [LaneID(app: "web", host: .production)]
        after.pipeline.goOn(withOrigins: many, at: after.now)
        #expect(after.pipeline.originsToRemember == Array(many.dropLast().suffix(Pipeline.mostLanes - 1)))
    }

    /// Nobody's lane gives way for what is refused.
    @Test func aLaneMakesRoomOnlyForWhatIsTaken() throws {
        var limits = Admission.Limits()
        limits.waiting = 1
        let node = Node(limits: limits, originsPerApp: 1)
        node.pipeline.start(OutboxContent(), at: node.now, clockOffset: 0)
        let first = try #require(open(1, on: node))
        try deliver(1, on: node)
        #expect(node.accept(Sample.android()) > 0)
        _ = node.takeEffects()
        #expect(node.submit(submission(2)) == .answered(.busy(.node(retryAfter: .seconds(30)))))
        #expect(node.pipeline.lane(of: lane(1)) == first)
        #expect(node.pipeline.lane(of: lane(2)) == nil)
        let gone = LaneID(app: "web", host: .others)
        #expect(!node.takeEffects().contains(.laneClosed(first, shown: gone)))
    }

    /// Whoever brings many origins makes no pause shorter that a host has asked for.
    @Test func aLaneThatPausesIsNotForgotten() throws {
        let node = Node(originsPerApp: 1)
        #expect(node.pipeline.add(lane(1)) != nil)
        node.accept(
            Sample.android(
                token: "wp1:\(origin(1))/a", expiresAt: node.now.unix + .milliseconds(30_000)))
        let first = try #require(node.send(lane(1)))
        node.end(
            first, .deferred(Deferral(reason: "busy", scope: .host, retryAfter: .seconds(60), witnesses: 1)))
        node.pass(.seconds(31))
        #expect(node.expire().map(\.ending) == [.expired])
        #expect(node.submit(submission(2)) == .answered(.busy(.node(retryAfter: .seconds(5)))))
        node.pass(.seconds(30))
        #expect(open(2, on: node) != nil)
    }

    @Test func oneAppsOriginsTakeNoOtherAppsLanes() throws {
        let node = Node(originsPerApp: 1)
        open(1, on: node)
        #expect(open(2, on: node) == nil)
        #expect(node.accept(Sample.android()) > 0)
        #expect(node.accept(Sample.ios()) > 0)
    }
}
