import Gateways
import HTTP1
import Terminal
import Testing

@testable import Onionbell

/// What the doctor makes of the phone's page as a web server serves it.
@Suite struct PhonePageJudgementTests {
    private static let key = String(repeating: "B", count: 87)
    private static let page = #"<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"#

    private static func answer(_ type: String, _ text: String) -> HTTPResponse {
        var answer = HTTPResponse(status: 200, body: Array(text.utf8))
        answer.fields.append("content-type", type)
        return answer
    }

    private static func parts(key: String) -> PhonePageParts {
        var index = answer("text/html", page)
        index.fields.append("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
        index.fields.append("x-content-type-options", "nosniff")
        return PhonePageParts(
            index: index,
            deployed: answer(
                "text/javascript", "export const version = \"\";\nexport const vapidKey = \"\(key)\";\n"),
            worker: answer("text/javascript; charset=utf-8", "//"))
    }

    private func verdict(_ change: (inout PhonePageParts) -> Void = { _ in }) -> Finding {
        var parts = Self.parts(key: Self.key)
        change(&parts)
        return Judgement.phonePage("phone_page", "here", .success(parts), key: Self.key)
    }

    @Test func aPageForThisNodeOrForAnyPasses() {
        #expect(verdict().verdict == .pass)
        #expect(verdict { $0 = Self.parts(key: "") }.verdict == .pass)
    }

    @Test func whatKeepsPhonesFromPairingFails() {
        let other = verdict { $0 = Self.parts(key: "C" + Self.key.dropFirst()) }
        #expect(other.verdict == .fail && other.words.contains("another node"), "\(other.words)")
        #expect(verdict { $0 = Self.parts(key: Self.key + "B") }.verdict == .fail)
        for status in [301, 404, 503] {
            #expect(verdict { $0.index.status = status }.verdict == .fail, "\(status)")
            #expect(verdict { $0.worker.status = status }.verdict == .fail, "\(status)")
        }
        #expect(verdict { $0.worker = Self.answer("text/plain", "//") }.verdict == .fail)
        #expect(verdict { $0.worker.fields = HTTPFields() }.verdict == .fail)
        // What a hotspot shows, and a server that has one page for everything.
        #expect(verdict { $0.index = Self.answer("text/html", "<html>log in</html>") }.verdict == .fail)
        #expect(verdict { $0.deployed = Self.answer("text/javascript", "//") }.verdict == .fail)
        for failure in [Dial.WebFailure.untrusted(reason: "x"), .unreachable(reason: "x")] {
            let finding = Judgement.phonePage("phone_page", "here", .failure(failure), key: Self.key)
            #expect(finding.verdict == .fail)
        }
    }

    @Test func missingHeadersAreAWarning() {
        #expect(verdict { $0.index = Self.answer("text/html", Self.page) }.verdict == .warn)
        #expect(Judgement.vapidKey(nil, contact: "").verdict == .warn)
        #expect(Judgement.vapidKey(Self.key, contact: "mailto:a@b.example").verdict == .pass)
    }
}
