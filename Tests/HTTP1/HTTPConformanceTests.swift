import HTTP1
import Testing

/// What a stream of bytes is read as, row by row: RFC 9110 and 9112, and what parsers are known to differ in.
@Suite struct HTTPConformanceTests {
    /// All requests of a stream, `method target body`, and what ends it: a fault's status and words, or `...` when more must
    /// come.
    private static func read(_ text: String, isSecure: Bool, byteByByte: Bool) -> String {
        var decoder = HTTPRequestDecoder(
            limits: HTTPLimits(head: 400, fields: 8, body: 20), isSecure: isSecure)
        var found: [String] = []
        do throws(HTTPFault) {
            for piece in byteByByte ? text.utf8.map({ [$0] }) : [Array(text.utf8)] {
                decoder.append(piece)
                while let request = try decoder.next() {
                    let query = request.query.map { "?" + $0 } ?? ""
                    let body = request.body.isEmpty ? "" : " " + String(decoding: request.body, as: UTF8.self)
                    found.append(
                        "\(request.method) \(request.path)\(query)\(body)\(request.isKeptAlive ? "" : " close")"
                    )
                }
            }
            if decoder.isWithinRequest { found.append("...") }
        } catch {
            found.append("\(error.status) \(error)")
        }
        return found.joined(separator: ", ")
    }

    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n"
    private static let post = "POST / HTTP/1.1\r\nHost: a\r\n"
    private static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

    private static let line = "400 no HTTP/1.1 start line"
    private static let target = "400 request target not understood"
    private static let control = "400 control byte in the head"
    private static let field = "400 header field not valid"
    private static let host = "400 Host missing, repeated or not valid"
    private static let length = "400 Content-Length not valid or repeated"
    private static let coding = "501 transfer coding not known"
    private static let chunk = "400 chunk not valid"

    /// Request lines.
    private static let lines: [(String, String)] = [
        ("GET / HTTP/1.1", "GET /"), ("HEAD /a HTTP/1.1", "HEAD /a"), ("PUT /a HTTP/1.1", "PUT /a"),
        ("DELETE /a HTTP/1.1", "DELETE /a"), ("OPTIONS * HTTP/1.1", "OPTIONS *"),
        ("PROPFIND /a HTTP/1.1", "PROPFIND /a"), ("M-SEARCH * HTTP/1.1", "M-SEARCH *"),
        ("get /a HTTP/1.1", "get /a"), ("X!#$%&'*+-.^_`|~1 /a HTTP/1.1", "X!#$%&'*+-.^_`|~1 /a"),
        ("G(T / HTTP/1.1", line), ("G\"T / HTTP/1.1", line), (" / HTTP/1.1", line), ("GET", line),
        ("GET /", line), ("GET  / HTTP/1.1", line), ("GET /  HTTP/1.1", line), ("GET / HTTP/1.1 ", line),
        ("GET\t/\tHTTP/1.1", line), ("GET /a b HTTP/1.1", line),
        ("GET / HTTP/1.0", "GET / close"), ("GET / HTTP/1.2", "GET /"), ("GET / HTTP/1.9", "GET /"),
        ("GET / HTTP/0.9", "505 HTTP version not supported"),
        ("GET / HTTP/2.0", "505 HTTP version not supported"),
        ("GET / HTTP/1.10", "505 HTTP version not supported"),
        ("GET / HTTP/1", "505 HTTP version not supported"),
        ("GET / HTTP/1.", "505 HTTP version not supported"),
        ("GET / HTTP/1.x", "505 HTTP version not supported"),
        ("GET / HTTP/11", "505 HTTP version not supported"),
        ("GET / HTTP/01.1", "505 HTTP version not supported"),
        ("GET / http/1.1", line), ("GET / HTTPS/1.1", line), ("GET / RTSP/1.0", line),
        ("GET / ICE/1.0", line),
        ("GET /a?b=c&d HTTP/1.1", "GET /a?b=c&d"), ("GET /?? HTTP/1.1", "GET /??"),
        ("GET //a HTTP/1.1", "GET //a"), ("GET /%zz HTTP/1.1", "GET /%zz"),
        ("GET /a;b='\"<>[]{}|\\^` HTTP/1.1", "GET /a;b='\"<>[]{}|\\^`"),
        ("GET /a#b HTTP/1.1", target), ("GET a HTTP/1.1", target), ("GET ?a HTTP/1.1", target),
        ("GET ** HTTP/1.1", target), ("GET /ü HTTP/1.1", target), ("GET /\u{7F} HTTP/1.1", control),
        ("CONNECT a:443 HTTP/1.1", target), ("GET http://b/a?c HTTP/1.1", "GET /a?c"),
        ("GET HTTP://B:80 HTTP/1.1", "GET /"), ("GET http://b?c HTTP/1.1", "GET /?c"),
        ("GET http://[::1]:8/ HTTP/1.1", "GET /"), ("GET http:/a HTTP/1.1", target),
        ("GET http:///a HTTP/1.1", host), ("GET http://:80/a HTTP/1.1", host),
        ("GET http://u@b/ HTTP/1.1", host), ("GET http://u:p@b/ HTTP/1.1", host),
        ("GET http://b:x/ HTTP/1.1", host), ("GET ws://b/ HTTP/1.1", target),
        ("GET https://b/ HTTP/1.1", target), ("GET httpss://b/ HTTP/1.1", target),
        ("GET /\r", control), ("GET /\n", control), ("GET /\u{0} HTTP/1.1", control),
    ]

    @Test(arguments: lines, [false, true])
    func aRequestLineIsReadAsTheStandardSays(row: (text: String, outcome: String), byteByByte: Bool) {
        let read = Self.read("\(row.text)\r\nHost: a\r\n\r\n", isSecure: false, byteByByte: byteByByte)
        #expect(read == row.outcome, "\(row.text)")
    }

    /// Heads and bodies.
    private static let streams: [(String, String)] = [
        (get + "\r\n", "GET /"), (get + "\r\n" + get + "\r\n", "GET /, GET /"),
        ("\r\n" + get + "\r\n", "GET /"), (get + "\r\n\r\n" + get + "\r\n", "GET /, GET /"),
        ("\r\n\r\n" + get, line), ("\n" + get, line), (get, "..."), ("GET / HT", "..."), ("", ""),
        (get + "X:\r\n\r\n", "GET /"), (get + "X:a\r\n\r\n", "GET /"), (get + "X:\t a \t\r\n\r\n", "GET /"),
        (get + "X: é\r\n\r\n", "GET /"), (get + "X: a\tb\r\n\r\n", "GET /"),
        (get + "X : a\r\n\r\n", field), (get + " X: a\r\n\r\n", "400 folded header field"),
        (get + "X: a\r\n b\r\n\r\n", "400 folded header field"),
        (get + "X: a\r\n\tb\r\n\r\n", "400 folded header field"), (get + ": a\r\n\r\n", field),
        (get + "X\r\n\r\n", field), (get + "X(: a\r\n\r\n", field), (get + "X\u{0}: a\r\n\r\n", control),
        (get + "X: a\u{0}\r\n\r\n", control), (get + "X: \u{8}\r\n\r\n", control),
        (get + "X: a\n\r\n", control),
        (get + "X: a\r\r\n\r\n", control), (get + "X: a\rb: c\r\n\r\n", control), (get + "\n", control),
        (get + "\r\r\n", control), (get + String(repeating: "X: a\r\n", count: 7) + "\r\n", "GET /"),
        (get + String(repeating: "X: a\r\n", count: 8) + "\r\n", "431 more than 8 header fields"),
        (get + "X: " + String(repeating: "a", count: 400), "431 head over 400 bytes"),
        ("GET /" + String(repeating: "a", count: 400), "414 request line over 400 bytes"),
        (get + "Connection: close\r\n\r\n", "GET / close"),
        (get + "CONNECTION: x,\tCLOSE\r\n\r\n", "GET / close"),
        (get + "Connection: closed\r\n\r\n", "GET /"), (get + "Connection: keep-alive\r\n\r\n", "GET /"),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /"),
        ("GET / HTTP/1.0\r\n\r\n", "GET / close"),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", host),
        (post + "Content-Length: 3\r\n\r\nabc", "POST / abc"), (post + "Content-Length: 3\r\n\r\nab", "..."),
        (post + "Content-Length: 0\r\n\r\n", "POST /"), (post + "\r\n", "POST /"),
        (post + "Content-Length: 003\r\n\r\nabc", "POST / abc"),
        (post + "Content-Length: 1\r\n\r\na" + get + "\r\n", "POST / a, GET /"),
        (get + "Content-Length: 1\r\n\r\na", "GET / a"), (post + "Content-Length: 20\r\n\r\n", "..."),
        (post + "Content-Length: 21\r\n\r\n", "413 body over 20 bytes"),
        (post + "Content-Length: 4294967297\r\n\r\n", "413 body over 20 bytes"),
        (post + "Content-Length: 18446744073709551617\r\n\r\n", "413 body over 20 bytes"),
        (post + "Content-Length: 1 2\r\n\r\n", length), (post + "Content-Length: 1,1\r\n\r\n", length),
        (post + "Content-Length: -1\r\n\r\n", length), (post + "Content-Length: +1\r\n\r\n", length),
        (post + "Content-Length: 0x1\r\n\r\n", length), (post + "Content-Length: \r\n\r\n", length),
        (post + "Content-Length: ١\r\n\r\n", length), (post + "Content-Length: 1.0\r\n\r\n", length),
        (post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", length),
        (
            post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "400 Content-Length and Transfer-Encoding together"
        ),
        (post + "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", "POST /"),
        (post + "Transfer-Encoding: gzip\r\n\r\n", coding),
        (post + "Transfer-Encoding: chunked, gzip\r\n\r\n", coding),
        (post + "Transfer-Encoding: gzip, chunked\r\n\r\n", coding),
        (post + "Transfer-Encoding: xchunked\r\n\r\n", coding),
        (post + "Transfer-Encoding: \u{B}chunked\r\n\r\n", control),
        (post + "Transfer-Encoding: \"chunked\"\r\n\r\n", coding),
        (post + "Transfer-Encoding:\r\n\r\n", coding),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", coding),
        (chunked + "1\r\na\r\n0\r\n\r\n", "POST / a"),
        (chunked + "A\r\n0123456789\r\n00\r\n\r\n", "POST / 0123456789"),
        (chunked + "1;x\r\na\r\n1;y=\"z\"\r\nb\r\n0\r\n\r\n", "POST / ab"),
        (chunked + "1 ;x\r\na\r\n0\r\n\r\n", "POST / a"),
        (chunked + "1\r\na\r\n0\r\nX: y\r\n\r\n" + get + "\r\n", "POST / a, GET /"),
        (chunked + "0\r\n", "..."),
        (chunked + "1\r\na\r\n", "..."), (chunked + "1\r\nab", chunk), (chunked + "1\na\n0\n\n", chunk),
        (chunked + "\r\n", chunk), (chunked + "g\r\n", chunk), (chunked + "0x1\r\na\r\n", chunk),
        (chunked + "-1\r\n", chunk), (chunked + "+1\r\n", chunk), (chunked + " 1\r\n", chunk),
        (chunked + "1\r\na\n", chunk), (chunked + "1;\u{0}\r\n", chunk),
        (chunked + "15\r\n", "413 body over 20 bytes"),
        (chunked + "ffffffffffffffff\r\n", "413 body over 20 bytes"),
        (chunked + "10000000000000001\r\n", "413 body over 20 bytes"),
        (post + "Expect: 100-continue\r\nContent-Length: 1\r\n\r\na", "POST / a"),
        (post + "Expect: more\r\n\r\n", "417 expectation not known"),
        (get + "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n", "GET /"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 HTTP version not supported"), ("\u{16}\u{3}\u{1}", line),
    ]

    @Test(arguments: streams, [false, true])
    func aStreamIsReadAsTheStandardSays(row: (text: String, outcome: String), byteByByte: Bool) {
        #expect(
            Self.read(row.text, isSecure: false, byteByByte: byteByByte) == row.outcome,
            "\(row.text.debugDescription)")
    }

    /// RFC 3986, section 3.2.2, and a port.
    @Test(arguments: [
        ("a", true), ("a.b-c_d~e", true), ("", true), ("a:80", true), ("a:", true), ("127.0.0.1:8", true),
        ("a=b", true), ("!$&'()*+,;=", true), ("0.0.0.0=5000", true), ("%41%c3%a4", true), ("a%20b:1", true),
        ("[::1]", true), ("[::ffff:1.2.3.4]:80", true), ("[v1.a:b=c]", true), ("[vF.~]:1", true),
        ("%", false), ("%4", false), ("a%4g", false), ("%00", false), ("%0d%0a", false), ("a:123456", false),
        ("a:8x", false), ("a:-1", false), ("a b", false), ("a/b", false), ("a?b", false), ("a@b", false),
        ("a\\b", false), ("a#b", false), ("a|b", false), ("a^b", false), ("a`b", false), ("<a>", false),
        ("a\"b", false), ("é", false), ("[", false), ("[]", false), ("[::1", false), ("[::1]a", false),
        ("[a.b%25]", false),
        ("[v.a]", false), ("[v1.]", false), ("[v1a]", false), ("[vg.a]", false), ("::1", false),
        ("a:b:80", false),
        ("a, b", false),
    ])
    func aHostIsWhatTheStandardCallsOne(host: String, isOne: Bool) {
        let outcome = isOne ? "GET /" : Self.host
        #expect(
            Self.read("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n", isSecure: false, byteByByte: false)
                == outcome)
        guard !host.isEmpty, !host.contains(" "), !host.contains("/"), !host.contains("?"),
            !host.contains("#"),
            host.utf8.allSatisfy({ $0 < 0x80 })
        else { return }
        let line = "GET http://\(host)/ HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(Self.read(line, isSecure: false, byteByByte: false) == outcome)
    }

    /// RFC 9112, section 3.2.2.
    @Test func theHostOfATargetTakesThePlaceOfTheField() throws {
        for (target, host) in [
            ("http://b:1/c", "b:1"), ("https://b/", "b"), ("HTTPS://[::1]", "[::1]"), ("/http://b/", "a"),
        ] {
            var decoder = HTTPRequestDecoder(isSecure: true)
            decoder.append("GET \(target) HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n")
            let request = try #require(try decoder.next())
            #expect(request.fields["host"] == host && request.fields["x"] == "y" && request.fields.count == 2)
        }
        for fields in ["", "Host: a\r\nHost: a\r\n", "Host: a b\r\n"] {
            #expect(
                Self.read("GET https://b/ HTTP/1.1\r\n\(fields)\r\n", isSecure: true, byteByByte: false)
                    == Self.host)
        }
        var decoder = HTTPRequestDecoder(isSecure: true)
        decoder.append("GET https://b/c HTTP/1.0\r\n\r\n")
        #expect(try decoder.next()?.fields["host"] == "b")
    }

    /// RFC 9110, section 10.1.1.
    @Test func aClientOfTheOldVersionIsNotToldToGoOn() throws {
        for (version, isTold) in [("1.0", false), ("1.1", true), ("1.2", true)] {
            var decoder = HTTPRequestDecoder()
            decoder.append(
                "POST / HTTP/\(version)\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
            #expect(try decoder.next() == nil)
            #expect(decoder.isContinueExpected == isTold)
            decoder.append("abcde")
            #expect(try decoder.next()?.body == Array("abcde".utf8))
        }
    }

    // MARK: Answers

    private static func answers(_ text: String, byteByByte: Bool) -> String {
        var decoder = HTTPResponseDecoder(limits: HTTPLimits(head: 400, fields: 8, body: 20))
        var found: [String] = []
        func add(_ answer: HTTPResponse) {
            let body = answer.body.isEmpty ? "" : " " + String(decoding: answer.body, as: UTF8.self)
            found.append("\(answer.status)\(body)\(answer.isKeptAlive ? "" : " close")")
        }
        do throws(HTTPFault) {
            for piece in byteByByte ? text.utf8.map({ [$0] }) : [Array(text.utf8)] {
                decoder.append(piece.span.bytes)
                while let answer = try decoder.next() {
                    add(answer)
                    if answer.status == 101 { return found.joined(separator: ", ") }
                }
            }
            if let last = try decoder.end() { add(last) }
        } catch {
            found.append("\(error)")
        }
        return found.joined(separator: ", ")
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let empty = "Content-Length: 0\r\n\r\n"
    private static let goOn = "HTTP/1.1 100 Continue\r\n\r\n"
    private static let answerRows: [(String, String)] = [
        (ok + empty, "200"), (ok + "Content-Length: 2\r\n\r\nab", "200 ab"),
        ("HTTP/1.1 200\r\n" + empty, "200"),
        ("HTTP/1.1 200 \r\n" + empty, "200"), ("HTTP/1.1 200 Ünïcode\r\n" + empty, "200"),
        ("HTTP/1.1 299 a b c\r\n" + empty, "299"), ("HTTP/1.1 599 -\r\n" + empty, "599"),
        ("HTTP/1.0 200 OK\r\n" + empty, "200 close"), ("HTTP/1.3 200 OK\r\n" + empty, "200"),
        ("HTTP/2 200 OK\r\n" + empty, "HTTP version not supported"),
        ("HTTP/1.1 600 X\r\n" + empty, "no HTTP/1.1 start line"),
        ("HTTP/1.1 20 X\r\n" + empty, "no HTTP/1.1 start line"),
        ("HTTP/1.1 2000 X\r\n" + empty, "no HTTP/1.1 start line"),
        ("HTTP/1.1 2x0 X\r\n" + empty, "no HTTP/1.1 start line"),
        ("HTTP/1.1  200 X\r\n" + empty, "no HTTP/1.1 start line"),
        ("HTTP/1.1\t200 X\r\n" + empty, "HTTP version not supported"),
        ("ICY 200 OK\r\n" + empty, "no HTTP/1.1 start line"),
        ("http/1.1 200 OK\r\n" + empty, "no HTTP/1.1 start line"),
        ("\r\n" + ok + empty, "control byte in the head"),
        (ok + "Connection: close\r\n" + empty, "200 close"),
        (ok + "Connection: Keep-Alive\r\n" + empty, "200"),
        (ok + "X : y\r\n" + empty, "header field not valid"),
        (ok + "X: y\r\n z\r\n" + empty, "folded header field"),
        (ok + "X: a\n" + empty, "control byte in the head"),
        (ok + "X: a\r" + empty, "control byte in the head"),
        (ok + "\r\nuntil the end", "200 until the end close"), (ok + "\r\n", "200 close"),
        (ok, "ends within a message"),
        (ok + "\r\n" + String(repeating: "a", count: 21), "body over 20 bytes"),
        (ok + "Content-Length: 21\r\n\r\n", "body over 20 bytes"),
        (ok + "Content-Length: 2\r\n\r\na", "ends within a message"),
        (ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", "Content-Length not valid or repeated"),
        (
            ok + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
            "Content-Length and Transfer-Encoding together"
        ),
        (ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", "200 ab"),
        (ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "ends within a message"),
        (ok + "Transfer-Encoding: chunked\r\n\r\nz\r\n", "chunk not valid"),
        (ok + "Transfer-Encoding: gzip\r\n\r\n", "transfer coding not known"),
        ("HTTP/1.1 204 No\r\n\r\n" + ok + empty, "204, 200"),
        ("HTTP/1.1 304 No\r\n\r\n" + ok + empty, "304, 200"),
        ("HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n" + ok + empty, "304, 200"),
        ("HTTP/1.1 205 No\r\n" + empty + ok + empty, "205, 200"), (ok + empty + ok + empty, "200, 200"),
        (goOn + ok + empty, "200"), (goOn + "HTTP/1.1 103 Early\r\nLink: a\r\n\r\n" + ok + empty, "200"),
        (goOn, ""), (goOn + "HTTP/1.1 1", "ends within a message"),
        ("HTTP/1.1 101 Switch\r\n\r\nother", "101"), (goOn + "HTTP/1.1 101 Switch\r\n\r\n", "101"),
        (String(repeating: goOn, count: 16) + ok + empty, "200"),
        (
            String(repeating: goOn, count: 16) + ok + empty + String(repeating: goOn, count: 16) + ok + empty,
            "200, 200"
        ),
        (String(repeating: goOn, count: 17) + ok + empty, "more than 16 interim answers"),
        (ok + String(repeating: "X: a\r\n", count: 7) + empty, "200"),
        (ok + String(repeating: "X: a\r\n", count: 8) + empty, "more than 8 header fields"),
        (ok + "X: " + String(repeating: "a", count: 400), "head over 400 bytes"),
        ("HTTP/1.1 302 Found\r\nLocation: /x\r\n" + empty, "302"),
        ("HTTP/1.1 400 No\r\nContent-Length: 1\r\n\r\nx", "400 x"),
        ("HTTP/1.1 500 \r\nContent-Length: 1\r\n\r\nx", "500 x"),
        ("HTTP/1.1 099 X\r\n" + empty, "no HTTP/1.1 start line"),
        ("HTTP/1.1 200 OK\u{0}\r\n" + empty, "control byte in the head"), ("", ""),
        ("HTTP", "ends within a message"),
    ]

    @Test(arguments: answerRows, [false, true])
    func anAnswerIsReadAsTheStandardSays(row: (text: String, outcome: String), byteByByte: Bool) {
        #expect(Self.answers(row.text, byteByByte: byteByByte) == row.outcome, "\(row.text.debugDescription)")
    }
}
