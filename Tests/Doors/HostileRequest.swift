import Testing

/// What a client may send by mistake or with evil intent, and the status it gets.
struct HostileRequest: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let status: Int
    /// Whether the stream has lost its message boundary: the server closes.
    let closes: Bool

    init(_ name: String, _ text: String, _ status: Int, closes: Bool = true) {
        self.init(name, Array(text.utf8), status, closes: closes)
    }

    init(_ name: String, _ bytes: [UInt8], _ status: Int, closes: Bool = true) {
        self.name = name
        self.bytes = bytes
        self.status = status
        self.closes = closes
    }

    var testDescription: String { name }

    static let host = "Host: x.onion\r\n"
    static let token = String(repeating: "0a", count: 32)
    private static let long = String(repeating: "a", count: 16_384)

    static func get(_ target: String) -> String { "GET \(target) HTTP/1.1\r\n\(host)\r\n" }

    private static func post(_ body: [UInt8], fields: String = "", path: String = "/v1/apns") -> [UInt8] {
        Array("POST \(path) HTTP/1.1\r\n\(host)\(fields)Content-Length: \(body.count)\r\n\r\n".utf8) + body
    }

    static let all: [HostileRequest] = targets + heads + bodies

    private static let targets = [
        HostileRequest("an absolute URI is a path", get("http://other.onion/relay"), 400, closes: false),
        HostileRequest("an absolute URI of another scheme", get("https://other.onion/relay"), 400),
        HostileRequest("a path with dots", get("/../relay?isAndroid=true"), 404, closes: false),
        HostileRequest("dots in a path", get("/v1/../relay"), 404, closes: false),
        HostileRequest("encoded dots", get("/%2e%2e/relay"), 404, closes: false),
        HostileRequest(
            "dots for a token",
            Array("POST /v1/apns/device/.. HTTP/1.1\r\n\(host)Content-Length: 2\r\n\r\n{}".utf8), 400,
            closes: false),
        HostileRequest(
            "no token", Array("POST /v1/apns/device/ HTTP/1.1\r\n\(host)Content-Length: 2\r\n\r\n{}".utf8),
            404,
            closes: false),
        HostileRequest("an unknown path", get("/"), 404, closes: false),
        HostileRequest("an asterisk", get("*"), 404, closes: false),
        HostileRequest(
            "another method for a GET", "POST /relay HTTP/1.1\r\n\(host)Content-Length: 0\r\n\r\n", 405,
            closes: false),
        HostileRequest("another method for a POST", get("/v1/fcm"), 405, closes: false),
        HostileRequest("NUL encoded in a token", get("/relay?token=%00&msg=41"), 400, closes: false),
        HostileRequest(
            "NUL encoded in a path", post(Array("{}".utf8), path: "/v1/fcm/device/%00"), 400, closes: false),
        HostileRequest("NUL in hex", get("/relay?token=\(token)&msg=00"), 400, closes: false),
        HostileRequest("not UTF-8 in hex", get("/relay?token=\(token)&msg=ff"), 400, closes: false),
        HostileRequest("not UTF-8 encoded", get("/relay?token=%ff&msg=41"), 400, closes: false),
        HostileRequest("half an encoding", get("/relay?token=%4"), 400, closes: false),
        HostileRequest("not hex after a percent", get("/relay?token=%zz"), 400, closes: false),
        HostileRequest("NUL in a target", get("/relay\0"), 400),
        HostileRequest(
            "not UTF-8 in a target", Array("GET /".utf8) + [0xff] + Array(" HTTP/1.1\r\n\(host)\r\n".utf8),
            400),
        HostileRequest("a blank in a target", get("/relay ?token=1"), 400),
    ]

    private static let heads = [
        HostileRequest("HTTP/0.9", "GET /relay\r\n", 400),
        HostileRequest("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        HostileRequest(
            "a hello of TLS",
            [0x16, 3, 1, 0, 0xc0, 1, 0, 0, 0xbc, 3, 3] + Array(repeating: 0x55, count: 200), 400),
        HostileRequest("a frame of the peer protocol", [0x0d, 8, 0x0a, 0x3a, 9, 8, 0xd2, 0x85], 400),
        HostileRequest(
            "two Content-Lengths",
            Array("POST /v1/apns HTTP/1.1\r\n\(host)Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}".utf8),
            400),
        HostileRequest(
            "Content-Length beside chunks",
            "POST /v1/apns HTTP/1.1\r\n\(host)Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400),
        HostileRequest(
            "a negative length", "POST /v1/apns HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n", 400),
        HostileRequest(
            "a length that is a list", "POST /v1/apns HTTP/1.1\r\n\(host)Content-Length: 2, 2\r\n\r\n{}", 400),
        HostileRequest(
            "a length beyond all numbers",
            "POST /v1/apns HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999\r\n\r\n", 413),
        HostileRequest(
            "a coding that nobody knows",
            "POST /v1/apns HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n", 501),
        HostileRequest("no body", "POST /v1/apns HTTP/1.1\r\n\(host)\r\n", 400, closes: false),
        HostileRequest("no Host", "GET /relay HTTP/1.1\r\n\r\n", 400),
        HostileRequest("two Hosts", "GET /relay HTTP/1.1\r\n\(host)\(host)\r\n", 400),
        HostileRequest("a folded field", "GET /relay HTTP/1.1\r\n\(host)A: b\r\n c\r\n\r\n", 400),
        HostileRequest(
            "a blank before a colon", "GET /relay HTTP/1.1\r\n\(host)Content-Length : 2\r\n\r\n{}", 400),
        HostileRequest("lines without CR", "GET /relay HTTP/1.1\nHost: x\n\n", 400),
        HostileRequest("NUL in a method", "G\0ET /relay HTTP/1.1\r\n\(host)\r\n", 400),
        HostileRequest("NUL in a name", "GET /relay HTTP/1.1\r\n\(host)A\0: b\r\n\r\n", 400),
        HostileRequest("NUL in a value", "GET /relay HTTP/1.1\r\n\(host)A: b\0\r\n\r\n", 400),
        HostileRequest(
            "not UTF-8 in a name",
            Array("GET /relay HTTP/1.1\r\n\(host)".utf8) + [0xc3, 0x28] + Array(": b\r\n\r\n".utf8), 400),
        HostileRequest(
            "not UTF-8 in a value",
            Array("GET /relay HTTP/1.1\r\n\(host)A: ".utf8) + [0xff, 0xfe] + Array("\r\n\r\n".utf8), 400,
            closes: false),
        HostileRequest("a request line without end", "GET /\(long)", 414),
        HostileRequest("a head without end", "GET / HTTP/1.1\r\nA: \(long)", 431),
        HostileRequest(
            "a thousand fields", "GET / HTTP/1.1\r\n\(host)\(String(repeating: "a: b\r\n", count: 1000))\r\n",
            431),
        HostileRequest(
            "another expectation",
            "POST /v1/apns HTTP/1.1\r\n\(host)Expect: cake\r\nContent-Length: 2\r\n\r\n", 417),
    ]

    private static let bodies = [
        HostileRequest(
            "a body too long", "POST /v1/apns HTTP/1.1\r\n\(host)Content-Length: 32769\r\n\r\n", 413),
        HostileRequest(
            "chunks without end",
            "POST /v1/apns HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "400\r\n\(String(repeating: "a", count: 1024))\r\n", count: 33), 413),
        HostileRequest(
            "chunks of one byte without end",
            "POST /v1/apns HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "1\r\na\r\n", count: 32_769), 413),
        HostileRequest(
            "a chunk's size without end",
            "POST /v1/apns HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n\(String(repeating: "0", count: 8192))",
            400),
        HostileRequest(
            "an extension without end",
            "POST /v1/apns HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n1;\(long)", 400),
        HostileRequest(
            "trailers without end",
            "POST /v1/apns HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n\(String(repeating: "a: b\r\n", count: 1000))",
            400),
        HostileRequest(
            "a chunk of a size beyond all numbers",
            "POST /v1/apns HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 413),
        HostileRequest("NUL in a body", post([0]), 400, closes: false),
        HostileRequest(
            "NUL in a text of a body", post(Array("{\"encrypted\":\"\0\"}".utf8)), 400, closes: false),
        HostileRequest(
            "not UTF-8 in a body", post(Array("{\"encrypted\":\"".utf8) + [0xff] + Array("\"}".utf8)), 400,
            closes: false),
        HostileRequest("an empty body", post([]), 400, closes: false),
        HostileRequest(
            "a body of brackets", post(Array(repeating: UInt8(ascii: "["), count: 32_768)), 400, closes: false
        ),
        HostileRequest("a body that is a list", post(Array("[]".utf8)), 400, closes: false),
        HostileRequest(
            "a key twice, of which the last counts",
            post(Array(#"{"isUrgent":true,"isUrgent":"false","encrypted":"QQ=="}"#.utf8)), 400, closes: false),
        HostileRequest(
            "text for a boolean", post(Array(#"{"encrypted":"QQ==","isUrgent":"true"}"#.utf8)), 400,
            closes: false),
        HostileRequest(
            "another type", post(Array("{}".utf8), fields: "Content-Type: text/plain\r\n"), 415, closes: false
        ),
    ]
}
