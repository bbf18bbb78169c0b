import HTTP1
import Testing
import Vectors

/// A stranger's text costs what its length says, whatever is in it.
@Suite struct HostileTextTests {
    @Test(arguments: ["Expect", "Transfer-Encoding", "Connection", "Content-Length", "X"])
    func aFieldCostsWhatItsLengthSays(name: String) {
        let ratio = HostileText.ratio(bytes: 60_000) { text in
            var decoder = HTTPRequestDecoder(limits: HTTPLimits(head: 100_000))
            decoder.append(
                Array("POST / HTTP/1.1\r\nHost: a\r\n\(name): \(text)\r\n\r\n".utf8).span.bytes)
            _ = try? decoder.next()
        }
        #expect(ratio < 20)
    }

    @Test func aVersionCostsWhatItsLengthSays() {
        let ratio = HostileText.ratio(bytes: 60_000) { text in
            var decoder = HTTPRequestDecoder(limits: HTTPLimits(head: 100_000))
            decoder.append(Array("POST / \(text)\r\nHost: a\r\n\r\n".utf8).span.bytes)
            _ = try? decoder.next()
        }
        #expect(ratio < 20)
    }

    @Test func aParametersNameCostsWhatItsLengthSays() {
        let ratio = HostileText.ratio(bytes: 60_000) { text in
            let query = try? HTTPQuery("\(text)=1&\(text)a=2&b=3")
            #expect(query?["b"] == "3" && query?["c"] == nil)
        }
        #expect(ratio < 20)
    }

    @Test func aDateCostsWhatItsLengthSays() {
        let ratio = HostileText.ratio(bytes: 60_000) { text in
            #expect(RetryAfter.duration(text, now: 0) == nil)
            #expect(HTTPDate.seconds("Sun, \(text) GMT", now: 0) == nil)
        }
        #expect(ratio < 20)
    }

    @Test func aFormHasAHundredParametersAtMost() throws {
        let names = (0..<HTTPQuery.most).map { "a\($0)=1" }
        #expect(try HTTPQuery(names.joined(separator: "&"))["a99"] == "1")
        #expect(throws: HTTPFault.tooManyFields(limit: HTTPQuery.most)) {
            try HTTPQuery((names + ["b=1"]).joined(separator: "&"))
        }
    }
}
