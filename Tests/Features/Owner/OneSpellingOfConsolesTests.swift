import HTTP1
import Testing

@testable import Owner

/// The console takes a host in whatever spelling browsers and people write it.
@Suite struct OneSpellingOfConsolesTests {
    private static let spellings: [@Sendable (String) -> String] = [
        { $0 }, { $0.uppercased() }, { $0 + "." }, { $0.uppercased() + "." },
        { String($0.prefix(1).utf8.map { "%" + String($0, radix: 16) }.joined()) + $0.dropFirst() },
    ]

    private static func request(to host: String) -> HTTPRequest {
        var request = HTTPRequest(method: "GET", path: "/")
        request.fields.append("host", host)
        return request
    }

    @Test(arguments: ["node.example", "localhost", "abcdefgh.onion"])
    func theConsoleIsFoundUnderEachSpellingOfItsName(name: String) {
        for (scheme, port) in [("http", 80), ("https", 443)] {
            let rules = ConsoleRules(origins: ["\(scheme)://\(name)"])
            for spell in Self.spellings {
                for end in ["", ":", ":\(port)", ":0\(port)"] {
                    let host = spell(name) + end
                    let request = Self.request(to: host)
                    #expect(rules.isForUs(request), "\(host)")
                }
                for end in [":81", ":\(port)0", "x", ":a"] {
                    let request = Self.request(to: spell(name) + end)
                    #expect(!rules.isForUs(request), "\(spell(name))\(end)")
                }
            }
        }
    }

    /// Programs of owners write a type as their library does, and a page of a stranger can send none of these unasked.
    @Test(arguments: ["application/json", "application/x-www-form-urlencoded"])
    func theConsoleTakesABodyWhoseTypeHasParameters(type: String) {
        let rules = ConsoleRules(origins: ["http://node.example"])
        func isTaken(_ contentType: String?) -> Bool {
            var request = HTTPRequest(method: "POST", path: "/", body: [1])
            for (name, value) in [
                ("host", "node.example"), ("origin", "http://node.example"), (ConsoleRules.field, "1"),
            ] { request.fields.append(name, value) }
            if let contentType { request.fields.append("content-type", contentType) }
            return (type == "application/json" ? rules.origin(ofChange:) : rules.origin(ofForm:))(request)
                != nil
        }
        for end in ["", ";charset=utf-8", "; charset=UTF-8", " ;x=y", ";"] {
            #expect(isTaken(type + end) && isTaken(type.uppercased() + end), "\(end)")
        }
        for other in [
            nil, "", "text/plain", "text/plain;\(type)", "\(type)x", "x\(type)", "\(type), text/plain",
        ] {
            #expect(!isTaken(other), "\(other ?? "none")")
        }
    }
}
