import Crypto
import Encodings

/// One command line for tor's control port. Holds secrets at times: only its ``name`` may be shown.
package struct ControlCommand: Sendable {
    /// The first word.
    package let name: String
    /// The line without CRLF.
    let line: String

    var bytes: [UInt8] { Array(line.utf8) + [0x0D, 0x0A] }

    /// Makes the command of a name and arguments.
    ///
    /// - Precondition: arguments hold no control characters. What comes from outside goes through
    ///   ``quoted(_:)`` or a type that refuses them.
    package init(_ name: String, _ arguments: [String] = []) {
        self.name = name
        line = ([name] + arguments).joined(separator: " ")
        precondition(
            line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
            "\(name) with a control character in an argument")
    }

    /// Returns `"…"` with C escapes for whatever would end the string or the line.
    static func quoted(_ text: some Sequence<UInt8>) -> String {
        var result: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                result += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F:
                result.append(UInt8(ascii: "\\"))
                result += [byte >> 6, byte >> 3 & 7, byte & 7].map { UInt8(ascii: "0") + $0 }
            default:
                result.append(byte)
            }
        }
        return String(decoding: result + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}

extension ControlCommand {
    package static let protocolInfo = ControlCommand("PROTOCOLINFO", ["1"])
    /// Tor ends when the connection does.
    package static let takeOwnership = ControlCommand("TAKEOWNERSHIP")
    static let dropOwnership = ControlCommand("DROPOWNERSHIP")

    /// New circuits for new streams, and no descriptor from the cache: a service of this tor is not touched.
    static let newIdentity = ControlCommand("SIGNAL", ["NEWNYM"])

    /// Tor ends at once.
    static let halt = ControlCommand("SIGNAL", ["HALT"])

    static let authenticate = ControlCommand("AUTHENTICATE")

    /// Returns the command that proves who we are. A password goes as hexadecimal digits, so any bytes will
    /// do; so do a cookie and the answer to a challenge.
    static func authenticate(_ proof: [UInt8]) -> ControlCommand {
        // An empty password can't be written as digits.
        ControlCommand("AUTHENTICATE", [proof.isEmpty ? "\"\"" : Hex.encode(proof)])
    }

    static func safeCookieChallenge(nonce: [UInt8]) -> ControlCommand {
        ControlCommand("AUTHCHALLENGE", ["SAFECOOKIE", Hex.encode(nonce)])
    }

    /// Returns the command that replaces the whole set of events.
    package static func setEvents(_ names: [String]) -> ControlCommand {
        ControlCommand("SETEVENTS", names)
    }

    /// Returns the command that asks for keys. One unknown key fails the whole request.
    package static func getInfo(_ keys: [String]) -> ControlCommand {
        ControlCommand("GETINFO", keys)
    }

    /// Returns the command that sets all options at once, in this order; none if tor refuses one.
    package static func setConfiguration(_ options: [(key: String, value: String)]) -> ControlCommand {
        ControlCommand("SETCONF", options.map { "\($0.key)=\(quoted($0.value.utf8))" })
    }

    /// Returns the command that asks for a descriptor. Each directory's answer comes as an HS_DESC event.
    package static func fetchDescriptor(of address: OnionAddress) -> ControlCommand {
        ControlCommand("HSFETCH", [address.serviceID])
    }

    package static func removeOnion(_ address: OnionAddress) -> ControlCommand {
        ControlCommand("DEL_ONION", [address.serviceID])
    }

    /// Removes every service of tor's configuration.
    static let resetServices = ControlCommand("RESETCONF", ["HiddenServiceDir", "HiddenServicePort"])

    static func forgetClientKey(of address: OnionAddress) -> ControlCommand {
        ControlCommand("ONION_CLIENT_AUTH_REMOVE", [address.serviceID])
    }

    /// Returns the command that ends a circuit with all its streams.
    static func closeCircuit(_ circuit: UInt32) -> ControlCommand {
        ControlCommand("CLOSECIRCUIT", ["\(circuit)"])
    }
}
