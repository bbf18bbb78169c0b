import Client
import Crypto
import Encodings
import Foundation
import HTTP1
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// What ntfy's app for Android sends, as its source makes it (ntfy-android, `HttpUtil.kt`, `ApiService.kt`,
/// `WsConnection.kt`; the order of the fields is OkHttp's): the same bytes, at a mailbox of the built node.
@EventLoop
@Suite(.serialized) struct AndroidRequestTests {
    private static let agent = "ntfy/1.22.1 (fdroid; Android 14; SDK 34)"

    /// - Parameter fields: Those that a WebSocket has more.
    private func request(
        _ target: String, _ stage: MailboxStage, token: String?, fields: String? = nil
    ) -> [UInt8] {
        let authorization = token.map {
            "Authorization: Basic \(Base64.encode(Array("phone:\($0)".utf8)))\r\n"
        }
        let host = "Host: 127.0.0.1:\(stage.port)\r\n"
        let text =
            "GET /\(target) HTTP/1.1\r\nUser-Agent: \(Self.agent)\r\n\(authorization ?? "")"
            + (fields.map { "\($0)\(host)" } ?? "\(host)Connection: Keep-Alive\r\n")
            + "Accept-Encoding: gzip\r\n\r\n"
        return Array(text.utf8)
    }

    private static let webSocket =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"

    /// A connection on which bytes are sent as they are.
    @EventLoop
    private final class Wire: StreamHandler {
        let stream: Reactor.Stream
        var received: [UInt8] = []
        private(set) var hasEnded = false

        init(_ stage: MailboxStage) async throws {
            stream = try await Reactor.Stream.connect(
                to: .host("127.0.0.1", port: stage.port), deadline: theRun)
            stream.handler = self
        }

        var text: String { String(decoding: received, as: UTF8.self) }

        func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
            received += bytes.withUnsafeBytes { Array($0) }
        }
        func stream(_ stream: Reactor.Stream, ended end: StreamEnd) { hasEnded = true }

        /// Returns when it is so.
        func wait(until isMet: (Wire) -> Bool) async {
            try? await until { isMet(self) }
        }

        /// Status line and body of the next answer; the connection stays.
        func answer() async -> (status: String, body: String) {
            var decoder = HTTPResponseDecoder()
            var answer: HTTPResponse?
            await wait { wire in
                decoder = HTTPResponseDecoder()
                let bytes = wire.received
                decoder.append(bytes.span.bytes)
                answer = try? decoder.next()
                return answer != nil
            }
            received = []
            return (
                answer.map { "\($0.status)" } ?? "none", String(decoding: answer?.body ?? [], as: UTF8.self)
            )
        }
    }

    @Test func theAppSubscribesPollsAndHoldsAConnection() async throws {
        let stage = try await MailboxStage()
        let (topic, token) = (stage.mailbox.topic, try #require(stage.mailbox.tokens["phone"]))
        // At subscribing: first without a user, then with one.
        let wire = try await Wire(stage)
        wire.stream.write(request("\(topic)/auth", stage, token: nil))
        #expect(["401", "403"].contains(await wire.answer().status), "the app asks for a user then")
        let second = try await Wire(stage)
        second.stream.write(request("\(topic)/auth", stage, token: token))
        #expect(await second.answer().status == "200")

        #expect(try await stage.send(try stage.mailbox.bisq1("one")))
        #expect(try await stage.waiting(until: 1) == 1)
        // On the same connection, which OkHttp keeps.
        second.stream.write(request("\(topic)/json?poll=1&since=all", stage, token: token))
        let polled = await second.answer()
        let line = try JSON(Array(polled.body.utf8))
        let id = try #require(line["id"]?.string)
        // What its parser needs, and what it shows.
        #expect(line["event"]?.string == "message" && line["topic"]?.string == topic)
        #expect(line["time"]?.integer != nil && line["title"]?.string == "Bisq")
        #expect(line["message"]?.string == "Something happened in Bisq. Open it to see what.")

        for target in ["json?since=\(id)", "ws?since=\(id)"] {
            let live = try await Wire(stage)
            let isSocket = target.hasPrefix("ws")
            live.stream.write(
                request(
                    "\(topic)/\(target)", stage, token: token, fields: isSocket ? Self.webSocket : nil))
            await live.wait { $0.text.contains(#""event":"open""#) }
            let head = live.text.lowercased()
            #expect(head.hasPrefix(isSocket ? "http/1.1 101 " : "http/1.1 200 "), "\(head)")
            #expect(!head.contains("permessage-deflate"), "nothing is compressed")
            #expect(!isSocket || live.text.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
            #expect(try await stage.send(try stage.mailbox.bisq1(target)))
            await live.wait { $0.text.contains(#""event":"message""#) }
            #expect(live.text.contains(#""title":"Bisq""#) && !live.hasEnded)
            live.stream.close()
        }
        await stage.close()
    }
}
