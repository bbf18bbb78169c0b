import Encodings

/// `METHOD target HTTP/1.x`, checked.
struct HTTPRequestLine {
    let method: String
    let path: String
    let query: String?
    /// HTTP/1.0: needs no Host, closes unless asked to stay.
    let isOld: Bool

    init(_ line: ArraySlice<UInt8>) throws(HTTPFault) {
        let bytes = line.span
        let first = bytes.endOfRun(of: \.isTokenByte)
        guard first > 0, first < bytes.count, bytes[first] == 0x20,
            let second = bytes.firstIndex(of: 0x20, from: first + 1),
            bytes.firstIndex(of: 0x20, from: second + 1) == nil
        else { throw .badStartLine }
        let version = line.dropFirst(second + 1)
        if version.elementsEqual("HTTP/1.1".utf8) {
            isOld = false
        } else if version.elementsEqual("HTTP/1.0".utf8) {
            isOld = true
        } else {
            throw version.starts(with: "HTTP/".utf8) ? .unsupportedVersion : .badStartLine
        }
        let target = try HTTPRequestLine.originForm(line.prefix(second).dropFirst(first + 1))
        let end = target.span.firstIndex(of: UInt8(ascii: "?"))
        method = String(decoding: line.prefix(first), as: UTF8.self)
        path = String(decoding: target.prefix(end ?? target.count), as: UTF8.self)
        query = end.map { String(decoding: target.dropFirst($0 + 1), as: UTF8.self) }
    }

    /// Takes scheme and host off an absolute URI, which a server must accept (RFC 9112, section 3.2.2).
    private static func originForm(_ target: ArraySlice<UInt8>) throws(HTTPFault) -> ArraySlice<UInt8> {
        guard target.span.firstIndex(from: 0, whereZero: \.differenceFromForbiddenInTarget) == nil else {
            throw .badTarget
        }
        if target.first == UInt8(ascii: "/") || target.elementsEqual("*".utf8) { return target }
        let scheme = Array("http://".utf8)
        guard target.prefix(scheme.count).map(ASCII.lowercased) == scheme else { throw .badTarget }
        let behind = target.dropFirst(scheme.count)
        let host = behind.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !host.isEmpty, isHost(host.span) else { throw .badHost }
        let rest = behind[host.endIndex...]
        return rest.first == UInt8(ascii: "/") ? rest : ArraySlice("/".utf8) + rest
    }

    /// `host[:port]`: a name, an address, or an IPv6 address in brackets; may be empty (RFC 9112, section 3.2).
    static func isHost(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes[0] == UInt8(ascii: "[") else {
            return isPort(bytes, from: bytes.endOfRun { $0.isTokenByte && $0 != UInt8(ascii: "%") })
        }
        let end = bytes.endOfRun(from: 1) {
            ASCII.hexDigit($0) == 1 || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
        }
        return end > 1 && end < bytes.count && bytes[end] == UInt8(ascii: "]") && isPort(bytes, from: end + 1)
    }

    /// Nothing, or a colon and a port number, which may be left out.
    private static func isPort(_ bytes: Span<UInt8>, from start: Int) -> Bool {
        guard start < bytes.count else { return true }
        return bytes[start] == UInt8(ascii: ":") && bytes.count - start <= 6
            && bytes.endOfRun(from: start + 1, of: \.isDigit) == bytes.count
    }
}

extension UInt8 {
    /// 0 for what no target has: anything but visible ASCII, and the mark of a fragment.
    fileprivate var differenceFromForbiddenInTarget: UInt8 {
        Swift.min(differenceFromControl, self ^ 0x20, self ^ UInt8(ascii: "#"), ~self & 0x80)
    }
}
