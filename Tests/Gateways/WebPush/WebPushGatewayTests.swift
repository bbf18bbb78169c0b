import Clocks
import Crypto
import Glibc
import HTTP2
import Lab
import Logging
import Outbound
import Reactor
import Relay
import TLS
import Testing

@testable import Gateways

/// A simulated push server, a node's key, and the gateway between them.
@EventLoop
struct WebPushWorld {
    let lab: LabCredentials
    let server: GatewaySimulator
    let key: VAPIDKey
    let shared: WebPushShared
    let gateway: WebPushGateway

    init(
        _ manner: WebPushRules.Manner = .mozilla, protocols: [String] = ["h2", "http/1.1"],
        contact: String = WebPushApp.nobodysContact, isNamed: Bool = true, rest: Duration = .seconds(60),
        request: Duration = .seconds(15), failing: Duration = .seconds(10), longestBody: Int = 4096,
        longestLife: Int = .max,
        trusts: LabCredentials? = nil, starts: Bool = true, log: Logger = quiet
    ) throws {
        lab = try LabCredentials()
        var rules = WebPushRules(manner)
        rules.longestBody = longestBody
        rules.longestLife = longestLife
        server = try GatewaySimulator(
            .webPush(rules), try lab.serverContext(protocols: protocols))
        key = try VAPIDKey.generate()
        let host = "\(server.endpoint)"
        let context = try TLSContext(
            trusting: .authorities(pem: try (trusts ?? lab).authorityPEM()), protocols: ["h2", "http/1.1"])
        shared = WebPushShared(
            PushHosts([try #require(PushHosts.Pattern(host))]), key, contact: contact, by: .direct, context,
            log: log)
        var limits = ConnectionLife.Limits()
        limits.rest = rest
        limits.request = request
        limits.failing = failing
        gateway = WebPushGateway(
            try #require(PushEndpoint.Server(host)), isNamed: isNamed, shared, limits: limits)
        if starts { gateway.start() }
    }

    func browser() throws -> Browser { try server.subscribe(for: key.publicText) }

    func end() {
        gateway.stop()
        server.close()
    }
}

private let soonForPush = EventLoop.unixTime + .seconds(3600)

func webPush(
    to browser: Browser, _ message: String = "BisqMessageAndroid|1|2", isUrgent: Bool = true,
    id: UInt64 = 1
) -> Notification {
    notification(
        message: message, deviceToken: browser.token, isUrgent: isUrgent, expiresAt: soonForPush,
        id: NotificationID(high: id, low: 2))
}

@Suite(.serialized) @EventLoop struct WebPushGatewayTests {
    @Test(arguments: WebPushRules.Manner.allCases, [["h2"], ["http/1.1"]])
    func aBrowserOpensWhatItsServerTook(manner: WebPushRules.Manner, protocols: [String]) async throws {
        let world = try WebPushWorld(manner, protocols: protocols)
        let browser = try world.browser()
        #expect(await world.gateway.deliver(webPush(to: browser, "BisqMessageAndroid|é|🔔")) == .accepted)
        #expect(await world.gateway.deliver(webPush(to: browser, isUrgent: false, id: 2)) == .accepted)
        let pushes = world.server.book
        #expect(
            try pushes.map { try browser.open($0) } == ["BisqMessageAndroid|é|🔔", "BisqMessageAndroid|1|2"])
        #expect(pushes.map(\.body.count) == [1127, 1127])
        #expect(pushes.map { $0.headers["urgency"] } == ["high", "normal"])
        #expect(Set(pushes.map { $0.headers["topic"] }).count == 2)
        #expect(Set(pushes.map { $0.headers["authorization"] }).count == 1)
        #expect(pushes.allSatisfy { ($0.headers["ttl"].flatMap(Int.init) ?? 0) > 3500 })
        world.end()
    }

    /// Lengths show no kind of message, and a repetition takes the first one's place.
    @Test func aMessageIsFilledUpAndARepetitionHasTheSameTopic() async throws {
        let world = try WebPushWorld()
        let browser = try world.browser()
        for (count, size) in [
            (1, 1024), (1024, 1024), (1025, 2048), (2048, 2048), (2049, 2600), (2600, 2600),
        ] {
            let text = String(repeating: "x", count: count)
            #expect(await world.gateway.deliver(webPush(to: browser, text)) == .accepted)
            let push = try #require(world.server.book.last)
            #expect(push.body.count == size + 103)
            #expect(try browser.open(push) == text)
        }
        let topics = Set(world.server.book.compactMap { $0.headers["topic"] })
        #expect(topics.count == 1 && topics.first?.utf8.count == 32)
        let service = WebPushService(PushHosts([]))
        #expect(service.payloadLimit == 2600)
        world.end()
    }

    @Test(arguments: WebPushRules.Manner.allCases)
    func whoeverIsGoneIsDead(manner: WebPushRules.Manner) async throws {
        let world = try WebPushWorld(manner)
        let browser = try world.browser()
        world.server.unsubscribe(browser)
        guard case .tokenDead = await world.gateway.deliver(webPush(to: browser)) else {
            return #expect(Bool(false), "an unsubscribed browser is not dead")
        }
        // Subscribed for another node: that one subscription ends, and the lane goes on. A server of one's own knows no keys.
        let other = try world.server.subscribe(for: VAPIDKey.generate().publicText)
        // As long as nothing was taken it may be the node that has lost its key: no phone is forgotten for that.
        #expect(
            await world.gateway.deliver(webPush(to: other))
                == (manner == .unifiedPush ? .accepted : .refused(reason: "OtherVapidKey")))
        #expect(await world.gateway.deliver(webPush(to: try world.browser())) == .accepted)
        #expect(
            await world.gateway.deliver(webPush(to: other, id: 3))
                == (manner == .unifiedPush ? .accepted : .tokenDead(reason: "OtherVapidKey", since: nil)))
        #expect(world.gateway.fault == nil)
        world.end()
    }

    /// A clock that is a day slow: no token of ours is good, and the operator has to look. That it is not the one
    /// subscription, the lane learns from several. A server that a stranger named concerns him alone.
    @Test(arguments: [true, false])
    func aServerThatRefusesOurTokensBlocksItsLaneOnlyIfItIsKnown(isNamed: Bool) async throws {
        let world = try WebPushWorld(.apple, isNamed: isNamed)
        world.server.clockOffset = .seconds(86_400)
        let outcome = await world.gateway.deliver(webPush(to: try world.browser()))
        #expect(
            outcome == (isNamed ? .blocked(reason: "BadJwtToken") : .refused(reason: "BadJwtToken")))
        #expect(world.gateway.fault == nil)
        world.server.faults = FaultScript([FaultRule(.text(status: 400, ""), times: 1)])
        #expect(
            await world.gateway.deliver(webPush(to: try world.browser(), id: 3))
                == .refused(reason: "HTTP400"))
        #expect(world.gateway.figures.ownFaults.counts.isEmpty != isNamed)
        world.server.clockOffset = .zero
        #expect(await world.gateway.deliver(webPush(to: try world.browser(), id: 2)) == .accepted)
        #expect(world.gateway.fault == nil)
        world.end()
    }

    @Test func redirectsAndPagesLeadNowhere() async throws {
        let world = try WebPushWorld()
        let browser = try world.browser()
        world.server.faults = FaultScript([
            FaultRule(.text(status: 307, "elsewhere"), times: 1), FaultRule(.page(status: 200), times: 1),
            FaultRule(.page(status: 404), times: 1), FaultRule(.page(status: 410), times: 1),
        ])
        #expect(
            await world.gateway.deliver(webPush(to: browser))
                == .deferred(Deferral(reason: "HTTP307", scope: .host)))
        for _ in 0..<3 {
            #expect(
                await world.gateway.deliver(webPush(to: browser))
                    == .deferred(Deferral(reason: "WebPage", scope: .host)))
        }
        #expect(world.server.book.isEmpty && world.server.figures.connections == 1)
        world.end()
    }

    @Test func anEndlessAnswerIsCutOff() async throws {
        let world = try WebPushWorld()
        world.server.faults = FaultScript([
            FaultRule(.text(status: 400, String(repeating: "x", count: 1 << 20)), times: 1)
        ])
        let browser = try world.browser()
        switch await world.gateway.deliver(webPush(to: browser)) {
        case .deferred(let deferral): #expect(deferral.reason == "AnswerTooLarge")
        case let other: Issue.record("\(other)")
        }
        #expect(await world.gateway.deliver(webPush(to: browser)) == .accepted)
        world.end()
    }

    /// No connection before it is needed, one for many, and none when nothing came for a while.
    @Test(arguments: [["h2"], ["http/1.1"]])
    func aConnectionIsThereOnlyWhenItIsNeeded(protocols: [String]) async throws {
        let world = try WebPushWorld(protocols: protocols, rest: .milliseconds(300))
        #expect(world.gateway.figures.connections == 0 && world.gateway.capacity == 0)
        let browser = try world.browser()
        let pushes = (0..<60).map { webPush(to: browser, "message \($0)", id: $0) }
        let outcomes = await world.gateway.deliverAll(pushes, window: 50)
        #expect(outcomes.count == 60 && outcomes.allSatisfy { $0 == .accepted })
        #expect(world.server.figures.connections <= (protocols == ["h2"] ? 1 : 2))
        #expect(try Set(world.server.book.map { try browser.open($0) }).count == 60)
        try await EventLoop.until { world.gateway.figures.connections == 0 }
        #expect(world.gateway.figures.lastError == nil)
        #expect(await world.gateway.deliver(webPush(to: browser, id: 100)) == .accepted)
        world.end()
    }

    /// What the outbox held at the start is looked at before the gateways begin.
    @Test func whatWaitedBeforeTheStartOpensAConnection() async throws {
        let world = try WebPushWorld(starts: false)
        let browser = try world.browser()
        world.gateway.noteBacklog()
        world.gateway.start()
        try await EventLoop.until { world.gateway.capacity > 0 }
        #expect(await world.gateway.deliver(webPush(to: browser)) == .accepted)
        world.end()
    }

    /// So many messages are sealed in one turn of the loop that others have theirs.
    @Test func sealingLeavesTheLoopToOthers() async throws {
        let world = try WebPushWorld()
        let browser = try world.browser()
        #expect(await world.gateway.deliver(webPush(to: browser)) == .accepted)
        var most = 0
        var sent = 0
        let counter = Timer {}
        counter.start(after: .seconds(60))
        while world.gateway.capacity > 0 {
            world.gateway.send(webPush(to: browser, id: UInt64(sent) + 9)) { _ in }
            sent += 1
            most = max(most, sent)
        }
        #expect(most == SealingBudget.perTurn)
        let outcomes = await world.gateway.deliverAll((0..<40).map { webPush(to: browser, id: $0 + 100) })
        #expect(outcomes.allSatisfy { $0 == .accepted })
        world.end()
    }

    @Test func aServerThatIsAwayIsTriedAgainWhenItsLaneIs() async throws {
        let world = try WebPushWorld()
        let browser = try world.browser()
        world.server.close()
        for _ in 0..<2 {
            #expect(
                await world.gateway.deliver(webPush(to: browser))
                    == .deferred(Deferral(reason: "Unreachable", scope: .host)))
        }
        #expect(world.gateway.fault == nil)
        world.end()
    }

    @Test func aServerWithAnotherCertificateGetsNothing() async throws {
        let world = try WebPushWorld(trusts: try LabCredentials())
        let browser = try world.browser()
        #expect(
            await world.gateway.deliver(webPush(to: browser))
                == .deferred(Deferral(reason: "TLS", scope: .host)))
        #expect(world.server.figures.requests == 0)
        world.end()
    }

    /// The name is looked up once for a connection, and what was looked at is dialled: an answer that is another one
    /// the next time leads nowhere else.
    @Test func aNameThatLeadsIntoTheOwnNetworkIsNotDialled() async throws {
        let world = try WebPushWorld()
        let url = GatewayURL(isSecure: true, host: "localhost.example.com", port: 443, path: "/")
        let lookUp = world.shared.lookUp(for: url)
        let local = Endpoint.host("127.0.0.1", port: 443)
        await #expect(throws: ConnectError.self) { _ = try await lookUp(local, .seconds(5)) }
        let own = GatewayURL(try #require(PushEndpoint.Server("\(world.server.endpoint)")))
        #expect(try await world.shared.lookUp(for: own)(own.endpoint, .seconds(5)).count == 1)
        world.end()
    }

    @Test func theProbeRingsNobodyAndTellsWhetherTheKeyIsTaken() async throws {
        for manner in WebPushRules.Manner.allCases {
            let world = try WebPushWorld(manner)
            let url = GatewayURL(try #require(PushEndpoint.Server("\(world.server.endpoint)")))
            guard case .taken = try await world.shared.probe(of: .production, at: url).run() else {
                Issue.record("\(manner)")
                continue
            }
            #expect(world.server.book.isEmpty)
            world.end()
        }
    }
}

@Suite struct VAPIDTokenTests {
    @Test func aTokenIsRenewedWellBeforeItsEndAndWhenTheClockWasSet() {
        let life = VAPIDTokenLife(signedAt: instant(minutes: 0))
        #expect(!life.isDue(at: instant(minutes: 359)) && life.isDue(at: instant(minutes: 360)))
        #expect(
            !life.isDue(at: instant(minutes: 10, wall: 14)) && life.isDue(at: instant(minutes: 10, wall: 15)))
        #expect(life.isDue(at: instant(minutes: 10, wall: 4)))
    }

    /// One that was signed a moment ago and is refused shows that key, contact or clock are wrong.
    @Test func anotherTokenIsSignedForOneThatWasRefusedOnlyIfItIsOld() {
        var young = VAPIDTokenLife(signedAt: instant(minutes: 0))
        expect(young.refused(at: instant(minutes: 59)), is: false)
        #expect(!young.isDue(at: instant(minutes: 59)))
        var old = VAPIDTokenLife(signedAt: instant(minutes: 0))
        expect(old.refused(at: instant(minutes: 60)), is: true)
        #expect(old.isDue(at: instant(minutes: 60)))
    }

    @Test func contactsAreThoseThatServicesTake() {
        for text in [
            "mailto:a@example.org", "https://example.org", "https://example.org/contact",
            WebPushApp.nobodysContact,
        ] {
            #expect(WebPushApp.isContact(text), "\(text)")
        }
        for text in [
            "", "a@example.org", "mailto:", "mailto:a", "mailto:a@localhost", "https://localhost/x",
            "http://example.org", "https://abc.onion", "mailto:a@b@c.org", "https://127.0.0.1/",
            "mailto:a b@example.org",
        ] {
            #expect(!WebPushApp.isContact(text), "\(text)")
        }
    }
}

@Suite @EventLoop struct WebPushAppTests {
    /// Hosts that are named one by one have a gateway from the start; others get one when a token names them, if they
    /// may be called.
    @Test func gatewaysAreMadeForHostsThatMayBeCalled() throws {
        var app = WebPushApp()
        app.allowedHosts = ["ntfy.sh", "*.example.net"]
        app.keyFile = "/nowhere/vapid-key"
        let missing: FileReader = { path throws(SystemError) in
            throw SystemError("open \(path)", code: ENOENT)
        }
        let opened = try app.open(by: .direct, reading: missing, log: quiet)
        #expect(opened.gateways.map(\.host) == app.hosts)
        #expect(app.hosts.map(\.name).contains("ntfy.sh") && app.hosts.count == 5)
        func opens(_ origin: String) -> Bool { LaneHost(origin: origin).flatMap { opened.open($0) } != nil }
        #expect(opens("https://a.example.net") && opens("https://db5p.notify.windows.com"))
        #expect(
            !opens("https://example.net") && !opens("https://a.example.org") && !opens("https://127.0.0.1"))
        #expect(!opens("http://a.example.net"))
        let service = app.service
        #expect(service.shown(LaneHost("https://db5p.notify.windows.com")).name == "*.notify.windows.com")
        #expect(service.shown(LaneHost("ntfy.sh")).name == "ntfy.sh")
        app.allowedHosts = ["*"]
        #expect(app.service.shown(LaneHost("https://secret.example.org")) == .others)
    }
}
