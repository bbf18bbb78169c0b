import Testing

@testable import Tor

@Suite struct CircuitEventTests {
    static let id = String(repeating: "a", count: 56)

    static let path = (0..<4).map { "$" + String(repeating: "\($0)A", count: 20) + "~relay\($0)" }
        .joined(separator: ",")
    static let ours = "HS_STATE=HSSR_CONNECTING REND_QUERY=\(id) TIME_CREATED=2026-11-21T22:00:00.0"

    /// What a client's circuit causes, and other lines as tor 0.4.9.11 writes them.
    static let seen = [
        "CIRC 14 LAUNCHED BUILD_FLAGS=IS_INTERNAL,NEED_CAPACITY PURPOSE=HS_SERVICE_REND \(ours)",
        "CIRC 14 EXTENDED \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND \(ours)",
        "CIRC 14 GUARD_WAIT \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND \(ours)",
        "CIRC 14 BUILT \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND \(ours)",
        "CIRC_MINOR 14 PURPOSE_CHANGED \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED "
            + "REND_QUERY=\(id) TIME_CREATED=2026-11-21T22:00:00.0 OLD_PURPOSE=HS_SERVICE_REND "
            + "OLD_HS_STATE=HSSR_CONNECTING",
        "CIRC 14 CLOSED \(path) BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REASON=FINISHED",
        "CIRC_MINOR 4294967295 CANNIBALIZED \(path) PURPOSE=HS_SERVICE_REND \(ours) OLD_PURPOSE=HS_VANGUARDS",
        "CIRC_MINOR 3 PURPOSE_CHANGED \(path) PURPOSE=HS_SERVICE_INTRO HS_STATE=HSSI_ESTABLISHED REND_QUERY=\(id)",
        "CIRC 2 BUILT \(path) BUILD_FLAGS=NEED_CAPACITY PURPOSE=GENERAL TIME_CREATED=2026-11-21T22:00:00.0",
        "CIRC 2 LAUNCHED BUILD_FLAGS=NEED_CAPACITY PURPOSE=GENERAL", "CIRC 2 FAILED REASON=TIMEOUT",
        "CIRC 2 BUILT", "CIRC 0 BUILT",
    ]

    static let odd = [
        "", " ", "CIRC", "CIRC ", "CIRC 9", "CIRC 9 ", "CIRC  BUILT", "CIRC 9  BUILT", "CIRC 9 built",
        "CIRC 9 CLOSED ", "CIRC 9 BUILT  ", "CIRC 9 LAUNCHED PURPOSE=HS_SERVICE_RENDEZVOUS",
        "CIRC 9 LAUNCHED XPURPOSE=HS_SERVICE_REND", "CIRC 9 LAUNCHED   PURPOSE=HS_SERVICE_REND",
        "CIRC 9 LAUNCHED PURPOSE=HS_SERVICE_REND PURPOSE=GENERAL REND_QUERY=\(id)",
        "CIRC 9 BUILT PURPOSE=HS_SERVICE_REND REND_QUERY=",
        "CIRC 9 BUILT PURPOSE= HS_STATE= REND_QUERY=\(id)",
        "CIRC 9 BUILT PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED REND_QUERY=\(id) REND_QUERY=b",
        "CIRC 9 BUILT PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_JOINED HS_STATE=HSSR_JOINE REND_QUERY=\(id)",
        "CIRC 9 BUILT HS_STATE=HSSR_JOINED REND_QUERY=\(id) PURPOSE=HS_SERVICE_REND",
    ]

    private func expectSame(_ line: String) {
        let event = CircuitEvent(line)
        // A text took any word for a number.
        let former = FormerCircuitEvent(line[...]).flatMap { UInt32($0.id) == nil ? nil : $0 }
        #expect(event?.id == former.flatMap { UInt32($0.id) }, "\(line)")
        #expect(event?.isOpen == former?.isOpen, "\(line)")
        for id in [Self.id, "b", nil] {
            #expect(event?.use(for: id) == former?.use(for: id), "\(line)")
        }
    }

    @Test func eachStepOfAClientsCircuitIsAValue() {
        let coming = CircuitEvent(id: 14, isOpen: true, use: .coming, serviceID: Self.id)
        let joined = CircuitEvent(id: 14, isOpen: true, use: .client, serviceID: Self.id)
        let closed = CircuitEvent(id: 14, isOpen: false, use: .other, serviceID: "")
        #expect(
            Self.seen.prefix(6).map { CircuitEvent($0) } == [coming, nil, nil, coming, joined, closed])
    }

    @Test func bytesSayWhatTextSaid() {
        for line in Self.seen + Self.odd { expectSame(line) }
    }

    @Test func aLineThatWasCutAnywhereSaysWhatItsTextSaid() {
        for line in Self.seen + Self.odd {
            for length in 0...line.utf8.count {
                expectSame(String(decoding: line.utf8.prefix(length), as: UTF8.self))
            }
        }
    }

    @Test func wordsInAnyOrderSayWhatTheirTextSaid() {
        var random = SeededRandom(seed: 3)
        let pieces = [
            "BUILT", "LAUNCHED", "CLOSED", "PURPOSE_CHANGED", "PURPOSE=HS_SERVICE_REND",
            "PURPOSE=HS_SERVICE_INTRO", "PURPOSE=GENERAL", "HS_STATE=HSSR_JOINED",
            "HS_STATE=HSSI_ESTABLISHED", "REND_QUERY=\(Self.id)", "REND_QUERY=b",
            "OLD_PURPOSE=HS_SERVICE_REND", "", "P", "H", "R", Self.path,
        ]
        for _ in 0..<5_000 {
            let words = (0..<Int.random(in: 1...7, using: &random)).map { _ in
                pieces.randomElement(using: &random)!
            }
            expectSame("CIRC 7 " + words.joined(separator: " "))
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
            "CIRC 9 BUILT \(Self.path) PURPOSE=CONFLUX_LINKED SOCKS_USERNAME=\"\(name)\" SOCKS_PASSWORD=\"\(name)\""
        for end in ["", " ISO_FIELDS=NYM"] {
            #expect(CircuitEvent(line + end)?.use(for: Self.id) == .other, "\(line)")
        }
        let ours = "CIRC 9 BUILT SOCKS_USERNAME=\"\(name)\" PURPOSE=HS_SERVICE_REND REND_QUERY=\(Self.id)"
        #expect(CircuitEvent(ours)?.use(for: Self.id) == .coming, "\(ours)")
    }

    /// CLOSECIRCUIT takes a number, so no other writing of one may name a circuit.
    @Test(arguments: ["007", "+7", "-7", "7a", "a", "", "4294967296", "18446744073709551623", "７", "00"])
    func aNumberInAnotherFormIsNone(number: String) {
        #expect(CircuitEvent("CIRC \(number) BUILT PURPOSE=HS_SERVICE_REND REND_QUERY=\(Self.id)") == nil)
        #expect(CircuitEvent("CIRC \(number) CLOSED") == nil)
    }

    @Test func theDecoderHandsOnWhatCircuitsDoAndLeavesOutTheRest() throws {
        let lines = Self.seen + Self.odd.filter { $0.hasPrefix("CIRC ") }
        let bytes = lines.flatMap { Array("650 \($0)\r\n".utf8) } + Array("250 OK\r\n".utf8)
        let expected =
            lines.compactMap { CircuitEvent($0) }.map(ControlMessage.circuit) + [.reply(reply(250, "OK"))]
        for length in [1, 2, 3, 7, 64, 500, bytes.count] {
            var decoder = ControlDecoder()
            var found: [ControlMessage] = []
            for start in stride(from: 0, to: bytes.count, by: length) {
                decoder.append(bytes[start..<min(start + length, bytes.count)].span.bytes)
                while let message = try decoder.next() { found.append(message) }
            }
            #expect(found == expected)
        }
    }

    @Test func aCircuitsLineInsideAReplyIsRefusedAsBefore() {
        var decoder = ControlDecoder()
        #expect(throws: ControlSyntaxError.eventInsideReply) {
            try decoder.messages(from: Array("250-a=\r\n650 CIRC 1 CLOSED\r\n".utf8))
        }
        var bare = ControlDecoder()
        #expect(throws: ControlSyntaxError.bareLineFeed) {
            try bare.messages(from: Array("650 CIRC 1 CLOSED\n".utf8))
        }
    }

    @Test func aCircuitsLineInDataIsData() throws {
        var decoder = ControlDecoder()
        let text = "250+circuit-status=\r\n650 CIRC 1 CLOSED\r\n.\r\n250 OK\r\n"
        let found = try decoder.messages(from: Array(text.utf8))
        #expect(found.map { $0["circuit-status"] } == ["650 CIRC 1 CLOSED"])
    }

    /// Their sizes are not added up.
    @Test func circuitsWithoutEndAreNoReplyWithoutEnd() throws {
        var decoder = ControlDecoder(replyLimit: 1_000)
        for _ in 0..<1_000 {
            #expect(try decoder.messages(from: Array("650 CIRC 1 EXTENDED\r\n".utf8)).isEmpty)
        }
    }

    @Test func anEventOfSeveralLinesIsReadToo() throws {
        let circuit = ControlReply([
            .init(code: 650, text: Self.seen[3]), .init(code: 650, text: "OK"),
        ])
        #expect(
            try ControlEvent(circuit)
                == .circuit(CircuitEvent(id: 14, isOpen: true, use: .coming, serviceID: Self.id)))
        #expect(try ControlEvent(reply(650, Self.seen[1])) == .unused("CIRC"))
    }
}

extension CircuitEvent {
    init(id: UInt32, isOpen: Bool, use: CircuitBook.Use, serviceID: String) {
        self.init("CIRC 0 BUILT")!
        self.id = id
        self.isOpen = isOpen
        self.use = use
        self.serviceID = serviceID
    }

    init?(_ line: String) {
        let bytes = Array(line.utf8)
        self.init(bytes.span)
    }
}

/// How circuits' lines were read as texts.
private struct FormerCircuitEvent {
    var id: String
    var isOpen = true
    var purpose = ""
    var state = ""
    var serviceID = ""

    init?(_ text: Substring) {
        let head = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard head.count >= 3 else { return nil }
        id = String(head[1])
        switch head[2] {
        case "CLOSED", "FAILED":
            isOpen = false
            return
        case "BUILT", "PURPOSE_CHANGED", "CANNIBALIZED": break
        case "LAUNCHED" where head.last!.split(separator: " ").contains("PURPOSE=HS_SERVICE_REND"): break
        default: return nil
        }
        guard head.count == 4 else { return }
        for word in head[3].split(separator: " ") {
            if word.hasPrefix("PURPOSE=") {
                purpose = String(word.dropFirst(8))
            } else if word.hasPrefix("HS_STATE=") {
                state = String(word.dropFirst(9))
            } else if word.hasPrefix("REND_QUERY=") {
                serviceID = String(word.dropFirst(11))
            }
        }
    }

    func use(for serviceID: String?) -> CircuitBook.Use {
        guard self.serviceID == serviceID else { return .other }
        return switch (purpose, state) {
        case ("HS_SERVICE_INTRO", "HSSI_ESTABLISHED"): .introductionPoint
        case ("HS_SERVICE_REND", "HSSR_JOINED"): .client
        case ("HS_SERVICE_REND", _): .coming
        default: .other
        }
    }
}
