import Encodings
import Reactor

/// The address of a gateway or token server: `https://host[:port][/path]`, or `http://` on this machine only, and where it
/// is allowed at an onion address or at one host of the operator's own network. Or a node's peer endpoint:
/// `address.onion[:port]`.
package struct GatewayURL: Equatable, Sendable, CustomStringConvertible {
    package let isSecure: Bool
    /// Whether the server speaks the peers' protocol, not HTTP.
    package let isPeer: Bool
    /// A name or address; IPv6 without brackets.
    package let host: String
    package let port: UInt16
    /// The path, which begins with a slash; `/` where none was given.
    package let path: String

    /// Why a text is no such address.
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case notURL
        /// Plain HTTP would show device tokens and credentials to the network.
        case plainBeyondLoopback
        /// The address is not a peer's: only tor, or this machine itself, may carry frames.
        case notPeer

        package var description: String {
            switch self {
            case .notURL: "not of the form https://host[:port][/path]"
            case .notPeer: "not of the form ADDRESS.onion[:PORT]"
            case .plainBeyondLoopback: "plain HTTP, which is for addresses of this machine only; use https://"
            }
        }
    }

    init(isSecure: Bool, host: String, port: UInt16, path: String) {
        self.isSecure = isSecure
        isPeer = false
        self.host = host
        self.port = port
        self.path = path
    }

    /// The port at which Bisq's own nodes, and nodes like this one, take peers.
    static let peerPort: UInt16 = 9999

    /// Reads a peer: `address.onion[:port]`, or an address of this machine.
    package init(peer text: String) throws(Fault) {
        let whole = text.contains(":") ? text : "\(text):\(GatewayURL.peerPort)"
        guard !text.contains("/"), case .host(let host, let port)? = Endpoint(whole), port > 0 else {
            throw .notPeer
        }
        self.init(
            isPeer: true, isSecure: false, host: GatewayURL.oneSpelling(of: host), port: port, path: "/")
        guard endpoint.isLoopback || isOnion else { throw .notPeer }
    }

    private init(isPeer: Bool, isSecure: Bool, host: String, port: UInt16, path: String) {
        self.isPeer = isPeer
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// Reads a URL.
    ///
    /// - Parameters:
    ///   - allowsPlainOnion: Whether `http://` is allowed for onion addresses, to which tor encrypts.
    ///   - plainHost: The one other host that may be reached by `http://`; empty: none.
    package init(
        _ text: String, allowsPlainOnion: Bool = false, plainHost: String = ""
    ) throws(Fault) {
        let rest: Substring
        isPeer = false
        if text.hasPrefix("https://") {
            isSecure = true
            rest = text.dropFirst(8)
        } else if text.hasPrefix("http://") {
            isSecure = false
            rest = text.dropFirst(7)
        } else {
            throw .notURL
        }
        let authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        guard !authority.isEmpty, rest.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }),
            !rest.contains(where: { "?#@\\\"<>".contains($0) })
        else { throw .notURL }
        let hasPort = authority.hasPrefix("[") ? !authority.hasSuffix("]") : authority.contains(":")
        let whole = hasPort ? String(authority) : "\(authority):\(isSecure ? 443 : 80)"
        guard case .host(let host, let port)? = Endpoint(whole), port > 0 else { throw .notURL }
        self.host = GatewayURL.oneSpelling(of: host)
        self.port = port
        self.path = path.isEmpty ? "/" : String(path)
        guard
            isSecure || endpoint.isLoopback || allowsPlainOnion && isOnion
                || self.host == GatewayURL.oneSpelling(of: plainHost)
        else {
            throw .plainBeyondLoopback
        }
    }

    /// Returns a host, IPv6 without brackets, as it is compared.
    static func oneSpelling(of host: String) -> String {
        host.contains(":") ? host.lowercased() : OneSpelling.host(host, usualPort: nil) ?? host
    }

    /// Whether only tor reaches the server.
    package var isOnion: Bool { host.hasSuffix(".onion") }

    package var endpoint: Endpoint { .host(host, port: port) }

    /// The authority as HTTP's `Host` and `:authority` name it: without the port that the scheme implies.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let implied = isPeer ? GatewayURL.peerPort : isSecure ? 443 : 80
        return port == implied ? name : "\(name):\(port)"
    }

    package var description: String {
        isPeer ? authority : "\(isSecure ? "https" : "http")://\(authority)\(path)"
    }
}
