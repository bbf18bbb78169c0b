import Doors
import HTTP1
import Testing

@testable import MailboxEndpoint

/// What a publisher's text may do on the device of who reads it.
@Suite struct PublishedReachTests {
    private func text(
        _ body: String = "text", query: String? = nil
    ) throws(MailboxFault) -> PublishedText {
        try PublishedText(
            HTTPRequest(method: "POST", path: "/mbtopic", query: query, body: Array(body.utf8)),
            at: 1_790_000_000_000)
    }

    private func takesClick(_ address: String) -> Bool { PublishedText.mayBeOpened(address) }

    @Test func controlCharactersAndTurnedLettersDoNotReachTheReader() throws {
        let text = try text(
            "a\u{1b}[2Jb\u{0}c\u{202e}d\u{2066}e\u{9b}f\tg\nh\u{7f}",
            query: "title=%1B%5BA%E2%80%AEx&tags=%07bell,ok")
        #expect(text.message == "a[2Jbcdef\tg\nh")
        #expect(text.title == "[Ax" && text.tags == ["bell", "ok"])
        // Joined emoji and letters of the right-to-left stay.
        #expect(try self.text("👩‍🚀 שלום").message == "👩‍🚀 שלום")
    }

    @Test(arguments: [
        "https://example.org/a?b#c", "http://192.168.1.4:8123/lights", "https://homecamera.lan/x",
        "mailto:a@b.example",
        "http://[64:ff9b::c0a8:104]/", "http://[2001:db8::1]/", "geo:1,2", "tel:+1", "ntfy://ntfy.sh/x",
        "twitter://user?screen_name=x", "http://abc.onion/",
    ])
    func anAddressThatOpensAPageOrAnAppIsTaken(address: String) { #expect(takesClick(address)) }

    @Test(arguments: [
        "javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:alert(1)", " javascript:alert(1)",
        "data:text/html,x", "file:///etc/passwd", "vbscript:x", "content://x", "intent://x#Intent;end",
        "http://127.0.0.1:9/", "http://LOCALHOST./", "http://a.localhost/", "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://[::]/",
        "https://user:pass@example.org/", "http://%31%32%37.0.0.1/", "no address", "//example.org",
        "http:///x",
        "https://", "http:127.0.0.1", "1javascript:x", "ws://127.0.0.1/", "ftp://localhost/x",
        "SMB://127.0.0.1/share", "ssh://a@[::1]/", "http://[64:ff9b::7f00:1]/",
        "http://[64:FF9B::127.0.0.1]/",
        "http://[2002:7f00:1::]/", "http://[64:ff9b::]/", "http://[::ffff:0:0]/", "http://[2002::1]/",
    ])
    func anAddressThatRunsOrReachesTheDeviceIsRefused(address: String) throws {
        #expect(!takesClick(address))
        let query =
            "click="
            + address.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(throws: MailboxFault.self) { try text(query: query) }
    }

    /// An icon is fetched by whoever shows the text, without a tap.
    @Test(arguments: [
        ("https://example.org/icon.png", true), ("http://icons.example.org/a", true),
        ("http://127.0.0.1:9/", false),
        ("http://192.168.1.1/icon.png", false), ("http://10.0.0.1/", false), ("https://8.8.8.8/", false),
        ("http://router/", false), ("http://printer.local/", false), ("http://x.lan./a", false),
        ("http://[2001:db8::1]/", false), ("http://[64:ff9b::a00:1]/", false),
        ("http://[2002:a00:1::]/", false),
        ("http://[::ffff:10.0.0.1]/", false), ("http://0xa000001/", false), ("http://1.2.3/", false),
        ("ftp://example.org/", false), ("https://user@example.org/", false),
        ("https://EXAMPLE.ORG:443/a", true),
    ])
    func anIconIsFetchedFromAPublicNameOnly(address: String, isTaken: Bool) {
        #expect(PublishedText.mayBeFetched(address) == isTaken)
    }
}
