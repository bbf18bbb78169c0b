import Testing

@testable import Tor

@Suite struct CircuitLineTests {
    static let id = String(repeating: "a", count: 56)

    static let path = (0..<4).map { "$" + String(repeating: "\($0)A", count: 20) + "~relay\($0)" }
        .joined(separator: ",")
    static let ours = "HS_STATE=HSSR_CONNECTING REND_QUERY=\(id) TIME_CREATED=2026-11-21T22:00:00.0"

    /// Lines as tor 0.4.9.11 writes them.
    static let seen = [
        "14 LAUNCHED BUILD_FLAGS=IS_INTERNAL,NEED_CAPACITY PURPOSE=HS_SERVICE_REND \(ours)",
        "14 EXTENDED \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND \(ours)",
        "14 GUARD_WAIT \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND \(ours)",
        "14 BUILT \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REND_QUERY=\(id)",
        "3 BUILT \(path) PURPOSE=HS_SERVICE_INTRO HS_STATE=HSSI_ESTABLISHED REND_QUERY=\(id)",
        "2 BUILT \(path) BUILD_FLAGS=NEED_CAPACITY PURPOSE=GENERAL TIME_CREATED=2026-11-21T22:00:00.0",
        "2 LAUNCHED BUILD_FLAGS=NEED_CAPACITY PURPOSE=GENERAL", "2 BUILT", "0 BUILT",
    ]

    static let odd = [
        "", " ", "9", "9 ", " BUILT", "9  BUILT", "9 built", "9 BUILT  ",
        "9 BUILT PURPOSE=HS_SERVICE_RENDEZVOUS",
        "9 BUILT XPURPOSE=HS_SERVICE_REND", "9 BUILT   PURPOSE=HS_SERVICE_REND",
        "9 BUILT PURPOSE=HS_SERVICE_REND PURPOSE=GENERAL REND_QUERY=\(id)",
        "9 BUILT PURPOSE=HS_SERVICE_REND REND_QUERY=", "9 BUILT PURPOSE= HS_STATE= REND_QUERY=\(id)",
        "9 BUILT PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REND_QUERY=\(id) REND_QUERY=b",
        "9 BUILT PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED HS_STATE=HSSR_JOINE REND_QUERY=\(id)",
        "9 BUILT HS_STATE=HSSR_JOINED REND_QUERY=\(id) PURPOSE=HS_SERVICE_REND",
    ]

    private func expectSame(_ line: String) {
        let read = CircuitLine(line)
        // A text took any word for a number.
        let text = CircuitText(line).flatMap { one in UInt32(one.id).map { (id: $0, one) } }
        #expect(read?.id == (text?.1.use == nil ? nil : text?.id), "\(line)")
        #expect(read?.use == text?.1.use, "\(line)")
        #expect(read == nil || read?.serviceID == text?.1.serviceID, "\(line)")
    }

    @Test func eachStepOfAClientsCircuitIsAValue() {
        let uses = Self.seen.map { CircuitLine($0)?.use }
        #expect(uses == [.coming, .coming, .coming, .client, .introductionPoint, nil, nil, nil, nil])
        #expect(Self.seen.prefix(4).allSatisfy { CircuitLine($0)?.id == 14 })
        #expect(Self.seen.prefix(5).allSatisfy { CircuitLine($0)?.serviceID == Self.id })
    }

    @Test func bytesSayWhatTheirTextSays() {
        for line in Self.seen + Self.odd { expectSame(line) }
    }

    @Test func aLineThatWasCutAnywhereSaysWhatItsTextSays() {
        for line in Self.seen + Self.odd {
            for length in 0...line.utf8.count {
                expectSame(String(decoding: line.utf8.prefix(length), as: UTF8.self))
            }
        }
    }

    @Test func wordsInAnyOrderSayWhatTheirTextSays() {
        var random = SeededRandom(seed: 3)
        let pieces = [
            "BUILT", "LAUNCHED", "PURPOSE=HS_SERVICE_REND", "PURPOSE=HS_SERVICE_INTRO", "PURPOSE=GENERAL",
            "HS_STATE=HSSR_JOINED", "HS_STATE=HSSI_ESTABLISHED", "REND_QUERY=\(Self.id)", "REND_QUERY=b",
            "OLD_PURPOSE=HS_SERVICE_REND", "", "P", "H", "R", Self.path,
        ]
        for _ in 0..<5_000 {
            let words = (0..<Int.random(in: 1...7, using: &random)).map { _ in
                pieces.randomElement(using: &random)!
            }
            expectSame("7 " + words.joined(separator: " "))
        }
    }

    /// A program that shares the tor dials with a name of its choice, which tor tells in quotes. It must not pass for a client:
    /// its circuit could be closed.
    @Test(arguments: [
        #"x PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REND_QUERY=ID x"#,
        #"\" PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REND_QUERY=ID \""#,
        #"\\\" PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REND_QUERY=ID "#, #"\\"#, "",
    ])
    func whatIsQuotedIsNoWordOfTheLine(name: String) {
        let name = name.split(separator: "ID", omittingEmptySubsequences: false).joined(separator: Self.id)
        let line =
            "9 BUILT \(Self.path) PURPOSE=CONFLUX_LINKED SOCKS_USERNAME=\"\(name)\" SOCKS_PASSWORD=\"\(name)\""
        for end in ["", " ISO_FIELDS=NYM"] { #expect(CircuitLine(line + end) == nil, "\(line)") }
        let ours = "9 BUILT SOCKS_USERNAME=\"\(name)\" PURPOSE=HS_SERVICE_REND REND_QUERY=\(Self.id)"
        #expect(CircuitLine(ours)?.use == .coming, "\(ours)")
    }

    /// CLOSECIRCUIT takes a number, so no other writing of one may name a circuit.
    @Test(arguments: ["007", "+7", "-7", "7a", "a", "", "4294967296", "18446744073709551623", "７", "00"])
    func aNumberInAnotherFormIsNone(number: String) {
        #expect(CircuitLine("\(number) BUILT PURPOSE=HS_SERVICE_REND REND_QUERY=\(Self.id)") == nil)
    }

    /// A busy tor has more circuits than a reply has room for.
    @Test(arguments: [1, 7, 500, 1 << 20])
    func theDecoderReadsCircuitsOneByOne(length: Int) throws {
        let line = Self.seen[3]
        let lines =
            "250+circuit-status=\r\n" + String(repeating: line + "\r\n", count: 100) + ".\r\n250 OK\r\n"
        let bytes = Array((lines + "250 OK\r\n").utf8)
        var decoder = ControlDecoder(replyLimit: 1_000)
        decoder.readsCircuits = true
        var found: [ControlReply] = []
        for start in stride(from: 0, to: bytes.count, by: length) {
            found += try decoder.messages(from: Array(bytes[start..<min(start + length, bytes.count)]))
        }
        #expect(found.map(\.circuits.circuits) == [100, 0])
        #expect(found[0].circuits.clients(of: Self.id) == 100)
        // Where nobody has asked for circuits, it is a reply like any other.
        var other = ControlDecoder(replyLimit: 1_000)
        #expect(throws: ControlSyntaxError.replyTooLong(limit: 1_000)) { try other.messages(from: bytes) }
    }

    @Test func oneCircuitAloneAndNoneAreToldInOneLine() throws {
        for (lines, count) in [("250-circuit-status=\(Self.seen[3])\r\n", 1), ("250-circuit-status=\r\n", 0)]
        {
            var decoder = ControlDecoder()
            decoder.readsCircuits = true
            let found = try decoder.messages(from: Array((lines + "250 OK\r\n").utf8))
            #expect(found.map(\.circuits.circuits) == [count])
            #expect(found[0].circuits.clients(of: Self.id) == count)
        }
    }

    @Test func circuitsWithoutEndAreRefused() throws {
        var decoder = ControlDecoder()
        decoder.readsCircuits = true
        let line = Array("1 BUILT\r\n".utf8)
        _ = try decoder.messages(from: Array("250+circuit-status=\r\n".utf8))
        for _ in 0..<ControlDecoder.mostCircuits { _ = try decoder.messages(from: line) }
        #expect(throws: ControlSyntaxError.self) { try decoder.messages(from: line) }
    }
}

extension CircuitLine {
    init?(_ line: String) {
        let bytes = Array(line.utf8)
        self.init(bytes.span)
    }
}

/// A circuit's line, read as a text.
private struct CircuitText {
    var id: String
    var purpose = ""
    var state = ""
    var serviceID = ""

    init?(_ text: String) {
        let head = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        id = String(head[0])
        guard head.count == 3 else { return }
        for word in head[2].split(separator: " ") {
            if word.hasPrefix("PURPOSE=") {
                purpose = String(word.dropFirst(8))
            } else if word.hasPrefix("HS_STATE=") {
                state = String(word.dropFirst(9))
            } else if word.hasPrefix("REND_QUERY=") {
                serviceID = String(word.dropFirst(11))
            }
        }
    }

    var use: CircuitBook.Use? {
        switch (purpose, state) {
        case ("HS_SERVICE_INTRO", "HSSI_ESTABLISHED"): .introductionPoint
        case ("HS_SERVICE_REND", "HSSR_JOINED"): .client
        case ("HS_SERVICE_REND", _): .coming
        default: nil
        }
    }
}
