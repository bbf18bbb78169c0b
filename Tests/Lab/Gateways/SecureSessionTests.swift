import Crypto
import HTTP2
import TLS
import Testing

@testable import Lab

/// HTTP/2 over TLS in memory: no sockets, no loop, cut anywhere.
@Suite struct SecureSessionTests {
    final class End<Session: HTTP2Session> {
        let tls: TLSSession
        let http2: Session

        init(_ tls: TLSSession, _ http2: Session) {
            self.tls = tls
            self.http2 = http2
        }

        /// What goes on the wire.
        func output() -> [UInt8] {
            var bytes: [UInt8] = []
            if tls.state == .open {
                var plain: [UInt8] = []
                while http2.takeOutput(into: &plain, upTo: plain.count + 65_536) {}
                tls.write(plain)
            }
            tls.takeOutput(into: &bytes)
            return bytes
        }
    }

    @Test(arguments: [1...1, 1...100, 1...2000, 20_000...70_000])
    func requestsArriveHoweverTheWireCuts(pieces: ClosedRange<Int>) async throws {
        let lab = await LabCredentials.prepared()
        let client = End(try TLSSession(to: "localhost", lab.clientContext()), HTTP2ClientSession())
        let server = End(
            TLSSession(serving: try lab.serverContext()), HTTP2ServerSession(maxConcurrentStreams: 50))
        let bodies = (0..<30).map { randomBytes($0 * 150) }
        for (tag, body) in bodies.enumerated() {
            client.http2.submit(
                HTTP2Headers(method: "POST", authority: "localhost", path: "/\(tag)"), body: body, tag: tag)
        }
        var answered: [Int: [UInt8]] = [:]
        var wasQuiet = false
        while !wasQuiet {
            wasQuiet = true
            cut(client.output(), pieces) { bytes in
                wasQuiet = false
                server.tls.receive(bytes) { server.http2.receive($0) }
                for case .request(let stream, let request) in server.http2.takeEvents() {
                    server.http2.respond(stream, status: 200, body: request.body.reversed())
                }
            }
            cut(server.output(), pieces) { bytes in
                wasQuiet = false
                client.tls.receive(bytes) { client.http2.receive($0) }
                for case .answered(let tag, let answer) in client.http2.takeEvents() {
                    answered[tag] = answer.body
                }
            }
        }
        #expect(answered.count == 30)
        for (tag, body) in bodies.enumerated() { #expect(answered[tag] == body.reversed()) }
        #expect(client.tls.negotiatedProtocol == "h2")
    }

    private func cut(_ bytes: [UInt8], _ pieces: ClosedRange<Int>, _ body: (RawSpan) -> Void) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: pieces))
            body(bytes.span.bytes.extracting(start..<end))
            start = end
        }
    }
}
