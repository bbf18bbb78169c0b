import Lab
import Reactor
import TLS
import Testing

@testable import Gateways

/// A name that has several addresses: here ports of this machine, told by a resolver of the tests.
@Suite(.serialized) @EventLoop struct SeveralAddressesTests {
    private let lab: LabCredentials
    private let good: GatewaySimulator

    init() throws {
        lab = try LabCredentials()
        good = try GatewaySimulator(.apns(lab.apnsRules(topics: ["t"])), try lab.serverContext())
    }

    /// What the name means, and how often it was asked for.
    @EventLoop private final class Name {
        var places: [Endpoint]
        private(set) var lookups = 0

        /// What it means as soon as it was looked up; `nil`: the same.
        var next: [Endpoint]?

        init(_ places: [Endpoint]) { self.places = places }

        func lookUp() async throws(ConnectError) -> [SocketAddress] {
            lookups += 1
            var addresses: [SocketAddress] = []
            for place in places {
                addresses += try await Stream.addresses(of: place, deadline: .seconds(10))
            }
            if let next { places = next }
            return addresses
        }
    }

    private func link(to name: Name, setup: Duration = .seconds(30)) throws -> GatewayLink {
        var limits = ConnectionLife.Limits()
        limits.setup = setup
        let link = GatewayLink(
            GatewayLinkSettings(
                url: try GatewayURL("https://localhost"), version: .http2, limits: limits,
                lookUp: { (_, _) async throws(ConnectError) in try await name.lookUp() }),
            context: try lab.clientContext(), log: quiet)
        link.start()
        link.want()
        return link
    }

    /// A port where nobody listens.
    private func refusing() throws -> Endpoint {
        let listener = try Listener(on: .host("127.0.0.1", port: 0)) { $0.close() }
        defer { listener.close() }
        return listener.endpoint
    }

    /// A name server may answer otherwise between the look at the addresses and the dialling.
    @Test func whatWasLookedUpIsDialledHoweverTheNameIsAnsweredNext() async throws {
        var strangers = 0
        let other = try Listener(on: .host("127.0.0.1", port: 0)) { stream in
            strangers += 1
            stream.close()
        }
        let name = Name([good.endpoint])
        name.next = [other.endpoint]
        let link = try link(to: name)
        try await EventLoop.until { link.room > 0 }
        #expect(name.lookups == 1 && strangers == 0)
        link.stop()
        other.close()
        good.close()
    }

    enum Fault: CaseIterable {
        /// Nobody listens.
        case refusing
        /// Ends before TLS, never begins with it, speaks another protocol over it, shows another's certificate.
        case closing, mute, otherProtocol, untrusted
    }

    @Test(arguments: Fault.allCases)
    func anAddressThatFailsIsPassedOverForTheNext(fault: Fault) async throws {
        let idle: IdleServer? =
            switch fault {
            case .refusing: nil
            case .closing: try IdleServer(.closing, lab)
            case .mute: try IdleServer(.mute, lab)
            case .otherProtocol: try IdleServer(.otherProtocol, lab)
            case .untrusted: try IdleServer(.freezing, try LabCredentials())
            }
        let name = Name([try idle?.listener.endpoint ?? refusing(), good.endpoint])
        // The mute one has half of it.
        let link = try link(to: name, setup: fault == .mute ? .seconds(3) : .seconds(30))
        try await EventLoop.until { link.room > 0 }
        #expect(good.figures.connections == 1)
        #expect(idle?.accepted ?? 1 == 1)
        // All of it is one connection's way, and no failure.
        #expect(link.figures.connectionsOpened == 1)
        #expect(link.figures.connectionFailures == 0)
        #expect(link.figures.lastError == nil)
        #expect(link.fault == nil)
        #expect(name.lookups == 1)
        link.stop()
        idle?.listener.close()
        good.close()
    }

    @Test func ifAllFailTheOneThatIsNotTrustedIsTold() async throws {
        let other = try IdleServer(.freezing, try LabCredentials())
        let link = try link(to: Name([other.listener.endpoint, try refusing()]))
        try await EventLoop.until { link.fault != nil }
        #expect(link.fault == "TLS")
        #expect(link.figures.lastError?.contains("not trusted") == true)
        link.stop()
        other.listener.close()
        good.close()
    }

    @Test func eachConnectionAsksForTheNameAnew() async throws {
        let other = try GatewaySimulator(.apns(lab.apnsRules(topics: ["t"])), try lab.serverContext())
        let name = Name([good.endpoint])
        let link = try link(to: name)
        try await EventLoop.until { link.room > 0 }
        name.places = [other.endpoint]
        good.breakConnections()
        try await EventLoop.until { link.figures.connections == 0 }
        link.want()
        try await EventLoop.until { other.figures.connections > 0 }
        #expect(name.lookups == 2)
        #expect(good.figures.connections == 1)
        link.stop()
        good.close()
        other.close()
    }
}
