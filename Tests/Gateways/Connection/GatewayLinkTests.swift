import Lab
import Reactor
import TLS
import Testing

@testable import Gateways

/// Whom a link tells of room, and what it takes for a failure.
@Suite(.serialized) @EventLoop struct GatewayLinkTests {
    private let lab: LabCredentials

    init() throws { lab = try LabCredentials() }

    private func link(
        to endpoint: Endpoint, by egress: Egress = .direct, _ context: TLSContext?,
        version: GatewayConnection.HTTPVersion = .http1
    ) throws -> GatewayLink {
        var limits = RelayGateway.limits
        limits.rest = .seconds(3600)
        let url = try GatewayURL("\(context == nil ? "http" : "https")://\(endpoint)")
        return GatewayLink(
            GatewayLinkSettings(url: url, egress: egress, version: version, limits: limits),
            context: context,
            log: quiet)
    }

    /// Nothing was sent over it yet, and nothing about it changes.
    @Test func whoWantsAnOpenConnectionIsToldOfIt() async throws {
        let relay = try SimulatedRelay()
        let link = try link(to: relay.endpoint, nil)
        var told = 0
        link.onRoom = { told += 1 }
        link.start()
        link.want()
        try await EventLoop.until { told == 1 }
        #expect(link.room == 1)
        link.want()
        try await EventLoop.until { told == 2 }
        #expect(relay.figures.connections == 1 && link.figures.isResting)
        link.stop()
        relay.close()
    }

    /// It ends where the connection came to nothing, and the host is tried again until it is there.
    @Test func aLookGoesOnUntilTheHostIsThere() async throws {
        let server = try IdleServer(.closing, lab)
        let link = try link(to: server.listener.endpoint, try lab.clientContext())
        await withCheckedContinuation { end in
            link.start()
            link.look { end.resume() }
        }
        #expect(
            link.figures.connectionFailures == 1 && !link.figures.isResting && link.figures.lastError != nil)
        try await EventLoop.until { server.accepted == 2 }
        // Also where the node stops meanwhile.
        var ends = 0
        link.look { ends += 1 }
        link.stop()
        link.look { ends += 1 }
        #expect(ends == 2)
        server.listener.close()
    }

    /// Apple says so over a connection that stands.
    @Test func aLookShowsThatTheCertificateIsRefused() async throws {
        let server = try IdleServer(.dismissing, lab)
        let link = try link(to: server.listener.endpoint, try lab.clientContext(), version: .http2)
        link.isFault = { $0 == "BadCertificate" }
        link.start()
        await withCheckedContinuation { end in link.look { end.resume() } }
        #expect(link.fault == "BadCertificate" && link.figures.goAways["BadCertificate"] > 0)
        link.stop()
        server.listener.close()
    }

    /// Other authorities are to be trusted while a connection is being opened by the old ones, or the node stops.
    @Test(arguments: [false, true]) func aDialThatWeEndIsNoFailure(stops: Bool) async throws {
        let server = try IdleServer(.mute, lab)
        let link = try link(to: server.listener.endpoint, try lab.clientContext())
        var failures = 0
        link.onFailure = { failures += 1 }
        link.start()
        link.want()
        try await EventLoop.until { server.accepted == 1 }
        if stops { link.stop() } else { link.use(try lab.clientContext()) }
        try await EventLoop.until { link.figures.connections == (stops ? 0 : 1) }
        // The next one is opened at once.
        if !stops { try await EventLoop.until { server.accepted == 2 } }
        #expect(failures == 0 && link.figures.connectionFailures == 0 && link.figures.lastError == nil)
        link.stop()
        server.listener.close()
    }

    /// A tor that is away, or ends amid a dial, says nothing of the host. What it says of the host counts.
    @Test(arguments: [false, true]) func theEndOfTheOwnProxyIsNoFailureOfTheGateway(answers: Bool)
        async throws
    {
        let proxy = try FailingProxy(answers: answers)
        let relay = try SimulatedRelay()
        let link = try link(to: relay.endpoint, by: .through(proxy.listener.endpoint), nil)
        var failures = 0
        link.onFailure = { failures += 1 }
        link.start()
        link.want()
        try await EventLoop.until { link.figures.lastError != nil }
        #expect(failures == (answers ? 1 : 0) && link.figures.connectionFailures == failures)
        #expect(relay.figures.connections == 0)
        link.stop()
        relay.close()
        proxy.listener.close()
    }

    /// Apple refuses a certificate with a word when it closes the connection.
    @Test(arguments: [false, true]) func aGoodbyeToTheCredentialsOfBeforeIsNoFault(isOutdated: Bool)
        async throws
    {
        let relay = try SimulatedRelay()
        let link = try link(to: relay.endpoint, nil)
        link.isFault = { _ in true }
        let connection = GatewayConnection(
            to: try GatewayURL(relay.url), nil, version: .http1, needsProof: false,
            limits: RelayGateway.limits, owner: link)
        connection.isOutdated = isOutdated
        link.connection(connection, goesAwayFor: "BadCertificate")
        #expect(link.fault == (isOutdated ? nil : "BadCertificate"))
        connection.drain()
        relay.close()
    }

    /// Who waits asks again each time; the link says so once for each connection that has failed.
    @Test func aFaultIsNotToldAgainAndAgain() async throws {
        let server = try IdleServer(.otherProtocol, lab)
        let link = try link(to: server.listener.endpoint, try lab.clientContext())
        var told = 0
        link.onRoom = {
            told += 1
            link.noteBacklog()
        }
        link.onFailure = { link.noteBacklog() }
        link.start()
        link.want()
        try await EventLoop.until { link.figures.connectionFailures == 3 }
        #expect(link.isUntrusted && told <= 6)
        link.stop()
        server.listener.close()
    }
}

/// A SOCKS proxy that closes each connection at once, or answers that the host can't be reached.
@EventLoop
private final class FailingProxy: StreamHandler {
    private(set) var listener: Listener!
    private var streams: [ObjectIdentifier: Reactor.Stream] = [:]

    init(answers: Bool) throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
            guard answers else { return stream.close() }
            stream.handler = self
            streams[ObjectIdentifier(stream)] = stream
        }
    }

    /// The greeting is three bytes, the request more.
    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
        stream.write(bytes.byteCount == 3 ? [5, 0] : [5, 4, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) { streams[ObjectIdentifier(stream)] = nil }
}
