import Encodings
import Relay

/// The push servers that the node calls: those of the browsers' makers, and those that the operator names.
///
/// An endpoint comes from a stranger. A node that called any host would tell each stranger its own address, and would
/// knock at doors of its own network for him.
struct PushHosts: Equatable, Sendable {
    enum Pattern: Equatable, Sendable {
        /// This host, at this port. Named by the operator it may be in his own network.
        case host(String, port: UInt16)
        /// All names that end with a dot and this one.
        case below(String)
        /// Any host with a public name and address.
        case any

        /// Reads `host`, `host:port`, `*.domain` or `*`.
        init?(_ text: String) {
            if text == "*" {
                self = .any
                return
            }
            if text.hasPrefix("*.") {
                guard let server = PushEndpoint.Server(String(text.dropFirst(2))), !server.isUnusual else {
                    return nil
                }
                self = .below(server.host)
                return
            }
            guard let server = PushEndpoint.Server(text) else { return nil }
            self = .host(server.host, port: server.port)
        }

        fileprivate func covers(_ endpoint: PushEndpoint) -> Bool {
            switch self {
            case .host(let host, let port): endpoint.host == host && endpoint.port == port
            case .below(let domain): !endpoint.isUnusual && PushHosts.is(endpoint.host, below: domain)
            case .any: !endpoint.isUnusual
            }
        }
    }

    /// Mozilla's, Google's, Apple's and Microsoft's, without those that were closed.
    static let known: [Pattern] = [
        .host("updates.push.services.mozilla.com", port: 443), .host("fcm.googleapis.com", port: 443),
        .host("jmt17.google.com", port: 443), .host("web.push.apple.com", port: 443),
        .below("push.services.mozilla.com"), .below("push.apple.com"), .below("notify.windows.com"),
    ]

    private let own: [Pattern]
    /// The hosts that are named one by one, as endpoints' authorities: nobody can make up more of them.
    let hosts: [String]

    /// Makes the known hosts, with the operator's own patterns.
    init(_ own: [Pattern]) {
        self.own = own
        var hosts: [String] = []
        for case .host(let host, let port) in PushHosts.known + own {
            let authority = PushEndpoint.authority(host, port, isOnion: host.hasSuffix(".onion"))
            if !hosts.contains(authority) { hosts.append(authority) }
        }
        self.hosts = hosts
    }

    func allow(_ endpoint: PushEndpoint) -> Bool {
        PushHosts.known.contains { $0.covers(endpoint) } || own.contains { $0.covers(endpoint) }
    }

    /// Returns the lane of an endpoint. Hosts that are named one by one have lanes from the start; what
    /// strangers can make up is an origin.
    func lane(of endpoint: PushEndpoint) -> LaneHost? {
        let authority = endpoint.authority
        return hosts.contains(authority) ? LaneHost(authority) : LaneHost(origin: "https://\(authority)")
    }

    /// Returns the host as which an origin is shown: the domain that its server is below, if that is named.
    func shown(_ host: LaneHost) -> LaneHost {
        guard host.isOrigin else { return host }
        let endpoint = PushEndpoint(host.name + "/")
        for case .below(let domain) in PushHosts.known + own
        where endpoint.map({ PushHosts.is($0.host, below: domain) }) == true {
            return LaneHost("*.\(domain)")
        }
        return .others
    }

    /// Whether the operator has named just this host: it may have an address of his own network.
    func name(_ endpoint: PushEndpoint) -> Bool {
        own.contains {
            guard case .host = $0 else { return false }
            return $0.covers(endpoint)
        }
    }

    var namesOnions: Bool { hosts.contains { $0.hasSuffix(".onion") || $0.mentions(".onion:") } }

    private static func `is`(_ host: String, below domain: String) -> Bool {
        host.withBytes { host in domain.withBytes { `is`(host, below: $0) } }
    }

    private static func `is`(_ host: Span<UInt8>, below domain: Span<UInt8>) -> Bool {
        let start = host.count - domain.count
        return start > 1 && host[start - 1] == UInt8(ascii: ".")
            && host.extracting(droppingFirst: start).hasSameBytes(as: domain)
    }
}
