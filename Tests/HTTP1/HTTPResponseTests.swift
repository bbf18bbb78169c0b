import HTTP1
import Testing

private func responses(_ text: String, cut: Int? = nil, limits: HTTPLimits = HTTPLimits()) throws(HTTPFault)
    -> [HTTPResponse]
{
    let bytes = Array(text.utf8)
    let cut = cut ?? bytes.count
    var decoder = HTTPResponseDecoder(limits: limits)
    var found: [HTTPResponse] = []
    for part in [Array(bytes[..<cut]), Array(bytes[cut...])] {
        decoder.append(part.span.bytes)
        while let response = try decoder.next() { found.append(response) }
    }
    if let last = try decoder.end() { found.append(last) }
    return found
}

private func fault(_ text: String, limits: HTTPLimits = HTTPLimits()) -> HTTPFault? {
    do throws(HTTPFault) {
        _ = try responses(text, limits: limits)
        return nil
    } catch {
        return error
    }
}

@Suite struct HTTPResponseTests {
    @Test func anAnswerHasItsLengthAndNoClock() {
        var bytes: [UInt8] = []
        var response = HTTPResponse(status: 200, text: "success")
        response.encode(into: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 7\r\nconnection: keep-alive\r\n\r\nsuccess"
        )
        bytes = []
        response.isKeptAlive = false
        response.encode(into: &bytes, withBody: false)
        #expect(
            String(decoding: bytes, as: UTF8.self).hasSuffix("content-length: 7\r\nconnection: close\r\n\r\n")
        )
        bytes = []
        HTTPResponse(HTTPFault.badChunk).encode(into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("connection: close\r\n\r\nchunk not valid"))
    }

    @Test func answersDoNotDependOnReads() throws {
        let text =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            + "HTTP/1.1 204\r\n\r\nHTTP/1.1 400 \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbad\r\n0\r\n\r\n"
            + "HTTP/1.0 503 Away\r\nRetry-After: 9\r\n\r\nuntil the end"
        for cut in 0...text.utf8.count {
            let found = try responses(text, cut: cut)
            #expect(found.map(\.status) == [200, 204, 400, 503])
            #expect(
                found.map { String(decoding: $0.body, as: UTF8.self) } == ["ok", "", "bad", "until the end"])
            #expect(found.map(\.isKeptAlive) == [true, true, true, false])
            #expect(found.last?.fields["retry-after"] == "9")
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", HTTPFault.truncated), ("HTTP/1.1 200", .truncated),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", .bodyTooLarge(limit: 8)),
        ("HTTP/1.1 200 OK\r\n\r\n123456789", .bodyTooLarge(limit: 8)),
        ("HTTP/2 200\r\n\r\n", .unsupportedVersion),
        ("HTTP/1.1 2000 \r\n\r\n", .badStartLine), ("HTTP/1.1 +20 \r\n\r\n", .badStartLine),
        ("HTTP/1.1 99 \r\n\r\n", .badStartLine), ("ICY 200 OK\r\n\r\n", .badStartLine),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", .conflictingLengths),
    ])
    func anAnswerThatCanNotBeTrustedIsRefused(text: String, expected: HTTPFault) {
        #expect(fault(text, limits: HTTPLimits(head: 256, fields: 4, body: 8)) == expected)
    }

    @Test func theHeadOfAnAnswerIsBounded() {
        let start = "HTTP/1.1 200 OK\r\nX: "
        let limits = HTTPLimits(head: 64, fields: 4, body: 8)
        let fill = String(repeating: "x", count: 64 - start.utf8.count - 4)
        #expect(fault(start + fill + "\r\n\r\n", limits: limits) == nil)
        #expect(fault(start + fill + "x\r\n\r\n", limits: limits) == .headTooLarge(limit: 64))
    }

    @Test func aRequestIsReadBackAsItWasSent() throws {
        var request = HTTPRequest(method: "POST", path: "/token", query: "a=b", body: Array("x=%20".utf8))
        request.fields.append("content-type", "application/x-www-form-urlencoded")
        var decoder = HTTPRequestDecoder()
        decoder.append(request.encoded(host: "127.0.0.1:80"))
        let read = try #require(try decoder.next())
        #expect(read.path == "/token" && read.query == "a=b" && read.body == request.body)
        #expect(read.fields["host"] == "127.0.0.1:80")
    }
}
