import Crypto
import HTTP1
import JSONCoding
import Lab
import Reactor
import Relay
import TLS
import Testing

@testable import Gateways

private let token = String(repeating: "aku-XrLQ:", count: 10)

/// A simulated Google, and a gateway that pushes to it.
@EventLoop
private struct World {
    let lab: LabCredentials
    let google: GatewaySimulator
    let gateway: FCMGateway
    let settings: FCMSettings

    init(
        faults: [FaultRule] = [], protocols: [String] = ["h2", "http/1.1"], trusts: LabCredentials? = nil,
        email: String? = nil, rules change: (inout FCMRules) -> Void = { _ in }
    ) throws {
        lab = try LabCredentials()
        var rules = lab.fcmRules()
        if let email {
            rules.account = FCMRules.ServiceAccount(
                email: email, keyID: lab.accountKeyID, key: lab.accountKey.verifyingKey)
        }
        change(&rules)
        google = try GatewaySimulator(.fcm(rules), try lab.serverContext(protocols: protocols))
        google.faults = FaultScript(faults)
        settings = FCMSettings(
            account: try ServiceAccount(file: try lab.serviceAccountFile(tokenURL: google.url + "/token")),
            baseURL: try GatewayURL(google.url),
            trust: .authorities(pem: try (trusts ?? lab).authorityPEM()))
        gateway = try FCMGateway(settings, log: quiet)
        gateway.start()
    }

    func end() {
        gateway.stop()
        google.close()
    }
}

private func many(_ count: Int) -> [Notification] {
    (0..<count).map { notification(message: "message\($0)", deviceToken: token) }
}

@Suite(.serialized) @EventLoop struct FCMGatewayTests {
    @Test(arguments: [["h2"], ["http/1.1"]])
    func aMessageArrivesAsGooglesRulesAsk(protocols: [String]) async throws {
        let world = try World(protocols: protocols)
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        let push = try #require(world.google.book.first)
        #expect(push.deviceToken == token)
        #expect(try JSON(push.body)["message"]?["data"]?["encrypted"]?.string == notification().bisq.message)
        #expect(world.google.issuedTokens == 1)
        world.end()
    }

    @Test(arguments: [["h2"], ["http/1.1"]])
    func hundredsArriveOnce(protocols: [String]) async throws {
        let world = try World(protocols: protocols)
        let outcomes = await world.gateway.deliverAll(many(300), window: 100)
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 300)
        #expect(Set(world.google.book.map(\.body)).count == 300 && world.google.book.count == 300)
        #expect(world.google.issuedTokens == 1)
        world.end()
    }

    /// Each between two that are accepted.
    @Test(arguments: [["h2"], ["http/1.1"]])
    func everyRowOfGooglesTableReachesTheSender(protocols: [String]) async throws {
        let world = try World(protocols: protocols)
        func deliver() async -> Outcome { await world.gateway.deliver(notification(deviceToken: token)) }
        for row in FCMAnswerTests.table {
            let tokens = world.google.issuedTokens
            world.google.faults = FaultScript([
                FaultRule(
                    .text(status: row.status, row.body, retryAfter: row.retryAfter?.text), times: 1)
            ])
            #expect(await deliver() == row.verdict.outcome, "\(row.testDescription)")
            #expect(await deliver() == .accepted, "\(row.testDescription)")
            let isRenewed = row.verdict.consequence == .renewCredential
            #expect(
                tokens == 0 || world.google.issuedTokens == tokens + (isRenewed ? 1 : 0),
                "\(row.testDescription)")
        }
        #expect(world.google.book.count == FCMAnswerTests.table.count)
        world.end()
    }

    /// As the simulator writes them, which is Google's form.
    @Test func whatNamesNoTokenKillsNone() async throws {
        let world = try World(faults: [
            FaultRule(.answer(status: 404, reason: "UNREGISTERED"), times: 1),
            FaultRule(.answer(status: 404, reason: nil), times: 1),
            FaultRule(.page(status: 404), times: 1),
        ])
        func deliver() async -> Outcome { await world.gateway.deliver(notification(deviceToken: token)) }
        #expect(
            await deliver()
                == .tokenDead(
                    reason: "UNREGISTERED", since: nil, detail: "Requested entity was not found."))
        #expect(await deliver() == .blocked(reason: "NOT_FOUND"))
        #expect(await deliver() == .deferred(Deferral(reason: "WebPage", scope: .host)))
        #expect(await deliver() == .accepted)
        world.end()
    }

    @Test func aRevokedTokenIsReplacedOnceForAll() async throws {
        let world = try World()
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        world.google.revokeTokens()
        let outcomes = await world.gateway.deliverAll(many(50))
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 50)
        #expect(world.google.issuedTokens == 2)
        #expect(world.google.book.count == 51)
        world.end()
    }

    @Test func aTokenThatIsRefusedAgainIsTheOperatorsFault() async throws {
        let world = try World(faults: [FaultRule(.answer(status: 401, reason: nil))])
        #expect(
            await world.gateway.deliver(notification(deviceToken: token))
                == .deferred(Deferral(reason: "UNAUTHENTICATED", scope: .device, isUnharmed: true)))
        #expect(
            await world.gateway.deliver(notification(deviceToken: token))
                == .blocked(reason: "UNAUTHENTICATED"))
        #expect(world.google.issuedTokens == 2)
        world.end()
    }

    /// Nothing is asked for before there is something to send; a look fetches a token and shows whether the host is there.
    @Test func aLookLeavesATokenAndNoConnection() async throws {
        let world = try World()
        #expect(world.google.figures.connections == 0)
        await world.gateway.look()
        #expect(world.google.issuedTokens == 1 && world.google.figures.connections == 2)
        try await EventLoop.until { world.google.figures.openConnections == 0 }
        #expect(world.gateway.figures.isResting && world.gateway.figures.connections == 0)
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        #expect(world.google.issuedTokens == 1)
        world.end()
    }

    /// The operator learns of it before the first notification comes; while nobody gives a token no connection is made.
    @Test func aLookShowsThatThereIsNoToken() async throws {
        let world = try World(email: "someone@else")
        await world.gateway.look()
        #expect(world.gateway.figures.fault == "invalid_grant" && !world.gateway.figures.isResting)
        #expect(world.gateway.figures.connectionFailures == 1)
        world.end()
    }

    @Test func anAccountThatGoogleDoesNotKnowBlocksTheLane() async throws {
        let world = try World(email: "someone@else")
        let outcome = await world.gateway.deliver(notification(deviceToken: token))
        guard case .blocked(let reason) = outcome else {
            Issue.record("not blocked: \(outcome)")
            return
        }
        #expect(world.gateway.figures.fault == reason)
        #expect(world.google.figures.requests == 0)
        world.end()
    }

    @Test func anotherKeyIsTakenOverWhileRunning() async throws {
        let world = try World()
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        try world.gateway.use(world.settings)
        try await EventLoop.until { world.google.issuedTokens >= 2 }
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        // One for pushes before and after, one for each token.
        #expect(world.google.figures.connections == 4)
        world.end()
    }

    @Test func aTokenServerThatIsAwayIsAskedAgain() async throws {
        let world = try World(faults: [
            FaultRule(.answer(status: 503, reason: nil), on: .token, times: 1)
        ])
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        #expect(world.google.issuedTokens == 1)
        world.end()
    }

    /// However long the token server wants to be left alone.
    @Test func aRetryOfTheOperatorsFetchesTheToken() async throws {
        let world = try World(faults: [
            FaultRule(.text(status: 503, "", retryAfter: "86400"), on: .token, times: 1)
        ])
        world.gateway.look {}
        try await EventLoop.until { world.gateway.figures.lastError == "HTTP503" }
        world.gateway.retryNow()
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        #expect(world.google.issuedTokens == 1)
        world.end()
    }

    @Test func shortLivedTokensAreRenewedBeforeTheyEnd() async throws {
        let world = try World { $0.tokenLifetime = .seconds(2) }
        await world.gateway.look()
        for issued in 1...3 {
            try await EventLoop.until { world.google.issuedTokens >= issued }
            #expect(await world.gateway.deliver(notification(deviceToken: token)) == .accepted)
        }
        world.end()
    }

    @Test func aHostThatIsNotTheOneItMustBeGetsNothing() async throws {
        let world = try World(trusts: try LabCredentials())
        #expect(await world.gateway.deliver(notification(deviceToken: token)) == .blocked(reason: "TLS"))
        #expect(world.google.figures.requests == 0)
        world.end()
    }

    @Test func goAwaysLoseNothing() async throws {
        let world = try World(faults: [
            FaultRule(.goaway(reason: nil, isGraceful: true), when: .every(50)),
            FaultRule(.resetStream(.refusedStream), when: .every(7)),
        ])
        let outcomes = await world.gateway.deliverAll(many(500), window: 50)
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 500)
        #expect(Set(world.google.book.map(\.body)).count == 500 && world.google.book.count == 500)
        world.end()
    }

    @Test func aStandInOnThisMachineMaySpeakPlainHTTP() async throws {
        let server = try PlainServer()
        let lab = try LabCredentials()
        let url = try GatewayURL("http://\(server.listener.endpoint)/base/")
        let account = try ServiceAccount(
            file: try lab.serviceAccountFile(tokenURL: "http://\(server.listener.endpoint)/token"))
        let gateway = try FCMGateway(
            FCMSettings(account: account, baseURL: url, withNotification: true), log: quiet)
        gateway.start()
        let outcomes = await gateway.deliverAll(many(20))
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 20)
        let push = try #require(server.requests.first { $0.path != "/token" })
        #expect(push.path == "/base/v1/projects/onionbell-lab/messages:send")
        #expect(push.fields["authorization"] == "Bearer plain")
        #expect(try JSON(push.body)["message"]?["notification"]?["title"]?.string == FCMMessage.title)
        gateway.stop()
        server.listener.close()
    }
}

/// Answers `/token` with an access token and everything else as Google does what it takes, without TLS.
@EventLoop
private final class PlainServer: StreamHandler {
    private(set) var listener: Listener!
    private(set) var requests: [HTTPRequest] = []
    private var streams: [ObjectIdentifier: (Stream, HTTPRequestDecoder)] = [:]

    init() throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            stream.handler = self
            streams[ObjectIdentifier(stream)] = (stream, HTTPRequestDecoder())
        }
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        guard var (_, decoder) = streams[ObjectIdentifier(stream)] else { return }
        decoder.append(bytes)
        while let request = try? decoder.next() {
            requests.append(request)
            let body =
                request.path == "/token"
                ? #"{"access_token":"plain","expires_in":3599}"# : #"{"name":"projects/p/messages/1"}"#
            var answer: [UInt8] = []
            HTTPResponse(status: 200, text: body).encode(into: &answer)
            stream.write(answer)
        }
        streams[ObjectIdentifier(stream)] = (stream, decoder)
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { streams[ObjectIdentifier(stream)] = nil }
}
