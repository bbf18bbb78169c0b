/// The reply to `PROTOCOLINFO 1`: what tor says of itself before authentication.
package struct ProtocolInfo: Equatable, Sendable {
    package enum Method: String, Equatable, Sendable {
        case null = "NULL"
        case cookie = "COOKIE"
        case safeCookie = "SAFECOOKIE"
        case hashedPassword = "HASHEDPASSWORD"
    }

    /// The offered methods that exist as of tor 0.4.9.
    package var methods: [Method]
    /// The path of the cookie's file as tor sees it, only with the cookie methods: in a container it may lie
    /// elsewhere for us.
    package var cookieFile: String?
    package var version: TorVersion

    /// Reads the reply to PROTOCOLINFO.
    ///
    /// - Throws: ``ControlSyntaxError/unreadableReply(to:)``.
    package init(_ reply: ControlReply) throws(ControlSyntaxError) {
        var methods: [Method]?
        var version: TorVersion?
        for line in reply.lines {
            let words = try ReplyFields(line.text)
            switch words[0] {
            case "AUTH":
                methods = words["METHODS"]?.split(separator: ",").compactMap { Method(rawValue: String($0)) }
                cookieFile = words["COOKIEFILE"]
            case "VERSION":
                version = words["Tor"].flatMap { TorVersion($0) }
            default:
                break  // control-spec: lines with other words are to be passed over
            }
        }
        guard let methods, let version else { throw .unreadableReply(to: "PROTOCOLINFO") }
        self.methods = methods
        self.version = version
    }
}

/// `0.4.9.11`, also with a status: `0.5.0.1-alpha-dev`, `0.4.9.11 (git-…)`. The status does not count in comparisons.
package struct TorVersion: Comparable, Sendable, CustomStringConvertible {
    package let numbers: [UInt16]

    /// All that this module does was tried with this series; older ones lack proof-of-work keywords of ADD_ONION.
    package static let oldestSupported = TorVersion("0.4.9")!

    package init?(_ text: String) {
        let number = text.prefix { $0 != "-" && $0 != " " }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt16($0) }
        guard (3...4).contains(parts.count), numbers.count == parts.count else { return nil }
        self.numbers = numbers
    }

    package static func < (left: TorVersion, right: TorVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    package var description: String { numbers.map(String.init).joined(separator: ".") }
}
