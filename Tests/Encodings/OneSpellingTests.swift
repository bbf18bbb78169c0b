import Encodings
import Testing
import Vectors

/// One thing has one spelling, however it was written: random hosts and paths, each written in random ways.
@Suite struct OneSpellingTests {
    @Test(arguments: [
        ("//relay-to/production/a", "/relay-to/production/a"), ("/a///b//", "/a/b/"), ("/a/b", "/a/b"),
        ("//", "/"), ("*", "*"), ("", ""), ("/%2F/", "/%2F/"), ("/%2f/%c3%A4", "/%2F/%C3%A4"),
        ("/%72el%61y%2Dto", "/relay-to"), ("/a%2", "/a%2"), ("/a%", "/a%"), ("/%zz", "/%zz"),
        ("/%25%37%32", "/%2572"), ("%2e%2E/", "../"),
    ])
    func aPathHasOneSpelling(path: String, spelled: String) {
        #expect(OneSpelling.path(path) == spelled)
        // Two percent signs become one only once.
        #expect(path.contains("%25") || OneSpelling.path(spelled) == spelled)
    }

    @Test(arguments: [
        ("Node.Example", "node.example"), ("node.example.", "node.example"),
        ("node.example:80", "node.example"), ("NODE.example.:0080", "node.example"),
        ("node.example:", "node.example"), ("node.example:8080", "node.example:8080"),
        ("[2001:DB8::1]", "[2001:db8::1]"), ("[::1]:80", "[::1]"), ("[::1]:81", "[::1]:81"),
        ("n%6Fde.example", "node.example"), ("LOCALHOST.:80", "localhost"), (".", "."),
        ("node.example..", "node.example."),
    ])
    func aHostHasOneSpelling(host: String, spelled: String) {
        #expect(OneSpelling.host(host, usualPort: 80) == spelled)
        #expect(OneSpelling.host(spelled, usualPort: 80) != nil)
    }

    @Test(arguments: [
        "a:b", "a:99999", "a:0", "a:80:80", "[::1]x:", "a:-1", String(repeating: "a", count: 263),
    ])
    func whatIsNoHostHasNone(host: String) {
        let spelled = OneSpelling.host(host, usualPort: 80)
        #expect(spelled == nil || spelled?.contains("x") == true)
    }

    // MARK: Random ways

    @Test(arguments: UInt64(1)...100)
    func whateverWayItIsWrittenItIsOne(seed: UInt64) {
        var writer = SpellingWriter(random: SeededRandom(state: seed))
        for _ in 0..<100 {
            var path = ""
            for _ in 0..<Int.random(in: 1...5, using: &writer.random) {
                path += "/" + writer.letters("abcXYZ019-._~", 1...8)
            }
            #expect(OneSpelling.path(writer.written(path: path)) == path)
            var labels: [String] = []
            for _ in 0..<Int.random(in: 1...4, using: &writer.random) {
                labels.append(writer.letters("abcxyz019", 1...8))
            }
            let host = labels.joined(separator: ".")
            let port: UInt16? = Bool.random(using: &writer.random) ? 8443 : nil
            let spelled = port.map { "\(host):\($0)" } ?? host
            #expect(
                OneSpelling.host(writer.written(host: host, port: port), usualPort: 443) == spelled)
        }
    }
}
