import Doors
import HTTP1
import Testing

@testable import MailboxEndpoint

/// Nothing that a publisher sends is lost for its length: it is shortened, and says so.
@Suite struct PublishedLengthTests {
    private func text(_ path: String, _ fields: [String: String], _ body: String) throws -> PublishedText {
        var request = HTTPRequest(method: "POST", path: path, body: Array(body.utf8), isKeptAlive: false)
        if let mark = path.firstIndex(of: "?") {
            request.path = String(path[..<mark])
            request.query = String(path[mark...].dropFirst())
        }
        for (name, value) in fields { request.fields.append(name, value) }
        return try PublishedText(request, at: 0)
    }

    private func times(_ count: Int, _ text: String = "x") -> String { String(repeating: text, count: count) }

    /// The last that is kept whole, and the first that is not.
    @Test func aLongTitleIsCutAndSaysSo() throws {
        #expect(try text("/mbmine", ["title": times(2000)], "m").title == times(2000))
        let cut = try text("/mbmine", ["title": times(2001)], "m")
        #expect(cut.title.utf8.count <= 250 && cut.title.hasSuffix("more bytes were cut off)"))
        #expect(cut.message == "m")
    }

    @Test func tagsAndAddressesThatHaveNoRoomAreNamed() throws {
        let tags = (1...30).map { "t\($0)" }.joined(separator: ",")
        let some = try text("/mbmine", ["tags": tags], "m")
        #expect(some.tags.count == 20 && some.message == "m … (too long, left out: 10 tags)")
        let none = try text(
            "/mbmine", ["click": "https://x.example/\(times(3000))", "tags": "a"], times(5000))
        #expect(none.click.isEmpty && none.tags == ["a"])
        #expect(none.message.utf8.count <= 4096 && none.message.hasSuffix(" … (too long, left out: click)"))
    }

    @Test(arguments: [2, 40, 400]) func alertsThatHaveNoRoomAreCounted(count: Int) throws {
        let alert =
            #"{"status":"firing","labels":{"alertname":"A"},"annotations":{"summary":"\#(times(200))"}}"#
        let alerts = (0..<count).map { _ in alert }.joined(separator: ",")
        let shown = try text(
            "/mbmine?template=alertmanager", [:], #"{"status":"firing","alerts":[\#(alerts)]}"#)
        let parts = shown.message.split(separator: "\n\n")
        let (listed, left) = (parts.count { $0.hasPrefix("Alert: A") }, parts.last?.contains("more alerts"))
        #expect(shown.message.utf8.count <= 4096 && (left == true) == (count > 2))
        #expect(count == 2 ? listed == 2 : parts.last == "… (\(count - listed) more alerts)")
    }
}
