/// The one form to which a text of the web is brought before it is compared. Senders, browsers and people write one thing in
/// several ways; each is read here, and nowhere else.
package enum OneSpelling {
    /// Bytes of the longest host, with its port.
    package static let longestHost = 262

    /// Returns a host: letters in lower case, no dot at the end of the name, no port that the scheme has anyway, no zeros in
    /// front of another one, and no letter, digit, `-`, `.`, `_` or `~` behind a percent sign.
    ///
    /// - Parameters:
    ///   - host: `HOST`, `HOST:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
    ///   - usualPort: The scheme's; `nil`: the port stays whatever it is.
    /// - Returns: `nil`: it is longer than any, or its port is none.
    package static func host(_ host: String, usualPort: UInt16?) -> String? {
        guard host.utf8.count <= longestHost else { return nil }
        var name = withoutEscapes(Array(host.utf8)).map(ASCII.lowercased)
        var port: UInt16?
        let begin = name.lastIndex(of: UInt8(ascii: "]")) ?? 0
        if let colon = name[begin...].firstIndex(of: UInt8(ascii: ":")) {
            let digits = name[(colon + 1)...]
            guard digits.allSatisfy({ ASCII.digit($0) == 1 }) else { return nil }
            if !digits.isEmpty {
                guard let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0 else {
                    return nil
                }
                port = number
            }
            name.removeSubrange(colon...)
        }
        if name.count > 1, name.last == UInt8(ascii: ".") { name.removeLast() }
        let text = String(decoding: name, as: UTF8.self)
        guard let port, port != usualPort else { return text }
        return "\(text):\(port)"
    }

    /// Returns a path: one slash for several behind each other, no letter, digit, `-`, `.`, `_` or `~` behind a percent sign,
    /// and the other escapes in capitals (RFC 3986, section 6.2.2).
    ///
    /// Segments of dots stay, and so lead nowhere: a proxy that lets one path through without a login may not have seen what
    /// they would make of it.
    package static func path(_ path: String) -> String {
        guard !path.withBytes(isPlain) else { return path }
        var joined: [UInt8] = []
        for byte in withoutEscapes(Array(path.utf8))
        where byte != UInt8(ascii: "/") || joined.last != byte { joined.append(byte) }
        return String(decoding: joined, as: UTF8.self)
    }

    /// Returns a path of somebody else's server, with its query: without escapes that it does not need. What several slashes
    /// mean is that server's to say, and so is the case of the other escapes, as it gave them out (Microsoft's are in lower
    /// case).
    package static func foreignPath(_ path: [UInt8]) -> [UInt8] { withoutEscapes(path, inCapitals: false) }

    /// Whether a content type is this one, whatever its parameters and the case of its letters (RFC 9110, section 8.3.1).
    package static func isType(_ contentType: String, _ type: String) -> Bool {
        guard !contentType.hasSameBytes(as: type) else { return true }
        let name = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }
        return Substring(name).word()?.split(separator: " ") == [Substring(type)]
    }

    /// Whether no percent sign is in a path, and no two slashes stand behind each other, as in nearly all.
    private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
        var before: UInt8 = 0
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") || byte == UInt8(ascii: "/") && before == byte { return false }
            before = byte
        }
        return true
    }

    private static func withoutEscapes(_ bytes: [UInt8], inCapitals: Bool = true) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Hex.value(bytes[index + 1]), let low = Hex.value(bytes[index + 2])
            else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            let byte = high << 4 | low
            if isUnreserved(byte) {
                plain.append(byte)
            } else {
                plain.append(UInt8(ascii: "%"))
                for digit in bytes[(index + 1)...(index + 2)] {
                    plain.append(inCapitals ? uppercased(digit) : digit)
                }
            }
            index += 3
        }
        return plain
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        ASCII.letter(byte) | ASCII.digit(byte) == 1 || "-._~".utf8.contains(byte)
    }

    private static func uppercased(_ digit: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit) ? digit - 0x20 : digit
    }
}
