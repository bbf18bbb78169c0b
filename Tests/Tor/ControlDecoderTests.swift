import Testing

@testable import Tor

@Suite struct ControlDecoderTests {
    /// As tor 0.4.9.11 sends it: answers of one line, several, and with data; events of all three forms in between.
    static let transcript = [
        "250-PROTOCOLINFO 1",
        "250-AUTH METHODS=COOKIE,SAFECOOKIE,HASHEDPASSWORD COOKIEFILE=\"/run/tor/control.authcookie\"",
        "250-VERSION Tor=\"0.4.9.11\"",
        "250 OK",
        "650 HS_DESC UPLOADED abc UNKNOWN $0011~relay",
        "250 OK",
        "650-CONF_CHANGED",
        "650-DisableNetwork=0",
        "650 OK",
        "250+onions/current=",
        "first",
        "..second",
        "",
        ".",
        "250 OK",
        "650+HS_DESC_CONTENT abc UNKNOWN",
        "",
        ".",
        "650 OK",
        "552 Unrecognized key \"nonsense\"",
    ].map { $0 + "\r\n" }.joined()

    static let protocolInfo = ControlReply([
        .init(code: 250, text: "PROTOCOLINFO 1"),
        .init(
            code: 250,
            text: "AUTH METHODS=COOKIE,SAFECOOKIE,HASHEDPASSWORD COOKIEFILE=\"/run/tor/control.authcookie\""),
        .init(code: 250, text: "VERSION Tor=\"0.4.9.11\""),
        .init(code: 250, text: "OK"),
    ])

    static let messages = [
        protocolInfo,
        reply(650, "HS_DESC UPLOADED abc UNKNOWN $0011~relay"),
        reply(250, "OK"),
        ControlReply([
            .init(code: 650, text: "CONF_CHANGED"), .init(code: 650, text: "DisableNetwork=0"),
            .init(code: 650, text: "OK"),
        ]),
        ControlReply([
            .init(code: 250, text: "onions/current=", data: "first\n.second\n"), .init(code: 250, text: "OK"),
        ]),
        ControlReply([
            .init(code: 650, text: "HS_DESC_CONTENT abc UNKNOWN", data: ""), .init(code: 650, text: "OK"),
        ]),
        reply(552, "Unrecognized key \"nonsense\""),
    ]

    @Test func messagesDoNotDependOnReads() throws {
        let bytes = Array(Self.transcript.utf8)
        var random = SeededRandom(seed: 1)
        for round in 0..<200 {
            var decoder = ControlDecoder()
            var found: [ControlReply] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                // Whole, byte by byte, and cut at random.
                let length =
                    round == 0 ? bytes.count : round == 1 ? 1 : Int.random(in: 1...80, using: &random)
                found += try decoder.messages(from: Array(rest.prefix(length)))
                rest = rest.dropFirst(length)
            }
            #expect(found == Self.messages)
        }
    }

    /// Another process has read up to anywhere, also between a carriage return and its line feed.
    @Test func whatOthersHaveLeftIsPassedOver() throws {
        let answer = "552 Unrecognized key \"ours\"\r\n650 OK\r\n"
        let bytes = Array(Self.transcript.utf8)
        for start in bytes.indices {
            var decoder = ControlDecoder(endOfFirstLine: "\"ours\"")
            var found: [ControlReply] = []
            for byte in bytes[start...] + Array(answer.utf8) {
                found += try decoder.messages(from: [byte])
            }
            #expect(found == [reply(552, "Unrecognized key \"ours\""), reply(650, "OK")], "from \(start)")
        }
    }

    @Test func aLineAtTheLimitPassesAndOneMoreByteIsRefusedBeforeItsEnd() throws {
        let text = String(repeating: "x", count: 96)
        var decoder = ControlDecoder(lineLimit: 100)
        #expect(try decoder.messages(from: Array("250 \(text)\r\n".utf8)) == [reply(250, text)])
        for longer in ["250 \(text)xx", "250 \(text)xx\n", "250 \(text)x\r\n"] {
            var decoder = ControlDecoder(lineLimit: 100)
            #expect(throws: ControlSyntaxError.lineTooLong(limit: 100)) {
                try decoder.messages(from: Array(longer.utf8))
            }
        }
    }

    @Test(arguments: ["250-more\r\n", "250+data=\r\nline\r\n", "250+data=\r\n\r\n\r\n"])
    func aReplyWithoutEndIsRefusedAtItsLimit(repeated: String) {
        var decoder = ControlDecoder(replyLimit: 10_000)
        #expect(throws: ControlSyntaxError.replyTooLong(limit: 10_000)) {
            for _ in 0..<1_000 { _ = try decoder.messages(from: Array(repeated.utf8)) }
        }
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH_9.2\r\n", ControlSyntaxError.notAReplyLine),
        ("HTTP/1.0 501 Tor ControlPort is not an HTTP proxy\r\n", .notAReplyLine),
        ("25\r\n", .notAReplyLine), ("250\r\n", .notAReplyLine), ("250*OK\r\n", .notAReplyLine),
        ("050 OK\r\n", .notAReplyLine), ("\r\n", .notAReplyLine), ("\n", .bareLineFeed),
        ("250 OK\n", .bareLineFeed), ("250-a\r\n650 b\r\n", .eventInsideReply),
        ("650-a\r\n250 b\r\n", .eventInsideReply),
    ])
    func whatIsNoReplyIsRefusedForGood(text: String, expected: ControlSyntaxError) {
        var decoder = ControlDecoder()
        #expect(throws: expected) { try decoder.messages(from: Array(text.utf8)) }
        #expect(throws: expected) { try decoder.messages(from: Array("250 OK\r\n".utf8)) }
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededRandom(seed: 2)
        let pieces = [
            "250", "650", "-", "+", " ", "\r\n", "\r\n", "\n", ".", "\"", "=", "\\", "\\x", "é", "HS_DESC ",
            "STATUS_CLIENT ",
            "PROGRESS=", "AUTH METHODS=", "VERSION Tor=", "BOOTSTRAP",
        ]
        for _ in 0..<3_000 {
            var decoder = ControlDecoder(lineLimit: 64, replyLimit: 512)
            do {
                for _ in 0..<20 {
                    let text = (0..<12).map { _ in pieces.randomElement(using: &random)! }.joined()
                    for reply in try decoder.messages(from: Array(text.utf8)) {
                        _ = ControlRefusal(reply)
                        _ = try? ControlEvent(reply)
                        _ = try? ProtocolInfo(reply)
                    }
                }
            } catch {
                #expect(error is ControlSyntaxError)
            }
        }
    }
}

extension ControlDecoder {
    mutating func messages(from bytes: [UInt8]) throws -> [ControlReply] {
        append(bytes.span.bytes)
        var found: [ControlReply] = []
        while let reply = try next() { found.append(reply) }
        return found
    }
}

/// SplitMix64: the same run for the same seed.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

/// A reply of one line.
func reply(_ code: UInt16, _ text: String) -> ControlReply { ControlReply([.init(code: code, text: text)]) }
