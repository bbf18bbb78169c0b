import Client
import Processes
import Reactor
import Tor

/// Which node a command calls, as `--to` names it. A wrong letter of an onion address is found here, before any circuit
/// is built, and no name is ever looked up.
package enum CalledNode: Equatable {
    /// An onion address in lower case, with `.onion`.
    case onion(String, port: UInt16)
    /// A node on this machine or in its network, for tests: a numeric address or `localhost`.
    case direct(Endpoint)

    /// Reads an address, with its port or without.
    package init(_ text: String, port standard: UInt16) throws(CalledNodeFault) {
        let hasPort = Endpoint(text) != nil
        guard case .host(let host, let port)? = Endpoint(hasPort ? text : "\(text):\(standard)") else {
            throw .notAnAddress
        }
        if let address = OnionAddress(host) {
            guard host.lowercased().hasSuffix(".onion") else { throw .withoutOnion(address.description) }
            self = .onion(address.description, port: port)
        } else if host.lowercased().hasSuffix(".onion") {
            throw .noOnionAddress(host)
        } else if host == "localhost" || NetworkAddress(host) != nil {
            self = .direct(.host(host, port: port))
        } else {
            throw .name(host)
        }
    }
}

/// Why no node can have this address.
package enum CalledNodeFault: Error, Equatable, CustomStringConvertible {
    case notAnAddress
    /// Length, checksum or version is wrong.
    case noOnionAddress(String)
    /// The end `.onion` is missing and all else is right; with what the address should be.
    case withoutOnion(String)
    case name(String)

    package var description: String {
        switch self {
        case .notAnAddress: "--to must be ADDRESS or ADDRESS:PORT"
        case .noOnionAddress(let host):
            "\"\(plainText(host))\" is no onion address: a letter is wrong or missing"
        case .withoutOnion(let address): "the end is missing: \(address)"
        case .name(let host):
            "\"\(plainText(host))\" is no onion address, which has 56 letters and digits and ends in .onion"
        }
    }
}

/// Returns the node of a command. A fault of its address is an error with the exit status 64.
package func calledNode(_ text: String, port: UInt16) throws -> CalledNode {
    do throws(CalledNodeFault) {
        return try CalledNode(text, port: port)
    } catch {
        throw fail(error, status: 64)
    }
}
