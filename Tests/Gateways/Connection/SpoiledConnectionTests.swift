import Crypto
import HTTP1
import Lab
import LabParts
import Outbound
import Reactor
import Relay
import TLS
import Testing

@testable import Gateways

/// A connection that answers everything with 5xx, while any other one would work: it is given up, whatever the service.
@Suite(.serialized) @EventLoop struct SpoiledConnectionTests {
    private var limits: ConnectionLife.Limits {
        var limits = ConnectionLife.Limits()
        limits.failing = .zero
        // Nothing else ends one, however busy the machine is.
        (limits.setup, limits.unanswered, limits.request) = (.seconds(3600), .seconds(3600), .seconds(3600))
        return limits
    }

    /// As a lane does, which waits between its attempts: until it is taken, and no more often than need be.
    private func attempts(_ gateway: any Gateway, _ notification: Notification) async -> Int {
        for attempt in 1...10 where await gateway.deliver(notification) == .accepted { return attempt }
        return .max
    }

    private let spoiled = [
        FaultRule(
            .spoilConnection(.answer(status: 500, reason: "InternalServerError")), when: .every(2), times: 1)
    ]

    @Test func applesIsReplaced() async throws {
        let world = try APNsWorld(certificate: true, faults: spoiled, limits: limits)
        #expect(await attempts(world.gateway, notification()) == 1)
        #expect(await attempts(world.gateway, notification()) == 3)
        #expect(world.apple.figures.connections == 2)
        world.end()
    }

    /// The second one fails as well: the gateway, it seems. It is kept for a minute.
    @Test func anotherOneIsGivenUpNoSoonerThanAMinuteLater() async throws {
        let world = try APNsWorld(
            certificate: true,
            faults: [FaultRule(.spoilConnection(.answer(status: 503, reason: "ServiceUnavailable")))],
            limits: limits)
        #expect(await attempts(world.gateway, notification()) == .max)
        #expect(world.apple.figures.connections == 2)
        world.end()
    }

    @Test(arguments: [["h2"], ["http/1.1"]]) func googlesIsReplaced(protocols: [String]) async throws {
        let lab = try LabCredentials()
        let google = try GatewaySimulator(.fcm(lab.fcmRules()), try lab.serverContext(protocols: protocols))
        google.faults = FaultScript([
            FaultRule(
                .spoilConnection(.answer(status: 503, reason: "UNAVAILABLE")), when: .every(2), times: 1)
        ])
        let gateway = try FCMGateway(
            FCMSettings(
                account: try ServiceAccount(file: lab.serviceAccountFile(tokenURL: google.url + "/token")),
                baseURL: try GatewayURL(google.url), trust: .authorities(pem: try lab.authorityPEM())),
            limits: limits, log: quiet)
        gateway.start()
        let phone = notification(deviceToken: String(repeating: "aku-XrLQ:", count: 10))
        #expect(await attempts(gateway, phone) == 1)
        #expect(await attempts(gateway, phone) == 3)
        gateway.stop()
        google.close()
    }

    /// In whatever form: no answer, one that is too long, or a page where none belongs.
    @Test(
        arguments: [
            .resetStream(.internalError), .resetStream(.refusedStream), .page(status: 200),
            .text(status: 200, String(repeating: "x", count: 100_000)),
        ] as [GatewayFault])
    func itMayFailInAnyForm(fault: GatewayFault) async throws {
        let world = try WebPushWorld(protocols: ["h2"], failing: .zero)
        world.server.faults = FaultScript([FaultRule(.spoilConnection(fault), when: .every(2), times: 1)])
        let browser = try world.browser()
        #expect(await attempts(world.gateway, webPush(to: browser)) == 1)
        #expect(await attempts(world.gateway, webPush(to: browser, id: 2)) == 3)
        #expect(world.server.figures.connections == 2)
        world.end()
    }

    @Test(arguments: [["h2"], ["http/1.1"]]) func aPushServersIsReplaced(protocols: [String]) async throws {
        let world = try WebPushWorld(protocols: protocols, failing: .zero)
        world.server.faults = FaultScript(spoiled)
        let browser = try world.browser()
        #expect(await attempts(world.gateway, webPush(to: browser)) == 1)
        #expect(await attempts(world.gateway, webPush(to: browser, id: 2)) == 3)
        #expect(world.server.figures.connections == 2)
        world.end()
    }

    /// Relays and ntfy's servers are reached by HTTP/1.1 mostly, and by the same connections.
    @Test func thatOfALinkIsReplacedWhateverItsService() async throws {
        let server = try SimulatedNtfy()
        server.answers = [503, 503].map { HTTPResponse(status: $0, text: "no") }
        var settings = NtfySettings(url: try GatewayURL(server.url))
        settings.limits.failing = .zero
        let gateway = try NtfyGateway(settings, log: quiet)
        gateway.start()
        let topic = notification(deviceToken: "nt1:topic")
        #expect(await attempts(gateway, topic) == 3)
        #expect(gateway.figures.connectionsOpened == 2)
        gateway.stop()
        server.close()
    }
}
