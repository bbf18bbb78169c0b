import HTTP1
import Testing

extension HTTPRequestDecoder {
    mutating func append(_ text: String) {
        append(Array(text.utf8))
    }

    mutating func append(_ bytes: [UInt8]) {
        append(bytes.span.bytes)
    }
}

private func decode(_ text: String, limits: HTTPLimits = HTTPLimits()) throws(HTTPFault) -> HTTPRequest? {
    var decoder = HTTPRequestDecoder(limits: limits)
    decoder.append(text)
    return try decoder.next()
}

private let plain =
    "GET /relay?a=1&b=%2f HTTP/1.1\r\nHost: x.onion\r\nUser-Agent:  bisq/1.10.4, uid: 1 \r\n\r\n"

@Suite struct HTTPRequestTests {
    @Test func aRequestIsReadAsItWasSent() throws {
        let request = try #require(try decode(plain))
        #expect(request.method == "GET")
        #expect(request.path == "/relay")
        #expect(request.query == "a=1&b=%2f")
        #expect(request.fields["host"] == "x.onion")
        #expect(request.fields["user-agent"] == "bisq/1.10.4, uid: 1")
        #expect(request.body.isEmpty)
        #expect(request.isKeptAlive)
    }

    /// Bytes are looked at many at a time: wherever one stands, it is seen.
    @Test(arguments: 0..<150)
    func aByteCountsWhereverItStands(place: Int) throws {
        let text = String(repeating: "x", count: place)
        let request = try #require(
            try decode(
                "GET /\(text)?a\(text)=\(text)%41&b=2 HTTP/1.1\r\nHost: a\r\nX\(text): \(text)\r\n\r\n"))
        #expect(request.path == "/\(text)" && request.fields["x\(text)"] == text)
        let query = try HTTPQuery(request.query ?? "")
        #expect(query["a\(text)"] == "\(text)A" && query["b"] == "2")
        for byte in ["\u{0}", "\u{1F}", "\u{7F}", "\n", "\rx"] {
            #expect(throws: HTTPFault.controlByte) {
                try decode("GET / HTTP/1.1\r\nHost: a\r\nX: \(text)\(byte)\r\n\r\n")
            }
        }
        for byte in ["#", "\t", "é"] {
            #expect(throws: HTTPFault.badTarget) {
                try decode("GET /\(text)\(byte) HTTP/1.1\r\nHost: a\r\n\r\n")
            }
        }
    }

    /// Whatever the reads, the requests are the same: the stream is cut at every byte.
    @Test func requestsDoNotDependOnReads() throws {
        let stream = Array(
            (plain + "POST /v1/fcm HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc\r\n"
                + "POST /v HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n"
                + "GET // HTTP/1.0\r\n\r\n").utf8)
        for cut in 0...stream.count {
            var decoder = HTTPRequestDecoder()
            var requests: [HTTPRequest] = []
            for part in [stream[..<cut], stream[cut...]] {
                decoder.append(Array(part))
                while let request = try decoder.next() { requests.append(request) }
            }
            #expect(requests.map(\.path) == ["/relay", "/v1/fcm", "/v", "//"])
            #expect(requests.map(\.body) == [[], Array("abc".utf8), Array("abc".utf8), []])
            #expect(requests.map(\.isKeptAlive) == [true, true, true, false])
            #expect(!decoder.isWithinRequest)
        }
    }

    @Test func aStreamReadByteByByteGivesTheSameRequests() throws {
        var decoder = HTTPRequestDecoder()
        var bodies: [[UInt8]] = []
        for byte in "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n03\r\nabc\r\n0\r\n\r\n"
            .utf8
        {
            decoder.append([byte])
            if let request = try decoder.next() { bodies.append(request.body) }
        }
        #expect(bodies == [Array("abc".utf8)])
    }

    @Test func pipelinedRequestsAreGivenOneAtATime() throws {
        var decoder = HTTPRequestDecoder()
        decoder.append(String(repeating: plain, count: 1000))
        var count = 0
        while try decoder.next() != nil { count += 1 }
        #expect(count == 1000)
    }

    @Test func withinARequestTheDeadlineRunsAndBetweenThemNot() throws {
        var decoder = HTTPRequestDecoder()
        #expect(!decoder.isWithinRequest)
        decoder.append("G")
        #expect(try decoder.next() == nil)
        #expect(decoder.isWithinRequest)
        decoder.append(String(plain.dropFirst()))
        #expect(try decoder.next() != nil)
        #expect(!decoder.isWithinRequest)
        decoder.append("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n")
        #expect(try decoder.next() == nil)
        #expect(decoder.isWithinRequest)
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "Connection: x, Close\r\n", false), ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
    ])
    func theConnectionStaysAsAsked(version: String, field: String, isKeptAlive: Bool) throws {
        let request = try #require(try decode("GET / \(version)\r\nHost: a\r\n\(field)\r\n"))
        #expect(request.isKeptAlive == isKeptAlive)
    }

    @Test func aClientThatExpectsIsToldOnceToGoOn() throws {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n"
        var decoder = HTTPRequestDecoder()
        decoder.append(head)
        #expect(try decoder.next() == nil)
        #expect(decoder.isContinueExpected)
        decoder.isContinueExpected = false
        decoder.append("x")
        #expect(try decoder.next()?.body == [0x78])
        #expect(!decoder.isContinueExpected)

        decoder.append(head + "x")
        #expect(try decoder.next()?.body == [0x78])
        #expect(!decoder.isContinueExpected)
    }

    @Test(arguments: [
        ("http://x.onion/relay?a=1", "/relay", "a=1"), ("HTTP://x:80", "/", nil),
        ("http://[::1]:80?q", "/", "q"),
        ("*", "*", nil), ("/..//%00", "/..//%00", nil), ("/?", "/", ""),
    ])
    func aTargetIsReadInEachForm(target: String, path: String, query: String?) throws {
        let request = try #require(try decode("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(request.path == path)
        #expect(request.query == query)
    }

    @Test(
        arguments: [
            ("GET /\r\n", HTTPFault.badStartLine), ("GET / HTTP/1.1\n", .controlByte), ("\n", .badStartLine),
            ("PRI * HTTP/2.0\r\n", .unsupportedVersion), ("GET / HTTP/1.10\r\n", .unsupportedVersion),
            ("GET / HTTP/0.9\r\n", .unsupportedVersion), ("GET / http/1.1\r\n", .badStartLine),
            ("GET /  HTTP/1.1\r\n", .badStartLine), ("GET  / HTTP/1.1\r\n", .badStartLine),
            ("GET\t/ HTTP/1.1\r\n", .badStartLine), (" GET / HTTP/1.1\r\n", .badStartLine),
            ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", .badStartLine), ("\u{0}", .badStartLine),
            ("G\u{0}", .controlByte),
            ("GET /\u{7F} HTTP/1.1\r\n", .controlByte), ("GET /é HTTP/1.1\r\n", .badTarget),
            ("GET /#a HTTP/1.1\r\n", .badTarget), ("GET a HTTP/1.1\r\n", .badTarget),
            ("GET ftp://a/ HTTP/1.1\r\n", .badTarget), ("GET http:///a HTTP/1.1\r\n", .badHost),
            ("GET http://a@b/ HTTP/1.1\r\n", .badHost), ("CONNECT a:443 HTTP/1.1\r\n", .badTarget),
            ("G\r", nil), ("G\rE", .controlByte), ("\r\n\r\n", .badStartLine), ("\r", nil), ("\r\n", nil),
            ("\u{80}", .badStartLine),
        ] as [(String, HTTPFault?)])
    func aBeginningThatCanNotBecomeARequestIsRefusedAtOnce(text: String, fault: HTTPFault?) {
        #expect(throwing { try decode(text) } == fault)
        var decoder = HTTPRequestDecoder()
        var found: HTTPFault?
        for byte in text.utf8 where found == nil {
            decoder.append([byte])
            found = throwing { try decoder.next() }
        }
        #expect(found == fault)
    }

    @Test(arguments: [
        ("Host: a\r\nHost: a\r\n", HTTPFault.badHost), ("X: 1\r\n", .badHost), ("Host: a b\r\n", .badHost),
        ("Host: a/b\r\n", .badHost), ("Host: [::1\r\n", .badHost), ("Host: a:x\r\n", .badHost),
        ("Host: a:123456\r\n", .badHost), ("Host: é\r\n", .badHost), ("Host: a%00\r\n", .badHost),
        ("Host: a\r\n b\r\n", .foldedField), ("Host : a\r\n", .badField), ("Host: a\r\n: b\r\n", .badField),
        ("Host: a\r\nX\r\n", .badField), ("Host: a\r\nÄ: b\r\n", .badField),
        ("Host: a\r\nX: \u{1}\r\n", .controlByte),
        ("Host: a\r\nX: a\rb\r\n", .controlByte), ("Host: a\r\nX: a\n", .controlByte),
        ("Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n", .badContentLength),
        ("Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n", .badContentLength),
        ("Host: a\r\nContent-Length: 1, 1\r\n", .badContentLength),
        ("Host: a\r\nContent-Length: -1\r\n", .badContentLength),
        ("Host: a\r\nContent-Length: +1\r\n", .badContentLength),
        ("Host: a\r\nContent-Length:\r\n", .badContentLength),
        ("Host: a\r\nContent-Length: 0x1\r\n", .badContentLength),
        ("Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", .conflictingLengths),
        ("Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", .unknownTransferCoding),
        ("Host: a\r\nTransfer-Encoding: identity\r\n", .unknownTransferCoding),
        ("Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .unknownTransferCoding),
        ("Host: a\r\nExpect: 200-ok\r\nContent-Length: 0\r\n", .unknownExpectation),
        ("Host: a\r\nContent-Length: 99999999999999999999\r\n", .bodyTooLarge(limit: 32_768)),
    ])
    func fieldsThatCouldBeReadInTwoWaysAreRefused(fields: String, fault: HTTPFault) {
        #expect(throwing { try decode("POST / HTTP/1.1\r\n\(fields)\r\n") } == fault)
    }

    /// RFC 9112, section 6.3: Vaultwarden's client, and others, say nothing of a body that is not there.
    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "GET"])
    func aRequestWithoutLengthHasAnEmptyBody(method: String) throws {
        var decoder = HTTPRequestDecoder()
        decoder.append("\(method) /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n")
        let first = try #require(try decoder.next())
        #expect(first.method == method && first.path == "/a" && first.body.isEmpty && first.isKeptAlive)
        #expect(try decoder.next()?.path == "/b")
    }

    @Test func onlyTheOldVersionMayLeaveItsHostOutAndNeverChunks() throws {
        #expect(try decode("GET / HTTP/1.0\r\n\r\n") != nil)
        #expect(
            throwing { try decode("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") }
                == .unknownTransferCoding)
    }

    @Test func aRefusedStreamStaysRefused() {
        var decoder = HTTPRequestDecoder()
        decoder.append("GET /\r\n")
        #expect(throwing { try decoder.next() } == .badStartLine)
        decoder.append(plain)
        #expect(throwing { try decoder.next() } == .badStartLine)
    }

    @Test func everyFaultHasAClientStatusOrSaysWhatIsNotServed() {
        let faults: [HTTPFault] = [
            .requestLineTooLong(limit: 1), .headTooLarge(limit: 1), .tooManyFields(limit: 1),
            .bodyTooLarge(limit: 1),
            .unknownTransferCoding, .unsupportedVersion, .unknownExpectation, .badHost,
        ]
        #expect(faults.map(\.status) == [414, 431, 431, 413, 501, 505, 417, 400])
    }
}

func throwing(_ work: () throws -> HTTPRequest?) -> HTTPFault? {
    do {
        _ = try work()
        return nil
    } catch {
        return error as? HTTPFault
    }
}
