/// `METHOD target HTTP/1.x`, checked.
struct HTTPRequestLine {
    let method: String
    let path: String
    let query: String?
    /// HTTP/1.0: needs no Host, closes unless asked to stay.
    let isOld: Bool

    init(_ line: ArraySlice<UInt8>) throws(HTTPFault) {
        guard let first = line.firstIndex(of: 0x20), first > line.startIndex,
            line[..<first].allSatisfy(\.isTokenByte),
            let second = line[(first + 1)...].firstIndex(of: 0x20),
            case let version = line[(second + 1)...], !version.contains(0x20)
        else { throw .badStartLine }
        switch String(decoding: version, as: UTF8.self) {
        case "HTTP/1.1": isOld = false
        case "HTTP/1.0": isOld = true
        case let other where other.hasPrefix("HTTP/"): throw .unsupportedVersion
        case _: throw .badStartLine
        }
        let target = try HTTPRequestLine.originForm(line[(first + 1)..<second])
        let end = target.firstIndex(of: UInt8(ascii: "?"))
        method = String(decoding: line[..<first], as: UTF8.self)
        path = String(decoding: target[..<(end ?? target.endIndex)], as: UTF8.self)
        query = end.map { String(decoding: target[($0 + 1)...], as: UTF8.self) }
    }

    /// Takes scheme and host off an absolute URI, which a server must accept (RFC 9112, section 3.2.2).
    private static func originForm(_ target: ArraySlice<UInt8>) throws(HTTPFault) -> ArraySlice<UInt8> {
        guard target.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw .badTarget
        }
        if target.first == UInt8(ascii: "/") || target.elementsEqual("*".utf8) { return target }
        let scheme = Array("http://".utf8)
        guard target.prefix(scheme.count).map(\.lowercased) == scheme else { throw .badTarget }
        let behind = target.dropFirst(scheme.count)
        let host = behind.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !host.isEmpty, isHost(host) else { throw .badHost }
        let rest = behind[host.endIndex...]
        return rest.first == UInt8(ascii: "/") ? rest : ArraySlice("/".utf8) + rest
    }

    /// `host[:port]`: a name, an address, or an IPv6 address in brackets; may be empty (RFC 9112, section 3.2).
    static func isHost(_ bytes: ArraySlice<UInt8>) -> Bool {
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = bytes[..<close].dropFirst()
            return !address.isEmpty
                && address.allSatisfy {
                    $0.hexValue != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                }
                && isPort(bytes[(close + 1)...])
        }
        let name = bytes.prefix { $0 != UInt8(ascii: ":") }
        return name.allSatisfy { $0.isTokenByte && $0 != UInt8(ascii: "%") }
            && isPort(bytes[name.endIndex...])
    }

    /// Nothing, or a colon and a port number, which may be left out.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        return colon == UInt8(ascii: ":") && digits.count <= 5 && digits.allSatisfy(\.isDigit)
    }
}
