import HTTP2
import Lab
import Reactor
import Relay
import TLS
import Testing

@testable import Gateways

@EventLoop
private final class Owner: ConnectionOwner {
    var end: ConnectionEnd?
    var onChange: (@EventLoop (GatewayConnection) -> Void)?

    func connectionChanged(_ connection: GatewayConnection) { onChange?(connection) }
    func connection(_ connection: GatewayConnection, goesAwayFor word: String?) {}
    func isSpare(_ connection: GatewayConnection) -> Bool { false }
    func connectionEnded(_ connection: GatewayConnection, _ end: ConnectionEnd) { self.end = end }

    func untilItEnds() async throws -> ConnectionEnd {
        try await EventLoop.until { self.end != nil }
        return try #require(end)
    }
}

@Suite(.serialized) @EventLoop struct GatewayConnectionTests {
    private let lab: LabCredentials
    private let owner = Owner()

    init() throws {
        lab = try LabCredentials()
    }

    private func connection(
        to server: IdleServer, _ change: (inout ConnectionLife.Limits) -> Void = { _ in }
    ) throws -> GatewayConnection {
        var limits = ConnectionLife.Limits()
        change(&limits)
        return GatewayConnection(
            to: try GatewayURL("https://\(server.listener.endpoint)"), try lab.clientContext(),
            version: .http2,
            needsProof: false, limits: limits, owner: owner)
    }

    @Test func oneThatIsNeverAnsweredIsGivenUp() async throws {
        let server = try IdleServer(.mute, lab)
        let connection = try connection(to: server) { $0.setup = .milliseconds(500) }
        // On a busy machine even TCP may not be done in time, which has another name.
        guard case .broken = try await owner.untilItEnds() else {
            Issue.record("\(String(describing: owner.end))")
            return
        }
        #expect(connection.room == 0)
        server.listener.close()
    }

    /// What waits for it is seen to wait; else it would be kept for ever, since it answers each PING.
    @Test func oneThatAllowsNoRequestIsGivenUpWhenSomethingWaits() async throws {
        let server = try IdleServer(.barring, lab)
        let connection = try connection(to: server) {
            $0.idle = .milliseconds(100)
            $0.starved = .milliseconds(300)
        }
        owner.onChange = { $0.noteBacklog() }
        #expect(try await owner.untilItEnds() == .broken(.own(.noStreams)))
        #expect(connection.requests == 0)
        connection.drain()
        server.listener.close()
    }

    @Test func oneThatFreezesIsFoundOutByItsPing() async throws {
        let server = try IdleServer(.freezing, lab)
        let connection = try connection(to: server) {
            $0.unanswered = .milliseconds(100)
            $0.ping = .milliseconds(100)
        }
        var ends: [ExchangeReason] = []
        owner.onChange = { connection in
            guard connection.room > 0, connection.requests == 0 else { return }
            for _ in 0..<3 {
                connection.send(HTTP2Headers(method: "POST", authority: "a", path: "/"), body: [1]) {
                    end, _ in
                    if case .unclear(let reason) = end { ends.append(reason) }
                }
            }
        }
        #expect(try await owner.untilItEnds() == .broken(.own(.silent)))
        #expect(ends == Array(repeating: .own(.connectionLost), count: 3))
        #expect(connection.life.inFlight == 0)
        server.listener.close()
    }

    @Test func anIdleOneThatFreezesIsFoundOutToo() async throws {
        let server = try IdleServer(.freezing, lab)
        let connection = try connection(to: server) {
            $0.idle = .milliseconds(100)
            $0.ping = .milliseconds(100)
        }
        #expect(try await owner.untilItEnds() == .broken(.own(.silent)))
        #expect(connection.requests == 0)
        server.listener.close()
    }

    @Test func withoutACommonProtocolTheOperatorMustLook() async throws {
        let server = try IdleServer(.otherProtocol, lab)
        let connection = try connection(to: server)
        guard case .untrusted = try await owner.untilItEnds() else {
            Issue.record("\(String(describing: owner.end))")
            return
        }
        #expect(connection.room == 0)
        server.listener.close()
    }

    @Test func oneThatClosesAtOnceIsBroken() async throws {
        let server = try IdleServer(.closing, lab)
        let connection = try connection(to: server)
        guard case .broken = try await owner.untilItEnds() else {
            Issue.record("\(String(describing: owner.end))")
            return
        }
        #expect(connection.room == 0)
        server.listener.close()
    }

    @Test func aHostThatClosesAtOnceIsNotStormed() async throws {
        let server = try IdleServer(.closing, lab)
        let link = GatewayLink(
            GatewayLinkSettings(url: try GatewayURL("https://\(server.listener.endpoint)"), version: .http2),
            context: try lab.clientContext(), log: quiet)
        var acceptedMeanwhile: Int?
        // Is over before the shortest pause, however busy the machine is: timers come in their order.
        let meanwhile = Timer { acceptedMeanwhile = server.accepted }
        link.onFailure = {
            if link.figures.connectionFailures == 1 { meanwhile.start(after: OpeningPace.firstPause / 4) }
        }
        link.start()
        link.want()
        try await EventLoop.until { link.figures.connectionFailures == 2 }
        #expect(acceptedMeanwhile == 1 && server.accepted == 2)
        #expect(link.fault == nil)
        #expect(link.room == 0)
        link.stop()
        server.listener.close()
    }
}
