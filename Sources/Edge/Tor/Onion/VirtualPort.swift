import Reactor

/// A port of the onion address and where tor connects for it.
package struct VirtualPort: Hashable, Sendable {
    package let number: UInt16
    package let target: Endpoint

    /// Makes a port of the onion address.
    ///
    /// - Throws: ``VirtualPortError``: some targets can't be written for tor.
    package init(_ number: UInt16, to target: Endpoint) throws(VirtualPortError) {
        guard number > 0 else { throw .zero }
        switch target {
        case .host(let host, let port):
            guard port > 0 else { throw .zero }
            guard !host.isEmpty, host.utf8.allSatisfy(Self.isPlain) else { throw .hostUnfit(host) }
        case .unix(let path):
            guard path.hasPrefix("/"), path.utf8.allSatisfy(Self.isQuotable) else { throw .pathUnfit(path) }
        }
        self.number = number
        self.target = target
    }

    /// Whether a path must stand in quotes. Tor's configuration takes them; `ADD_ONION` does not, so that a service which is
    /// made by it can't have such a path.
    package static func needsQuotes(_ path: String) -> Bool { !path.utf8.allSatisfy(isPlain) }

    /// The port as a line `HiddenServicePort` has it.
    var option: String {
        guard case .unix(let path) = target, Self.needsQuotes(path) else { return "\(number) \(target)" }
        return "\(number) unix:\"\(path)\""
    }

    private static func isQuotable(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: ",")
    }
}

package enum VirtualPortError: Error, Equatable, Sendable, CustomStringConvertible {
    case zero
    case hostUnfit(String)
    case pathUnfit(String)

    package var description: String {
        switch self {
        case .zero: "an onion port or its target has the number 0; allowed are 1 to 65535"
        case .hostUnfit(let host): "tor can't connect an onion port to the host \(host)"
        case .pathUnfit(let path):
            """
            tor can't connect an onion port to \(path): the path must begin with / and have no quotes, backslashes or \
            control characters
            """
        }
    }
}
