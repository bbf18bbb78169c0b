import Encodings

/// The address for the pushes of one subscription, as a browser's push service or a UnifiedPush server gives it out:
/// `https://<host>/<path>`, read from a stranger's text.
///
/// However it is written, it has one text (``OneSpelling``): the host in lower case without a dot at its end or the usual
/// port, the path without escapes that it does not need. Refused is what no service gives out, and all on which parsers
/// differ. Names and addresses that lead into a network of the operator's are ``isUnusual``: only who is named by the operator may have
/// such a one. What a name's addresses are is checked when it is dialled (``PublicAddress``).
///
/// An endpoint prints as its host: who has the path may push.
struct PushEndpoint: Equatable, Sendable {
    /// A name in lower case or a numeric address; IPv6 without brackets.
    let host: String
    let port: UInt16
    /// The path with the query. It begins with a slash.
    let path: String
    /// Whether the endpoint has an address in place of a name, a port, or a name that has no meaning outside
    /// of one network.
    let isUnusual: Bool

    /// Bytes of the whole at most, with `https://`: more than UnifiedPush allows a server, 1,000
    /// (UnifiedPush/specifications, `server.md`).
    static let longest = 1024
    static let scheme = "https://"

    /// Reads an endpoint from the text behind `https://`.
    init?(withoutScheme text: Span<UInt8>) {
        guard text.count <= PushEndpoint.longest - PushEndpoint.scheme.utf8.count,
            text.consists(of: PushEndpoint.character)
        else { return nil }
        var end = 0
        while end < text.count, text[end] != UInt8(ascii: "/") {
            guard text[end] != UInt8(ascii: "?"), text[end] != UInt8(ascii: "@") else { return nil }
            end += 1
        }
        guard end < text.count, let server = Server(text.extracting(first: end)) else { return nil }
        let path = OneSpelling.foreignPath((end..<text.count).map { text[$0] })
        guard PushEndpoint.isPath(path.span) else { return nil }
        host = server.host
        port = server.port
        isUnusual = server.isUnusual
        self.path = String(decoding: path, as: UTF8.self)
    }

    init?(_ text: String) {
        guard let endpoint = text.withBytes({ PushEndpoint(withScheme: $0) }) else { return nil }
        self = endpoint
    }

    private init?(withScheme bytes: Span<UInt8>) {
        let scheme = PushEndpoint.scheme.utf8.count
        guard bytes.starts(with: PushEndpoint.scheme) else { return nil }
        self.init(withoutScheme: bytes.extracting(droppingFirst: scheme))
    }

    /// Whether the host is an onion service, which is its own encryption: plain HTTP, by tor only.
    var isOnion: Bool { host.hasSuffix(".onion") }

    /// `host`, or `host:port`: names the lane.
    var authority: String { PushEndpoint.authority(host, port, isOnion: isOnion) }

    static func authority(_ host: String, _ port: UInt16, isOnion: Bool) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isOnion ? 80 : 443) ? name : "\(name):\(port)"
    }

    /// The text behind `https://`.
    var withoutScheme: String { authority + path }

    static func string(_ bytes: Span<UInt8>) -> String {
        var array: [UInt8] = []
        array.append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
        return String(decoding: array, as: UTF8.self)
    }

    /// Returns 1 for printable ASCII without a blank, and without what browsers escape or drop, or take for a
    /// slash or a fragment; 0 for all other bytes.
    private static func character(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"),
            UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "|"), UInt8(ascii: "`"), UInt8(ascii: "#"):
            0
        case 0x21...0x7e: 1
        case _: 0
        }
    }

    /// Whether a path with its query is one that no browser would change: no `.` or `..` as a segment, also not escaped,
    /// and two hex digits behind each `%`.
    private static func isPath(_ text: Span<UInt8>) -> Bool {
        var dots = 0
        var others = 0
        var isQuery = false
        var index = 0
        func endsWell() -> Bool { others > 0 || dots == 0 || dots > 2 }
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "%"):
                guard index + 2 < text.count, let high = Hex.value(text[index + 1]),
                    let low = Hex.value(text[index + 2])
                else { return false }
                if high << 4 | low == UInt8(ascii: ".") { dots += 1 } else { others += 1 }
                index += 2
            case UInt8(ascii: "/") where !isQuery, UInt8(ascii: "?") where !isQuery:
                guard endsWell() else { return false }
                (dots, others) = (0, 0)
                isQuery = text[index] == UInt8(ascii: "?")
            case UInt8(ascii: "."): dots += 1
            case _: others += 1
            }
            index += 1
        }
        return isQuery || endsWell()
    }
}

extension PushEndpoint {
    /// A host with its port, as an endpoint or the operator's settings have it.
    struct Server: Equatable {
        let host: String
        let port: UInt16
        let isUnusual: Bool

        /// Reads `host`, `host:port`, `[address]` or `[address]:port`, however it is written.
        init?(_ text: Span<UInt8>) {
            guard text.count <= OneSpelling.longestHost,
                let spelled = OneSpelling.host(PushEndpoint.string(text), usualPort: nil)
            else { return nil }
            self.init(spelled: Array(spelled.utf8).span)
        }

        private init?(spelled text: Span<UInt8>) {
            var end = text.count
            var colon: Int?
            if text.count > 0, text[0] == UInt8(ascii: "[") {
                guard let close = Server.index(of: "]", in: text) else { return nil }
                if close + 1 < text.count {
                    guard text[close + 1] == UInt8(ascii: ":") else { return nil }
                    colon = close + 1
                }
            } else {
                colon = Server.index(of: ":", in: text)
            }
            var port: UInt16?
            if let colon {
                port = Server.port(text.extracting(droppingFirst: colon + 1))
                guard port != nil else { return nil }
                end = colon
            }
            let name = text.extracting(first: end)
            guard let kind = Server.kind(of: name) else { return nil }
            let isLiteral = name[0] == UInt8(ascii: "[")
            host = PushEndpoint.string(
                isLiteral ? name.extracting(droppingFirst: 1).extracting(droppingLast: 1) : name)
            let usualPort: UInt16 = host.hasSuffix(".onion") ? 80 : 443
            self.port = port ?? usualPort
            isUnusual = kind == .unusual || self.port != usualPort
        }

        init?(_ text: String) {
            guard let server = text.withBytes({ Server($0) }) else { return nil }
            self = server
        }

        private enum Kind { case usual, unusual }

        private static func index(of character: Unicode.Scalar, in text: Span<UInt8>) -> Int? {
            for index in text.indices where text[index] == UInt8(ascii: character) { return index }
            return nil
        }

        /// Reads a port: 1 to 65,535, without zeros in front.
        private static func port(_ digits: Span<UInt8>) -> UInt16? {
            guard (1...5).contains(digits.count), digits.consists(of: ASCII.digit),
                digits[0] != UInt8(ascii: "0")
            else { return nil }
            var value = 0
            for index in digits.indices { value = value * 10 + Int(digits[index] - UInt8(ascii: "0")) }
            return UInt16(exactly: value)
        }

        private static func kind(of name: Span<UInt8>) -> Kind? {
            guard (1...253).contains(name.count) else { return nil }
            if name[0] == UInt8(ascii: "[") {
                let inside = name.extracting(droppingFirst: 1)
                // Without a colon it would be a name in brackets, which is written without them.
                guard inside.count >= 3, inside[inside.count - 1] == UInt8(ascii: "]"),
                    Server.index(of: ":", in: inside) != nil,
                    inside.extracting(droppingLast: 1).consists(of: {
                        ASCII.digit($0) | ASCII.hexDigit($0) & (1 ^ ASCII.upperCase($0))
                            | ASCII.equal($0, ":") | ASCII.equal($0, ".")
                    })
                else { return nil }
                return .unusual
            }
            guard
                name.consists(of: {
                    ASCII.letter($0) & (1 ^ ASCII.upperCase($0)) | ASCII.digit($0) | ASCII.equal($0, "-")
                        | ASCII.equal($0, ".")
                })
            else { return nil }
            var start = 0
            var labels = 0
            for index in 0...name.count where index == name.count || name[index] == UInt8(ascii: ".") {
                guard (1...63).contains(index - start), name[start] != UInt8(ascii: "-"),
                    name[index - 1] != UInt8(ascii: "-")
                else { return nil }
                labels += 1
                if index < name.count { start = index + 1 }
            }
            return labels == 1 || isOfOneNetwork(name.extracting(droppingFirst: start)) ? .unusual : .usual
        }

        /// Whether names that end with this label are none of the public tree: numbers are addresses in some writing
        /// (URL standard, "ends in a number").
        private static func isOfOneNetwork(_ label: Span<UInt8>) -> Bool {
            if label.consists(of: ASCII.digit) || label.starts(with: "0x") { return true }
            for name in localEndings where label.hasSameBytes(as: name) { return true }
            return false
        }

        private static let localEndings = [
            "localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "arpa", "onion",
            "test", "example", "invalid", "localdomain", "alt",
        ]
    }
}

extension PushEndpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { authority }
    var debugDescription: String { authority }
    var customMirror: Mirror { Mirror(self, children: []) }
}
