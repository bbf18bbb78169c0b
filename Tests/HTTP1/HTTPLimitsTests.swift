import HTTP1
import Testing

private func outcome(_ text: String, _ limits: HTTPLimits) -> HTTPFault? {
    throwing {
        var decoder = HTTPRequestDecoder(limits: limits)
        decoder.append(text)
        return try decoder.next()
    }
}

@Suite struct HTTPLimitsTests {
    let limits = HTTPLimits(head: 64, fields: 3, body: 8)

    @Test func theLongestHeadIsAcceptedAndOneByteMoreRefused() {
        let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
        let fill = String(repeating: "x", count: 64 - frame.utf8.count)
        #expect(outcome("GET / HTTP/1.1\r\nHost: a\r\nX: \(fill)\r\n\r\n", limits) == nil)
        #expect(
            outcome("GET / HTTP/1.1\r\nHost: a\r\nX: x\(fill)\r\n\r\n", limits) == .headTooLarge(limit: 64))
        #expect(outcome("GET /\(fill) HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n", limits) == nil)
        #expect(
            outcome("GET /\(fill)x HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n", limits) == .headTooLarge(limit: 64))
    }

    @Test func aRequestLineWithoutEndIsRefusedAtTheLimit() {
        #expect(outcome(String(repeating: "x", count: 63), limits) == nil)
        #expect(outcome(String(repeating: "x", count: 64), limits) == .requestLineTooLong(limit: 64))
    }

    @Test func theRequestLineOfTheLongestMessageFitsTheOrdinaryLimit() {
        // What Bisq sends: 8,260 bytes; and anything up to 16 KiB with its fields.
        let path =
            "/" + String(repeating: "a", count: 16_384 - "GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8.count)
        #expect(outcome("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n", HTTPLimits()) == nil)
    }

    @Test func theLastFieldIsAcceptedAndOneMoreRefused() {
        #expect(outcome("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\n\r\n", limits) == nil)
        #expect(
            outcome("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nC:\r\n\r\n", limits)
                == .tooManyFields(limit: 3))
    }

    @Test func theLongestBodyIsAcceptedAndOneByteMoreRefusedBeforeItComes() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
        #expect(outcome(head + "8\r\n\r\n12345678", limits) == nil)
        #expect(outcome(head + "9\r\n\r\n", limits) == .bodyTooLarge(limit: 8))
    }

    @Test(
        arguments: [
            ("8\r\n12345678\r\n0\r\n\r\n", nil), ("4\r\n1234\r\n4\r\n5678\r\n0\r\n\r\n", nil),
            ("9\r\n", .bodyTooLarge(limit: 8)), ("8\r\n12345678\r\n1\r\n", .bodyTooLarge(limit: 8)),
            ("FFFFFFFFFFFFFFFF\r\n", .bodyTooLarge(limit: 8)),
            ("7FFFFFFFFFFFFFFF\r\n", .bodyTooLarge(limit: 8)),
            ("10000000000000000000000000\r\n", .bodyTooLarge(limit: 8)), ("\r\n", .badChunk),
            ("x\r\n", .badChunk),
            ("-1\r\n", .badChunk), ("1 x\r\n", .badChunk), ("0x1\r\n", .badChunk), ("1\n", .badChunk),
            ("1\rx", .badChunk),
            ("1\r\nab", .badChunk), ("1\r\na\n", .badChunk), ("1\r\na\rx", .badChunk), ("1;\u{0}", .badChunk),
            ("1 ;x\r\na\r\n00\r\nA: b\r\n\r\n", nil), ("0\r\nA\n", .badChunk),
        ] as [(String, HTTPFault?)])
    func chunksKeepTheBoundOfTheBodyAndTheirForm(chunks: String, fault: HTTPFault?) {
        let wide = HTTPLimits(head: 16_384, fields: 100, body: 8)
        #expect(
            outcome("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n\(chunks)", wide)
                == fault)
    }

    @Test func chunkFramingWithoutEndIsRefused() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        let wide = HTTPLimits(head: 16_384, fields: 100, body: 8)
        #expect(outcome(head + "1;" + String(repeating: "x", count: 4094), wide) == nil)
        #expect(outcome(head + "1;" + String(repeating: "x", count: 4095), wide) == .badChunk)
        #expect(outcome(head + "0\r\n" + String(repeating: "A: b\r\n", count: 682), wide) == nil)
        #expect(outcome(head + "0\r\n" + String(repeating: "A: b\r\n", count: 683), wide) == .badChunk)
    }
}
