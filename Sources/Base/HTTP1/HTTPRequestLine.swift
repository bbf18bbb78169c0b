import Encodings

/// `METHOD target HTTP/1.x`, checked.
struct HTTPRequestLine {
    let method: String
    let path: String
    let query: String?
    /// HTTP/1.0: needs no Host, closes unless asked to stay.
    let isOld: Bool
    /// The host, with its port, of a target that names one: it counts, and the Host field does not (RFC 9112, section
    /// 3.2.2).
    let authority: ArraySlice<UInt8>?

    /// Reads a request line. `isSecure` says whether the line came over TLS, where a target may begin with
    /// `https://`.
    init(_ line: ArraySlice<UInt8>, isSecure: Bool) throws(HTTPFault) {
        let bytes = line.span
        let first = bytes.endOfRun(of: \.isTokenByte)
        guard first > 0, first < bytes.count, bytes[first] == 0x20,
            let second = bytes.firstIndex(of: 0x20, from: first + 1),
            bytes.firstIndex(of: 0x20, from: second + 1) == nil
        else { throw .badStartLine }
        isOld = try HTTPVersion.isOld(bytes.extracting(droppingFirst: second + 1))
        let (target, authority) = try HTTPRequestLine.originForm(
            line.prefix(second).dropFirst(first + 1), isSecure: isSecure)
        self.authority = authority
        let end = target.span.firstIndex(of: UInt8(ascii: "?"))
        method = String(decoding: line.prefix(first), as: UTF8.self)
        path = String(decoding: target.prefix(end ?? target.count), as: UTF8.self)
        query = end.map { String(decoding: target.dropFirst($0 + 1), as: UTF8.self) }
    }

    /// Takes scheme and host off an absolute URI, which a server must accept (RFC 9112, section 3.2.2).
    private static func originForm(
        _ target: ArraySlice<UInt8>, isSecure: Bool
    ) throws(HTTPFault) -> (ArraySlice<UInt8>, authority: ArraySlice<UInt8>?) {
        let bytes = target.span
        guard bytes.firstIndex(from: 0, whereZero: \.differenceFromForbiddenInTarget) == nil else {
            throw .badTarget
        }
        if target.first == UInt8(ascii: "/") || target.elementsEqual("*".utf8) { return (target, nil) }
        let length: Int
        if bytes.extracting(first: 7).isWord("http://") {
            length = 7
        } else if isSecure, bytes.extracting(first: 8).isWord("https://") {
            length = 8
        } else {
            throw .badTarget
        }
        let behind = target.dropFirst(length)
        let host = behind.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !host.isEmpty, host.first != UInt8(ascii: ":"), isHost(host.span) else { throw .badHost }
        let rest = behind[host.endIndex...]
        return (rest.first == UInt8(ascii: "/") ? rest : ArraySlice("/".utf8) + rest, host)
    }

    /// Whether the bytes are `host[:port]`: a name, an address, or an address of IPv6 or a later version in
    /// brackets; may be empty (RFC 9112, section 3.2; RFC 3986, section 3.2.2).
    static func isHost(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes[0] == UInt8(ascii: "[") else {
            let end = bytes.endOfRun { $0.isNameByte || $0 == UInt8(ascii: "%") }
            for index in 0..<end where bytes[index] == UInt8(ascii: "%") {
                // No control bytes in disguise.
                guard index + 2 < end, let high = Hex.value(bytes[index + 1]),
                    let low = Hex.value(bytes[index + 2]), high >= 2, high << 4 | low != 0x7F
                else { return false }
            }
            return isPort(bytes, from: end)
        }
        let isOfLaterVersion = bytes.count > 1 && ASCII.lowercased(bytes[1]) == UInt8(ascii: "v")
        let end =
            isOfLaterVersion
            ? bytes.endOfRun(from: 1) { $0.isNameByte || $0 == UInt8(ascii: ":") }
            : bytes.endOfRun(from: 1) {
                ASCII.hexDigit($0) == 1 || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
        if isOfLaterVersion {
            // `v`, its number, a dot, and at least one byte.
            let dot = bytes.endOfRun(from: 2) { ASCII.hexDigit($0) == 1 }
            guard dot > 2, dot + 1 < end, bytes[dot] == UInt8(ascii: ".") else { return false }
        }
        return end > 1 && end < bytes.count && bytes[end] == UInt8(ascii: "]") && isPort(bytes, from: end + 1)
    }

    /// Whether there is nothing from `start` on, or a colon and a port number, which may be left out.
    private static func isPort(_ bytes: Span<UInt8>, from start: Int) -> Bool {
        guard start < bytes.count else { return true }
        guard bytes[start] == UInt8(ascii: ":") else { return false }
        // Zeros in front say nothing.
        let first = bytes.endOfRun(from: start + 1) { $0 == UInt8(ascii: "0") }
        return bytes.count - first <= 5 && bytes.endOfRun(from: first, of: \.isDigit) == bytes.count
    }
}

/// `HTTP/1.x`. What a later 1.x has more may be ignored, and is (RFC 9110, section 2.5).
enum HTTPVersion {
    /// Whether the version is 1.0.
    static func isOld(_ bytes: Span<UInt8>) throws(HTTPFault) -> Bool {
        guard bytes.starts(with: "HTTP/") else { throw .badStartLine }
        guard bytes.count == 8, bytes.starts(with: "HTTP/1."), bytes[7].isDigit else {
            throw .unsupportedVersion
        }
        return bytes[7] == UInt8(ascii: "0")
    }
}

extension UInt8 {
    /// Whether the byte is one of `unreserved` or `sub-delims` (RFC 3986), of which the name of a host is made, beside
    /// `%`.
    fileprivate var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="):
            true
        case _: false
        }
    }

    /// 0 for what no target has: anything but visible ASCII, and the mark of a fragment.
    fileprivate var differenceFromForbiddenInTarget: UInt8 {
        Swift.min(differenceFromControl, self ^ 0x20, self ^ UInt8(ascii: "#"), ~self & 0x80)
    }
}
