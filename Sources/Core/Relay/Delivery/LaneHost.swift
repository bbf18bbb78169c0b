import Encodings

/// Which of a push service's hosts a lane leads to: a short text, the service's own name for it, or the origin of an
/// address that somebody else chose.
///
/// Up to 15 bytes of it need no memory of their own.
package struct LaneHost: Hashable, Sendable, CustomStringConvertible {
    package let name: String
    /// Whether the host was chosen by the maker of an address: its lane comes with the first notification, goes when it
    /// has been idle for a while, and its name is shown to nobody.
    package let isOrigin: Bool
    /// Whether the host is the service's usual one: most are, and no text has to be compared.
    private let isProduction: Bool

    /// Makes a host from one of the service's own names, or from what was ``name``.
    package init(_ name: String) {
        self.name = name
        isOrigin = name.utf8.contains(UInt8(ascii: "/"))
        isProduction = name == "production"
    }

    /// Bytes of the longest: `https://`, a name of 253, and a port.
    package static let longestOrigin = 267

    /// Reads `https://HOST` or `http://HOST`, with `:PORT` if need be: lower-case ASCII, in the one spelling
    /// that the service gives it. `nil`: the text is something else.
    package init?(origin: String) {
        guard origin.withBytes({ LaneHost.isOrigin($0) }) else { return nil }
        self.init(origin)
    }

    private static func isOrigin(_ bytes: Span<UInt8>) -> Bool {
        let scheme =
            bytes.starts(with: "https://") ? 8 : bytes.starts(with: "http://") ? 7 : 0
        guard scheme > 0, (scheme + 1...LaneHost.longestOrigin).contains(bytes.count) else { return false }
        for index in scheme..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                break
            default: return false
            }
        }
        return true
    }

    /// The host of a service that has one, and of apps from Apple's store.
    package static let production = LaneHost("production")
    /// Apple's host for apps that their developers built.
    package static let sandbox = LaneHost("sandbox")
    /// The name in place of origins, where a person or a log reads.
    package static let others = LaneHost("others")

    package static func == (left: LaneHost, right: LaneHost) -> Bool {
        left.isProduction == right.isProduction && (left.isProduction || left.name == right.name)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The host's name, or that of ``others`` in place of an origin.
    package var description: String { isOrigin ? LaneHost.others.name : name }
}
