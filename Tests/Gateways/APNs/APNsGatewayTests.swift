import Crypto
import HTTP2
import Lab
import Reactor
import Relay
import TLS
import Testing

@testable import Gateways

@Suite(.serialized) @EventLoop struct APNsGatewayTests {
    @Test(arguments: [false, true])
    func aNotificationArrivesAsApplesRulesAsk(certificate: Bool) async throws {
        let world = try APNsWorld(certificate: certificate)
        let sent = notification(message: "abcd", isMutableContent: true)
        #expect(await world.gateway.deliver(sent) == .accepted)
        let push = try #require(world.apple.book.first)
        #expect(push.deviceToken == sent.deviceToken.text)
        #expect(push.body == APNsRequest.body(sent))
        #expect(push.headers["apns-id"] == sent.id.uuid)
        #expect(push.headers["apns-topic"] == APNsWorld.topic)
        #expect((push.headers["authorization"] == nil) == certificate)
        #expect((world.gateway.figures.certificateEnd != nil) == certificate)
        world.end()
    }

    @Test func thousandsArriveOnceOverOneConnection() async throws {
        let world = try APNsWorld()
        let outcomes = await world.gateway.deliverAll(apnsNotifications(3000), window: 200)
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 3000)
        #expect(world.accepted.count == 3000 && world.apple.book.count == 3000)
        #expect(world.apple.figures.connections == 1)
        #expect(Set(world.apple.book.map { $0.headers["authorization"] ?? "" }).count == 1)
        world.end()
    }

    /// Asked under the old certificate, answered after the swap: that says nothing of the new one, and pauses no lane.
    @Test func whatAppleSaysOfAnOldCertificateBlocksNothingAfterASwap() async throws {
        let world = try APNsWorld(certificate: true)
        #expect(await world.gateway.deliver(notification()) == .accepted)
        let old = try #require(world.gateway.link.roomiest)
        let refusal = answer(403, #"{"reason":"BadCertificate"}"#)
        func outcome(over connection: GatewayConnection) -> Outcome {
            world.gateway.verdict(refusal, over: connection, 0, notification()).outcome
        }
        #expect(outcome(over: old) == .blocked(reason: "BadCertificate"))
        let certificate = try PKCS12.open(
            try world.lab.certificateFile(topic: APNsWorld.topic, password: "y"), password: "y")
        let url = try GatewayURL(world.apple.url)
        try world.gateway.use(
            APNsSettings(
                topic: APNsWorld.topic, credentials: .certificate(certificate), productionURL: url,
                sandboxURL: url, trust: .authorities(pem: try world.lab.authorityPEM())))
        #expect(
            outcome(over: old)
                == .deferred(Deferral(reason: "BadCertificate", scope: .device, isUnharmed: true)))
        #expect(await world.gateway.deliver(notification()) == .accepted)
        let new = try #require(world.gateway.link.roomiest)
        #expect(outcome(over: new) == .blocked(reason: "BadCertificate"))
        world.end()
    }

    @Test func nothingIsOpenBeforeThereIsSomethingToSend() async throws {
        let world = try APNsWorld()
        #expect(world.apple.figures.connections == 0 && world.gateway.figures.isResting)
        await world.gateway.look()
        #expect(world.apple.figures.connections == 1)
        try await EventLoop.until { world.apple.figures.openConnections == 0 }
        #expect(world.gateway.figures.isResting && world.gateway.figures.lastError == nil)
        #expect(world.gateway.figures.connectionFailures == 0 && world.apple.figures.requests == 0)
        #expect(await world.gateway.deliver(notification()) == .accepted)
        #expect(world.apple.figures.connections == 2)
        world.end()
    }

    /// It stands already, or is used meanwhile.
    @Test(arguments: [false, true]) func aLookEndsNoConnectionThatIsUsed(before: Bool) async throws {
        let world = try APNsWorld()
        if before { #expect(await world.gateway.deliver(notification()) == .accepted) }
        async let looked: Void = world.gateway.look()
        #expect(await world.gateway.deliver(notification()) == .accepted)
        await looked
        #expect(await world.gateway.deliver(notification()) == .accepted)
        #expect(world.apple.figures.connections == 1)
        world.end()
    }

    @Test func oneRequestGoesUntilTheFirstIsAccepted() async throws {
        let world = try APNsWorld()
        world.gateway.noteBacklog()
        try await EventLoop.until { world.gateway.capacity > 0 }
        #expect(world.gateway.capacity == 1)
        #expect(await world.gateway.deliver(notification()) == .accepted)
        #expect(world.gateway.capacity > 1)
        world.end()
    }

    @Test func aLimitThatShrinksIsFollowed() async throws {
        let world = try APNsWorld(faults: [FaultRule(.limitStreams(3), when: .every(100), times: 1)])
        let outcomes = await world.gateway.deliverAll(apnsNotifications(500))
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 500)
        #expect(world.gateway.capacity <= 3 * world.gateway.figures.connections)
        #expect(world.accepted.count == 500 && world.apple.book.count == 500)
        world.end()
    }

    @Test(arguments: [true, false])
    func aGoAwayLosesNothingAndDoublesNothing(isGraceful: Bool) async throws {
        let world = try APNsWorld(faults: [
            FaultRule(.goaway(reason: "Shutdown", isGraceful: isGraceful), when: .every(100))
        ])
        let outcomes = await world.gateway.deliverAll(apnsNotifications(1000), window: 50)
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 1000)
        #expect(world.accepted.count == 1000)
        if isGraceful { #expect(world.apple.book.count == 1000) }
        #expect(world.gateway.figures.goAways["Shutdown"] >= 9)
        #expect(world.apple.figures.connections >= 10)
        world.end()
    }

    @Test func goAwaysInARowGiveBackUnharmedWhatTheyLeaveOut() async throws {
        let world = try APNsWorld(faults: [FaultRule(.goaways(reason: "Shutdown"), when: .every(50))])
        let first = await world.gateway.deliverAll(apnsNotifications(500), window: 50, again: false)
        let left = zip(apnsNotifications(500), first).filter { $1 != .accepted }
        let unharmed = Outcome.deferred(Deferral(reason: "Shutdown", scope: .device, isUnharmed: true))
        #expect(left.allSatisfy { $1 == unharmed })
        #expect(world.apple.book.count + left.count == 500)
        // All three of each connection have come, and more was left out than each third one's own request.
        let frames = world.gateway.figures.goAways["Shutdown"]
        #expect(frames >= 9 && frames.isMultiple(of: 3) && left.count > frames / 3)
        world.apple.faults = FaultScript()
        let second = await world.gateway.deliverAll(left.map(\.0), window: 50, again: false)
        #expect(second.allSatisfy { $0 == .accepted })
        #expect(world.accepted.count == 500 && world.apple.book.count == 500)
        world.end()
    }

    @Test func refusedStreamsComeBackUnharmed() async throws {
        let world = try APNsWorld(faults: [FaultRule(.resetStream(.refusedStream), when: .every(10))])
        let outcomes = await world.gateway.deliverAll(apnsNotifications(500), window: 50)
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 500)
        #expect(world.apple.book.count == 500)
        #expect(world.apple.figures.connections == 1)
        world.end()
    }

    @Test func aBrokenConnectionIsReplacedAndWhatWasUnclearIsSentUnderTheSameIdentifiers() async throws {
        let world = try APNsWorld(faults: [FaultRule(.closeConnection(.beforeAnswer), when: .every(100))])
        let outcomes = await world.gateway.deliverAll(apnsNotifications(1000), window: 50)
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 1000)
        #expect(world.accepted.count == 1000)
        #expect(world.apple.book.allSatisfy { $0.headers["apns-collapse-id"] == $0.headers["apns-id"] })
        world.end()
    }

    /// Each between two that are accepted: whatever Apple said, the gateway goes on, over the same connection unless the
    /// answer says that this one is of no further use.
    @Test func everyRowOfApplesTableReachesTheSender() async throws {
        let world = try APNsWorld()
        #expect(await world.gateway.deliver(notification()) == .accepted)
        for row in APNsAnswerTests.table {
            let connections = world.apple.figures.connections
            world.apple.faults = FaultScript([
                FaultRule(
                    .answer(
                        status: row.status, reason: row.reason, timestamp: row.timestamp,
                        retryAfter: row.retryAfter?.text), times: 1)
            ])
            // Our token was signed just now: only a wrong clock can make it too old.
            let expected: Outcome =
                row.verdict.consequence == .renewCredential
                ? .blocked(reason: row.reason) : row.verdict.outcome
            #expect(await world.gateway.deliver(notification()) == expected, "\(row.testDescription)")
            // Until there is another connection the same is said of all.
            if case .blocked = expected {
                world.gateway.noteBacklog()
                try await EventLoop.until { world.gateway.capacity > 0 }
            }
            #expect(await world.gateway.deliver(notification()) == .accepted, "\(row.testDescription)")
            let isLeft = [.reconnect, .keepCredential].contains(row.verdict.consequence)
            #expect(
                world.apple.figures.connections == connections + (isLeft ? 1 : 0), "\(row.testDescription)")
        }
        #expect(world.apple.book.count == APNsAnswerTests.table.count + 1)
        world.end()
    }

    @Test func aDateToWaitForIsCountedFromNow() async throws {
        let world = try APNsWorld()
        let date = EventLoop.unixMilliseconds / 1000 + 3600
        world.apple.faults = FaultScript([
            FaultRule(
                .answer(status: 503, reason: "ServiceUnavailable", retryAfter: httpDate(date)), times: 1)
        ])
        let outcome = await world.gateway.deliver(notification())
        let soonest = date - EventLoop.unixMilliseconds / 1000
        guard case .deferred(let deferral) = outcome, let wait = deferral.retryAfter else {
            Issue.record("\(outcome)")
            return
        }
        #expect(wait >= .seconds(soonest) && wait <= .seconds(3600))
        world.end()
    }

    @Test func whatAProxySaysGivesNothingUp() async throws {
        let world = try APNsWorld(faults: [FaultRule(.page(status: 404), times: 1)])
        #expect(
            await world.gateway.deliver(notification())
                == .deferred(Deferral(reason: "WebPage", scope: .host)))
        #expect(await world.gateway.deliver(notification()) == .accepted)
        world.end()
    }

    @Test func refusedTokensAreCountedUntilOneIsTaken() async throws {
        let world = try APNsWorld(faults: [
            FaultRule(.answer(status: 400, reason: "BadDeviceToken"), times: 1)
        ])
        #expect(
            await world.gateway.deliver(notification())
                == .refused(reason: "BadDeviceToken", kind: .unknownToken))
        #expect(world.gateway.figures.refusedTokensInARow == 1)
        #expect(await world.gateway.deliver(notification()) == .accepted)
        #expect(world.gateway.figures.refusedTokensInARow == 0)
        world.end()
    }

    @Test func aSilentRequestIsGivenUpAndTheConnectionStays() async throws {
        var limits = ConnectionLife.Limits()
        // So long that no other one is taken for silent on a busy machine.
        limits.request = .seconds(2)
        let world = try APNsWorld(
            faults: [
                FaultRule(
                    .silence(isDelivered: false), when: .deviceToken(String(repeating: "cd", count: 32)))
            ],
            limits: limits)
        #expect(await world.gateway.deliver(notification()) == .accepted)
        async let lost = world.gateway.deliver(notification(deviceToken: String(repeating: "cd", count: 32)))
        for _ in 0..<30 { #expect(await world.gateway.deliver(notification()) == .accepted) }
        #expect(await lost == .deferred(Deferral(reason: "AnswerTimeout", scope: .device)))
        #expect(world.apple.figures.connections == 1)
        #expect(world.gateway.figures.timeouts == 1)
        world.end()
    }

    @Test func aConnectionThatTakesAllAndAnswersNothingIsReplaced() async throws {
        var limits = ConnectionLife.Limits()
        limits.request = .seconds(1)
        let world = try APNsWorld(faults: [FaultRule(.silence(isDelivered: false), times: 1)], limits: limits)
        #expect(
            await world.gateway.deliver(notification())
                == .deferred(Deferral(reason: "AnswerTimeout", scope: .device)))
        #expect(await world.gateway.deliver(notification()) == .accepted)
        #expect(world.apple.figures.connections == 2)
        world.end()
    }

    @Test func aWrongTopicIsTheOperatorsFault() async throws {
        let world = try APNsWorld(topic: "other.topic")
        #expect(await world.gateway.deliver(notification()) == .blocked(reason: "TopicDisallowed"))
        // One answer is about one notification: of all, the lane decides.
        #expect(world.gateway.figures.fault == nil)
        world.end()
    }

    /// It is no fault of the operator's, and no reason to keep others waiting.
    @Test(arguments: ["TopicDisallowed", "BadTopic", "MissingTopic"])
    func aWrongTopicOfTheSendersIsTheNotificationsFault(reason: String) async throws {
        let world = try APNsWorld()
        for (topic, expected) in [
            ("other.topic", Outcome.refused(reason: reason)), (APNsWorld.topic, .blocked(reason: reason)),
        ] {
            world.apple.faults = FaultScript([FaultRule(.answer(status: 400, reason: reason), times: 1)])
            let push = PreparedPush(exactly: "{}", fields: [.init("apns-topic", topic)])
            #expect(await world.gateway.deliver(notification(push)) == expected)
        }
        world.end()
    }

    @Test func aFreshTokenThatHasExpiredIsAClockFault() async throws {
        let world = try APNsWorld()
        world.apple.clockOffset = .seconds(2 * 3600)
        #expect(await world.gateway.deliver(notification()) == .blocked(reason: "ExpiredProviderToken"))
        world.apple.clockOffset = .zero
        #expect(await world.gateway.deliver(notification()) == .accepted)
        #expect(world.gateway.figures.fault == nil)
        world.end()
    }

    @Test func aHostThatIsNotTheOneItMustBeGetsNothingAndTheLaneLearnsOfIt() async throws {
        let world = try APNsWorld(trusts: try LabCredentials())
        #expect(await world.gateway.deliver(notification()) == .blocked(reason: "TLS"))
        #expect(world.apple.figures.requests == 0)
        #expect(world.gateway.figures.lastError?.contains("not trusted") == true)
        world.end()
    }

    @Test func aCertificateThatAppleRejectsInItsGoAwayBlocksTheLane() async throws {
        let world = try APNsWorld(
            certificate: true,
            faults: [FaultRule(.goaway(reason: "BadCertificateEnvironment", isGraceful: false))])
        #expect(await world.gateway.deliver(notification()) == .blocked(reason: "BadCertificateEnvironment"))
        #expect(world.gateway.figures.fault == "BadCertificateEnvironment")
        world.end()
    }

    @Test func anotherKeyIsTakenOverWhileRunning() async throws {
        let world = try APNsWorld()
        #expect(await world.gateway.deliver(notification()) == .accepted)
        let url = try GatewayURL(world.apple.url)
        let key = try ProviderKey(
            keyID: "XXXXXXXXXX", teamID: world.lab.teamID, p8: try world.lab.providerKeyPEM())
        try world.gateway.use(
            APNsSettings(
                topic: APNsWorld.topic, credentials: .providerKey(key), productionURL: url, sandboxURL: url,
                trust: .authorities(pem: try world.lab.authorityPEM())))
        #expect(await world.gateway.deliver(notification()) == .blocked(reason: "InvalidProviderToken"))
        #expect(world.apple.figures.connections == 2)
        world.end()
    }

    @Test func stoppingLetsWhatIsOnItsWayEnd() async throws {
        let world = try APNsWorld(faults: [FaultRule(.delay(.milliseconds(100)))])
        async let late = world.gateway.deliver(notification())
        try await EventLoop.until { world.apple.figures.requests > 0 }
        world.gateway.stop()
        #expect(world.gateway.capacity == 0)
        #expect(await late == .accepted)
        try await EventLoop.until { world.apple.figures.openConnections == 0 }
        world.apple.close()
    }

    @Test func aFullConnectionGetsOthersBesideIt() async throws {
        let world = try APNsWorld(faults: [FaultRule(.delay(.milliseconds(20)))]) { $0.streamLimit = 5 }
        let outcomes = await world.gateway.deliverAll(apnsNotifications(500))
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 500)
        #expect((2...4).contains(world.apple.figures.connections))
        world.end()
    }

    @Test func allFaultsTogetherLoseNothingAndOnlyRepeatWhatWasUnclear() async throws {
        var limits = ConnectionLife.Limits()
        limits.request = .milliseconds(300)
        let world = try APNsWorld(
            faults: [
                FaultRule(.goaway(reason: "Shutdown", isGraceful: true), when: .every(100)),
                FaultRule(.goaway(reason: nil, isGraceful: false), when: .every(250)),
                FaultRule(.closeConnection(.beforeDelivery), when: .every(300)),
                FaultRule(.closeConnection(.beforeAnswer), when: .every(350)),
                FaultRule(.answer(status: 503, reason: "ServiceUnavailable"), when: .probability(0.05)),
                FaultRule(.answer(status: 500, reason: "InternalServerError"), when: .probability(0.05)),
                FaultRule(.resetStream(.refusedStream), when: .probability(0.02)),
                FaultRule(.silence(isDelivered: false), when: .probability(0.01)),
                FaultRule(.delay(.milliseconds(5))),
            ], limits: limits)
        let outcomes = await world.gateway.deliverAll(apnsNotifications(2000), window: 50)
        #expect(outcomes.allSatisfy { $0 == .accepted } && outcomes.count == 2000)
        #expect(world.accepted.count == 2000)
        // Each broken connection leaves at most its 50 requests unclear.
        #expect(world.apple.book.count <= 2000 + 50 * world.apple.figures.connections)
        #expect(world.apple.book.allSatisfy { $0.headers["apns-collapse-id"] == $0.headers["apns-id"] })
        world.end()
    }
}
