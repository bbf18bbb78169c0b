import Testing

@testable import Wire

/// What tor says of a circuit at the head of a stream.
@Suite struct ProxyLineTests {
    private static let line = "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 80\r\n"

    /// The line that was found and the bytes behind it.
    private func read(_ pieces: [[UInt8]]) throws -> (ProxyLine?, rest: [UInt8]) {
        var decoder = ProxyLineDecoder()
        var rest: [UInt8] = []
        var line: ProxyLine?
        for piece in pieces {
            var position = 0
            if line == nil { line = try decoder.decode(piece.span, from: &position) }
            rest += piece[position...]
        }
        return (line, rest)
    }

    private func read(_ text: String) throws -> ProxyLine? { try read([Array(text.utf8)]).0 }

    @Test(
        arguments: [
            ("::0:14a ::1 330 80", 330, 80),
            ("::0:0 ::1 0 1", 0, 1),
            ("::1:0 ::1 0 9999", 65536, 9999),
            ("::ffff:ffff ::1 65535 65535", UInt32.max, 65535),
            ("::ab:c ::1 12 8021", 0xAB_000C, 8021),
        ] as [(String, UInt32, UInt16)])
    func aLineOfTorsIsTaken(end: String, circuit: UInt32, port: UInt16) throws {
        #expect(
            try read("PROXY TCP6 fc00:dead:beef:4dad\(end)\r\n") == ProxyLine(circuit: circuit, port: port))
    }

    /// Wherever the stream is cut, the line is the same and what follows is the peer's.
    @Test(arguments: 0...line.utf8.count)
    func theLineDoesNotDependOnReads(cut: Int) throws {
        let stream = Array(Self.line.utf8) + [5, 1, 2, 3, 4, 5]
        let (line, rest) = try read([Array(stream[..<cut]), Array(stream[cut...])])
        #expect(line == ProxyLine(circuit: 330, port: 80))
        #expect(rest == [5, 1, 2, 3, 4, 5])
    }

    @Test(arguments: [
        // Not from tor: HAProxy's other forms, a peer's frame, HTTP, a TLS hello.
        "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n", "PROXY UNKNOWN\r\n",
        "PROXY TCP6 ::1 ::1 330 80\r\n", "proxy TCP6 fc00:dead:beef:4dad::0:14a ::1 330 80\r\n",
        "\u{8}\u{a}", "GET / HTTP/1.1\r\n", "\u{16}\u{3}\u{1}", "\r\n", " PROXY",
        // Almost.
        "PROXY TCP6 fc00:dead:beef:4dad::0:14A ::1 330 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::00:14a ::1 330 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 331 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::2 330 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 0\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 65536\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::10000:14a ::1 330 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 0330 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 80 \r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a  ::1 330 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 +80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 \r\n",
        "PROXY TCP6 fc00:dead:beef:4dad:::14a ::1 330 80\r\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 80\n",
        "PROXY TCP6 fc00:dead:beef:4dad::0:14a ::1 330 80\r\r\n",
    ])
    func everythingElseIsRefused(text: String) {
        #expect(throws: ProxyLineError.self) { try read(text) }
    }

    @Test func aLineThatIsNotWholeIsWaitedForUntilItIsTooLong() throws {
        let line = Array(Self.line.utf8)
        for length in 0..<line.count {
            #expect(try read([Array(line[..<length])]).0 == nil)
        }
        let longest = ProxyLineDecoder.maximumLength
        let padded = "PROXY TCP6 fc00:dead:beef:4dad::" + String(repeating: "0", count: longest)
        #expect(try read(String(padded.prefix(longest))) == nil)
        #expect(throws: ProxyLineError.self) { try read(String(padded.prefix(longest + 1))) }
    }

    /// A stranger is told by the first byte, not kept until a line is full.
    @Test func theFirstWrongByteIsRefused() {
        #expect(throws: ProxyLineError.self) { try read("PROXY TCP4") }
        #expect(throws: ProxyLineError.self) { try read("x") }
    }
}
