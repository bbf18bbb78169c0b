import Clocks
import Crypto
import HTTP1
import Relay
import Testing

@testable import Owner

/// Who may enter the console, with times that the test gives.
@Suite struct ConsoleAccessTests {
    /// Whose calls may change what is asked within an expectation.
    private final class Asked {
        var access = ConsoleAccess(nil)
        var attempts = Rates<Int>(Rate(perSecond: 1, burst: 3), most: 1000)

        func spend(_ text: String, at now: MonotonicTime) -> Bool { access.spendLink(text, at: now) }
        func mayTry(_ sender: Int, at now: MonotonicTime) -> Bool {
            attempts.take(by: sender, at: now) == .zero
        }
    }

    private let secret = [UInt8](repeating: 7, count: 20)
    private let quarter: MonotonicTime = 900_000_000_000

    private func random(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    /// A clock that was years ahead has dated it: it lives no longer than one of today.
    @Test func noSessionLivesLongerThanOneThatBeginsNow() {
        var access = ConsoleAccess(nil)
        let (now, life) = (Int64(2_000_000_000), ConsoleAccess.sessionLifetime.components.seconds)
        let future = access.enter(with: random(0), at: now + 10 * life)
        let usual = access.enter(with: random(1), at: now - 1000)
        access.boundSessions(at: now)
        #expect(access.isSession(future, at: now + life - 1) && !access.isSession(future, at: now + life))
        #expect(!access.isSession(usual, at: now + life - 1000))
    }

    @Test func aLinkIsGoodOnceAndForAQuarterOfAnHour() {
        let asked = Asked()
        #expect(!asked.spend("", at: 0))
        let text = asked.access.makeLink(of: secret, at: 0)
        #expect(text.utf8.count == 27)
        #expect(!asked.spend(text + "A", at: 0))
        #expect(!asked.spend("", at: 0))
        #expect(!asked.spend(text, at: quarter))
        #expect(asked.spend(text, at: quarter - .nanoseconds(1)))
        #expect(!asked.spend(text, at: quarter - .nanoseconds(1)))
        #expect(!asked.access.hasOwner)
    }

    @Test func anotherLinkEndsTheOneBefore() {
        let asked = Asked()
        let old = asked.access.makeLink(of: secret, at: 0)
        let new = asked.access.makeLink(of: [UInt8](repeating: 8, count: 20), at: 1)
        #expect(!asked.spend(old, at: 2))
        #expect(asked.spend(new, at: 2))
    }

    @Test func aSessionEndsAfterThirtyDaysAndTheOldestForOneMore() {
        var access = ConsoleAccess(nil)
        let first = access.enter(with: random(0), at: 1000)
        #expect(access.hasOwner)
        let end: Int64 = 1000 + 30 * 86_400
        #expect(access.isSession(first, at: end - 1))
        #expect(!access.isSession(first, at: end))
        #expect(!access.isSession("", at: 1000) && !access.isSession(first + "x", at: 1000))
        for byte in 1..<UInt8(ConsoleAccess.mostSessions) {
            _ = access.enter(with: random(byte), at: 1001)
        }
        #expect(access.isSession(first, at: 1002))
        _ = access.enter(with: random(99), at: 1001)
        #expect(!access.isSession(first, at: 1002))
        #expect(access.saved?.sessions.count == ConsoleAccess.mostSessions)
        // What has ended makes room without anybody's loss.
        _ = access.enter(with: random(100), at: end + 10)
        #expect(access.saved?.sessions.count == 1)
    }

    @Test func theBrowsersThatHaveEnteredAreKnownByTheirLastUseAndAreEnded() {
        var access = ConsoleAccess(nil)
        let (one, other) = (access.enter(with: random(1), at: 0), access.enter(with: random(2), at: 0))
        // The first use is written down, then another browser, and each hour.
        var written: [Bool] = []
        for (browser, time) in [
            ("Firefox, Linux", Int64(100)), ("Firefox, Linux", 3699), ("Firefox, Linux", 3700),
            ("Chrome, Android", 3701),
        ] {
            written.append(access.noteUse(of: one, by: browser, at: time))
        }
        written.append(access.noteUse(of: "", by: "Chrome, Android", at: 200))
        #expect(written == [true, false, true, true, false])
        let sessions = access.sessions(of: one, at: 4000)
        #expect(sessions.map(\.isOwn) == [true, false])
        #expect(sessions.map(\.session.browser) == ["Chrome, Android", ""])
        #expect(sessions.map(\.session.used) == [3701, 0])
        let id = sessions[1].session.id
        var ended: [Bool] = []
        for text in ["", id + "0", id, id] { ended.append(access.end(text)) }
        #expect(ended == [false, false, true, false])
        #expect(access.isSession(one, at: 4000) && !access.isSession(other, at: 4000))
        #expect(access.sessions(of: one, at: 30 * 86_400).isEmpty)
    }

    @Test(arguments: [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        (
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
            "Chrome, Android"
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
            "Safari, iPhone"
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36 Edg/142.0",
            "Edge, Windows"
        ),
        ("curl/8.5.0", ""), ("", ""), ("<script>, Linux", "Linux"),
        (String(repeating: "x", count: 512) + "Firefox/1", ""),
    ])
    func aBrowserIsNamedInAWordOrTwo(userAgent: String, name: String) {
        #expect(BrowserName.name(of: userAgent) == name)
        #expect(BrowserName.isName(name))
        #expect(!BrowserName.isName("Firefox, <b>") && !BrowserName.isName("a"))
    }

    /// All that somebody may have made for himself who knew the old one.
    @Test func anotherPassphraseEndsOtherSessionsMarksAndTheLink() throws {
        var access = ConsoleAccess(nil)
        let (one, other) = (access.enter(with: random(1), at: 0), access.enter(with: random(2), at: 0))
        let digest = try PassphraseDigest(of: Secret(Array("correct horse".utf8)))
        let (mark, link) = (access.addMark(of: random(3)), access.makeLink(of: secret, at: 0))
        #expect(access.mark(mark) != nil)
        access.setPassphrase(digest, by: one)
        #expect(access.isSession(one, at: 1) && !access.isSession(other, at: 1))
        let isSpent = access.spendLink(link, at: 1)
        #expect(access.mark(mark) == nil && !isSpent)
        func isRight(_ text: String) throws -> Bool {
            try PassphraseDigest(of: Secret(Array(text.utf8)), salt: digest.salt) == digest
        }
        #expect(try isRight("correct horse") && !isRight("correct horsf"))
        access.leave(one)
        #expect(!access.isSession(one, at: 1) && access.hasOwner)
    }

    @Test func aMarkOpensNothingAndTheOldestGivesWay() {
        var access = ConsoleAccess(nil)
        _ = access.enter(with: random(0), at: 0)
        let first = access.addMark(of: random(1))
        #expect(access.mark(first) != nil && !access.isSession(first, at: 1))
        #expect(access.mark("") == nil && access.mark(first + "A") == nil)
        for byte in 2...UInt8(ConsoleAccess.mostMarks) { _ = access.addMark(of: random(byte)) }
        #expect(access.mark(first) != nil)
        let last = access.addMark(of: random(99))
        #expect(access.mark(first) == nil && access.saved?.marks.count == ConsoleAccess.mostMarks)
        // A browser that enters again has one mark.
        let next = access.addMark(of: random(100), inPlaceOf: last)
        #expect(access.mark(last) == nil && access.mark(next) != nil)
        #expect(access.saved?.marks.count == ConsoleAccess.mostMarks)
    }

    @Test func whoTriesOftenUsesUpHisOwnShareOnly() {
        let asked = Asked()
        for _ in 0..<3 { #expect(asked.mayTry(1, at: 0)) }
        #expect(!asked.mayTry(1, at: 0))
        #expect(asked.mayTry(2, at: 0))
        #expect(asked.mayTry(1, at: 1_000_000_000))
    }

    /// Those of a crowd share what one has, and the table grows no further.
    @Test func aCrowdIsRememberedWithinBounds() {
        let asked = Asked()
        for sender in 1...1000 { #expect(asked.mayTry(sender, at: 0)) }
        #expect((1...10).count { asked.mayTry(10_000 + $0, at: 0) } == 3)
        #expect(asked.mayTry(5, at: 0))
        // Those whose share is whole again make room.
        #expect((1...10).allSatisfy { asked.mayTry(20_000 + $0, at: 10_000_000_000) })
    }

    // MARK: Browsers

    private let rules = ConsoleRules(
        origins: ["http://127.0.0.1:9480", "http://localhost:9480", "https://node.example.org"])

    private func change(
        host: String = "127.0.0.1:9480", _ fields: [(String, String)], body: String = "{}"
    ) -> String? {
        var request = HTTPRequest(method: "POST", path: "/api/v1/session", body: Array(body.utf8))
        request.fields.append("host", host)
        for (name, value) in fields { request.fields.append(name, value) }
        return rules.isForUs(request) ? rules.origin(ofChange: request) : nil
    }

    private let good = [
        ("origin", "http://127.0.0.1:9480"), ("onionbell-console", "1"),
        ("content-type", "application/json"), ("sec-fetch-site", "same-origin"),
    ]

    private func good(_ name: String, _ value: String?) -> [(String, String)] {
        good.filter { $0.0 != name } + (value.map { [(name, $0)] } ?? [])
    }

    @Test func aChangeComesFromOurOwnPage() {
        #expect(change(good) == "http://127.0.0.1:9480")
        #expect(change(good("sec-fetch-site", nil)) != nil)
        #expect(
            change(host: "node.example.org", good("origin", "https://node.example.org"))
                == "https://node.example.org")
        for (name, value) in [
            ("origin", nil), ("origin", "null"), ("origin", "http://evil.example"),
            ("origin", "http://127.0.0.1:9481"), ("origin", "https://127.0.0.1:9480"),
            ("origin", "http://localhost:9480"), ("origin", "http://127.0.0.1:9480/"),
            ("onionbell-console", nil), ("onionbell-console", "0"), ("content-type", nil),
            ("content-type", "text/plain"), ("sec-fetch-site", "same-site"),
            ("sec-fetch-site", "cross-site"), ("sec-fetch-site", ""),
        ] as [(String, String?)] {
            #expect(change(good(name, value)) == nil, "\(name): \(value ?? "none")")
        }
        // Of two the worse one counts, in whatever order.
        #expect(change(good + [("origin", "http://evil.example")]) == nil)
        #expect(change([("origin", "http://evil.example")] + good) == nil)
        #expect(change(good + [("sec-fetch-site", "cross-site")]) == nil)
    }

    /// A link is copied as a whole, with blanks around it, or out of a mail that has broken it.
    @Test func aPastedLinkHasItsSecretTakenOut() {
        let secret = "aB3-_xyz0123456789"
        for text in [
            secret, " \(secret)\n", "http://127.0.0.1:9480/#enter=\(secret)",
            "https://node.example.org/#enter=\(secret) ",
            "http://127.0.0.1:9480/#en\r\nter=aB3-_xyz\r\n0123456789",
            "<http://127.0.0.1:9480/#enter=\(secret)>", "\"\(secret)\"", "“\(secret)”", "(\(secret)).",
            "http://127.0.0.1:9480/%23enter=\(secret)", "enter=\(secret)",
        ] {
            #expect(ConsoleDoor.secret(inLink: text) == secret, "\(text)")
        }
        #expect(ConsoleDoor.secret(inLink: "") == "")
        let long = String(repeating: "#enter=", count: 100)
        #expect(ConsoleDoor.secret(inLink: long) == long)
    }

    /// Proxies hand on the port that `https` has anyway, people write a dot at the end, and names have no case.
    @Test func ourNameHasOneSpelling() {
        for host in [
            "node.example.org:443", "NODE.Example.org", "node.example.org.", "Node.example.org.:443",
        ] {
            for origin in ["https://node.example.org", "https://\(host)"] {
                #expect(
                    change(host: host, good("origin", origin)) == "https://node.example.org",
                    "\(host) \(origin)")
            }
        }
        #expect(change(host: "LocalHost:9480", good("origin", "http://localhost:9480")) != nil)
        // The port of another scheme is another port.
        for host in ["node.example.org:80", "node.example.org..", "node.example.org:443:443", ":443", "."] {
            #expect(change(host: host, good("origin", "https://node.example.org")) == nil, "\(host)")
        }
    }

    @Test func noOtherNameIsOurs() {
        for host in [
            "evil.example", "evil.example:9480", "127.0.0.1", "127.0.0.1:9481", "127.0.0.1:9480.evil.example",
            "0.0.0.0:9480", "[::1]:9480", "127.1:9480", "node.example.org.", "node.example.org:443", "",
        ] { #expect(change(host: host, good) == nil, "\(host)") }
        #expect(change(host: "localhost:9480", good("origin", "http://localhost:9480")) != nil)
    }
}
