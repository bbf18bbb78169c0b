/// The line that tor puts before a stream's first byte when a service exports its circuits' ids
/// (`HiddenServiceExportCircuitID haproxy`).
///
///     PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 80\r\n
///
/// Line of the PROXY protocol, version 1 (HAProxy, `proxy-protocol.txt`, 2.1). The last two groups of the source address
/// are the circuit's id, high and low 16 bits, in lower-case hex without leading zeros; the source port repeats the low
/// ones; the destination port is the port of the onion address that was asked for. Seen with tor 0.4.9.11.
package struct ProxyLine: Equatable, Sendable {
    /// Tor's number of the rendezvous circuit, as in `GETINFO circuit-status`: the same for all streams of one client
    /// that share a circuit.
    package var circuit: UInt32
    /// 1 to 65,535.
    package var port: UInt16

    package init(circuit: UInt32, port: UInt16) {
        self.circuit = circuit
        self.port = port
    }

    /// Reads a line without its CR LF; `nil` unless it has exactly the form above.
    init?(_ line: [UInt8]) {
        guard line.starts(with: ProxyLine.opening) else { return nil }
        var rest = line[ProxyLine.opening.count...]
        guard let high = ProxyLine.number(&rest, base: 16, endedBy: ":"),
            let low = ProxyLine.number(&rest, base: 16, endedBy: " "),
            rest.starts(with: ProxyLine.destination)
        else { return nil }
        rest.removeFirst(ProxyLine.destination.count)
        guard let source = ProxyLine.number(&rest, base: 10, endedBy: " "), source == low,
            let port = ProxyLine.number(&rest, base: 10, endedBy: nil), port > 0
        else { return nil }
        self.init(circuit: UInt32(high) << 16 | UInt32(low), port: port)
    }

    static let opening = Array("PROXY TCP6 fc00:dead:beef:4dad::".utf8)
    private static let destination = Array("::1 ".utf8)

    /// Reads a number of 16 bits without leading zeros, and the character
    /// behind it; `end` is `nil` for the end of the line.
    private static func number(
        _ rest: inout ArraySlice<UInt8>, base: UInt32, endedBy end: Unicode.Scalar?
    ) -> UInt16? {
        var value: UInt32 = 0
        var digits = 0
        while let digit = rest.first.flatMap({ digit($0, base: base) }) {
            guard digits == 0 || value > 0 else { return nil }
            value = value * base + digit
            guard value <= 0xFFFF else { return nil }
            digits += 1
            rest.removeFirst()
        }
        guard digits > 0, rest.first == end.map({ UInt8(ascii: $0) }) else { return nil }
        rest = rest.dropFirst()
        return UInt16(value)
    }

    private static func digit(_ byte: UInt8, base: UInt32) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f") where base == 16: UInt32(byte - UInt8(ascii: "a") + 10)
        default: nil
        }
    }
}

/// The stream does not begin as tor begins one: it came from elsewhere, or tor is not configured to. Close it.
package struct ProxyLineError: Error, Equatable {
    package init() {}
}

/// Takes a ``ProxyLine`` from the head of a stream, however it is cut into reads.
///
/// Holds at most ``maximumLength`` bytes, and refuses at the first byte that can't be tor's.
package struct ProxyLineDecoder {
    /// Bytes with CR LF; the longest that tor can write.
    package static let maximumLength = ProxyLine.opening.count + "ffff:ffff ::1 65535 65535\r\n".utf8.count

    private var unread: [UInt8] = []

    package init() {}

    /// Whether nothing of the line has come.
    package var isEmpty: Bool { unread.isEmpty }

    /// Reads a line, with `position` moved behind it; `nil` when `bytes` are used up before its end.
    ///
    /// - Throws: ``ProxyLineError``; the decoder must not be used again.
    package mutating func decode(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(ProxyLineError) -> ProxyLine? {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            unread.append(byte)
            let isLate = unread.count > ProxyLine.opening.count
            guard isLate || byte == ProxyLine.opening[unread.count - 1],
                unread.count <= ProxyLineDecoder.maximumLength
            else { throw ProxyLineError() }
            guard isLate, byte == UInt8(ascii: "\n") else { continue }
            guard unread[unread.count - 2] == UInt8(ascii: "\r"),
                let line = ProxyLine(unread.dropLast(2))
            else { throw ProxyLineError() }
            return line
        }
        return nil
    }
}
