import Reactor

/// The way from the node to a gateway: a connection of its own, or one through a SOCKS5 proxy.
///
/// Through a proxy names are looked up by the proxy, and there is no other way when it fails: what is to hide the node's
/// address must not show it by a mistake.
package struct Egress: Sendable {
    /// Returns where the proxy listens at the moment; `nil` while it doesn't, as long as tor starts.
    package typealias Proxy = @EventLoop @Sendable () -> Endpoint?

    private let proxy: Proxy?
    private let user: String?

    package static let direct = Egress(proxy: nil, user: nil)

    /// Leads through a proxy that wants no login.
    package static func through(_ proxy: Endpoint) -> Egress { Egress(proxy: { proxy }, user: nil) }

    /// Leads through tor, which builds a circuit of its own for each app and each host.
    package static func tor(_ proxy: @escaping Proxy) -> Egress { Egress(proxy: proxy, user: "gateway") }

    /// Returns the way out for one app's connections.
    package func forApp(_ name: String) -> Egress { Egress(proxy: proxy, user: user.map { "\($0)-\(name)" }) }

    /// How often a proxy that is not there yet is looked for.
    private static let pause = Duration.milliseconds(250)

    var isProxied: Bool { proxy != nil }

    /// Connects through the proxy.
    ///
    /// - Precondition: ``isProxied``.
    /// - Returns: A stream with reading paused. `unread` came over it already: nothing, for a host that
    ///   speaks TLS.
    @EventLoop
    func connect(
        to url: GatewayURL, deadline: Duration
    ) async throws(EgressError) -> (stream: Stream, unread: [UInt8]) {
        guard let proxy else { preconditionFailure("no proxy to connect through") }
        let end = ContinuousClock.now + deadline
        while true {
            if let endpoint = proxy() {
                let login = user.map { SOCKS5Credentials(user: $0, password: url.authority) }
                let route = SOCKS5Route(
                    proxy: endpoint, host: url.host, port: url.port, credentials: login)
                do { return try await Stream.connect(through: route, deadline: max(end - .now, .zero)) } catch
                {
                    throw .proxy(error)
                }
            }
            guard ContinuousClock.now + Egress.pause < end else { throw .noProxy }
            try? await Task.sleep(for: Egress.pause)
        }
    }
}

/// Why there is no connection to a gateway.
enum EgressError: Error, Equatable, CustomStringConvertible {
    case proxy(SOCKS5Error)
    case noProxy

    /// Whether the proxy itself is what failed, and nobody has asked the host.
    var isOfProxy: Bool {
        switch self {
        case .noProxy: true
        case .proxy(let error):
            switch error {
            case .proxyUnreachable, .proxyEnded, .notSOCKS5, .methodRefused, .credentialsRefused: true
            case .lengthOutOfRange, .refused, .timedOut: false
            }
        }
    }

    var description: String {
        switch self {
        case .proxy(let error): error.description
        case .noProxy: "tor accepts no connections yet"
        }
    }
}
