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
    private var waiting: CheckedContinuation<ConnectionEnd, Never>?

    func connectionChanged(_ connection: GatewayConnection) { onChange?(connection) }
    func connection(_ connection: GatewayConnection, goesAwayFor word: String?) {}
    func isSpare(_ connection: GatewayConnection) -> Bool { false }
    func connectionEnded(_ connection: GatewayConnection, _ end: ConnectionEnd) {
        self.end = end
        waiting?.resume(returning: end)
    }

    func untilItEnds() async -> ConnectionEnd {
        if let end { return end }
        return await withCheckedContinuation { waiting = $0 }
    }
}

@Suite(.serialized, .timeLimit(.minutes(3))) @EventLoop struct GatewayConnectionTests {
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
        guard case .broken = await owner.untilItEnds() else {
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
        for _ in 0..<400 where owner.end == nil { try await Task.sleep(for: .milliseconds(50)) }
        #expect(owner.end == .broken(reason: "NoStreams") && connection.requests == 0)
        connection.drain()
        server.listener.close()
    }

    @Test func oneThatFreezesIsFoundOutByItsPing() async throws {
        let server = try IdleServer(.freezing, lab)
        let connection = try connection(to: server) {
            $0.unanswered = .milliseconds(100)
            $0.ping = .milliseconds(100)
        }
        var ends: [String] = []
        owner.onChange = { connection in
            guard connection.room > 0, connection.requests == 0 else { return }
            for _ in 0..<3 {
                connection.send(HTTP2Headers(method: "POST", authority: "a", path: "/"), body: [1]) {
                    end, _ in
                    if case .unclear(let reason) = end { ends.append(reason) }
                }
            }
        }
        #expect(await owner.untilItEnds() == .broken(reason: "Silent"))
        #expect(ends == Array(repeating: "ConnectionLost", count: 3))
        #expect(connection.life.inFlight == 0)
        server.listener.close()
    }

    @Test func anIdleOneThatFreezesIsFoundOutToo() async throws {
        let server = try IdleServer(.freezing, lab)
        let connection = try connection(to: server) {
            $0.idle = .milliseconds(100)
            $0.ping = .milliseconds(100)
        }
        #expect(await owner.untilItEnds() == .broken(reason: "Silent"))
        #expect(connection.requests == 0)
        server.listener.close()
    }

    @Test func withoutACommonProtocolTheOperatorMustLook() async throws {
        let server = try IdleServer(.otherProtocol, lab)
        let connection = try connection(to: server)
        guard case .untrusted = await owner.untilItEnds() else {
            Issue.record("\(String(describing: owner.end))")
            return
        }
        #expect(connection.room == 0)
        server.listener.close()
    }

    @Test func oneThatClosesAtOnceIsBroken() async throws {
        let server = try IdleServer(.closing, lab)
        let connection = try connection(to: server)
        guard case .broken = await owner.untilItEnds() else {
            Issue.record("\(String(describing: owner.end))")
            return
        }
        #expect(connection.room == 0)
        server.listener.close()
    }

    @Test func aHostThatClosesAtOnceIsNotStormed() async throws {
        let server = try IdleServer(.closing, lab)
        let link = GatewayLink(
            GatewayLink.Settings(url: try GatewayURL("https://\(server.listener.endpoint)"), version: .http2),
            context: try lab.clientContext(), log: quiet)
        link.start()
        while link.figures.connectionFailures < 2 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(server.accepted == 2)
        #expect(link.fault == nil)
        #expect(link.room == 0)
        link.stop()
        server.listener.close()
    }
}
