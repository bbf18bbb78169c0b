import HTTP1
import HTTP2
import Reactor
import Testing

@testable import Gateways

/// What of an answer's head is read, over both versions of HTTP: a date counts from the answer's own.
@Suite struct AnswerFieldsTests {
    private let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private let end = "Sun, 06 Nov 1994 08:50:37 GMT"

    @Test func overHTTP2() throws {
        let client = HTTP2ClientSession(
            keeping: GatewayAnswer.fields, ofErrors: GatewayAnswer.fieldsOfErrors)
        let server = HTTP2ServerSession(maxConcurrentStreams: 10)
        func carry(_ from: HTTP2Session, _ to: HTTP2Session) {
            var bytes: [UInt8] = []
            while from.takeOutput(into: &bytes, upTo: bytes.count + 65_536) {}
            to.receive(bytes.span.bytes)
        }
        client.submit(HTTP2Headers(method: "POST", authority: "a", path: "/"), body: [], tag: 1)
        carry(client, server)
        for case .request(let stream, _) in server.takeEvents() {
            var headers = HTTP2Headers()
            headers.add("date", date)
            headers.add("retry-after", end)
            headers.add("x-wns-notificationstatus", "dropped")
            headers.add("content-type", "text/html")
            headers.add("www-authenticate", "Basic")
            server.respond(stream, status: 429, headers: headers)
        }
        carry(server, client)
        let answers = client.takeEvents().compactMap {
            if case .answered(_, let response) = $0 { GatewayAnswer(response) } else { nil }
        }
        #expect(answers.map(\.retryAfter) == [.seconds(60)])
        #expect(answers.map(\.windowsStatus) == ["dropped"])
        #expect(answers.map(\.contentType) == ["text/html"] && answers.map(\.challenge) == ["Basic"])
    }

    @Test func overHTTP1() {
        let client = HTTP1ClientSession(host: "a")
        client.submit(HTTP2Headers(method: "POST", authority: "a", path: "/"), body: [], tag: 1)
        let text =
            "HTTP/1.1 429 X\r\nDate: \(date)\r\nRetry-After: \(end)\r\nX-WNS-Status: dropped\r\nContent-Type: text/html\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
        client.receive(Array(text.utf8).span.bytes)
        var answers: [GatewayAnswer] = []
        client.takeEvents { if case .answered(_, let answer) = $0 { answers.append(answer) } }
        #expect(answers.map(\.retryAfter) == [.seconds(60)] && answers.map(\.windowsStatus) == ["dropped"])
        #expect(answers.map(\.contentType) == ["text/html"] && answers.map(\.challenge) == ["Basic"])
    }
}
