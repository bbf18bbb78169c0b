import Crypto
import Encodings
import Foundation
import HTTP1
import Reactor
import Testing
import Vectors
import Wire

@testable import Client

/// The Lab's senders over HTTP ask as Bisq's own do.
@Suite struct HTTPSenderTests {
    struct Get: Decodable {
        var name: String
        var path_and_query: String
        var headers: [String: String]?
    }

    @Test(arguments: [
        ("TRADE for iOS", Platform.ios, "iPhone X"), ("OFFER for iOSDev", .iosDev, "iPhone 8"),
    ])
    func bisq1AsksWithItsParametersInItsOrder(name: String, platform: Platform, model: String) throws {
        let vector = try #require(
            try Vectors.bisq("relay_get", as: [Get].self).first { $0.name == name })
        let parts = vector.path_and_query.split(separator: "?")
        let expected = parts[1].split(separator: "&")
        let hex = try #require(expected.first { $0.hasPrefix("token=") }).dropFirst(6)
        let token = try PairingToken(
            platform: platform, descriptor: model, key: String(repeating: "k", count: 32),
            deviceToken: String(decoding: bytes(hex: String(hex)), as: UTF8.self))
        let message = PhoneText(sentDate: 1, title: "t", message: "m", kind: .trade)
        let request = try BisqSender(to: token).httpRequest(for: message)
        #expect(request.method == "GET")
        #expect(request.path == parts[0])
        let sent = try #require(request.query).split(separator: "&")
        // The vector's phone wants no sound; its message has another IV.
        #expect(sent.map { $0.split(separator: "=")[0] } == expected.map { $0.split(separator: "=")[0] })
        for (ours, theirs) in zip(sent, expected)
        where !theirs.hasPrefix("msg=") && !theirs.hasPrefix("snd=") {
            #expect(ours == theirs)
        }
        let text = String(decoding: bytes(hex: String(sent[5].dropFirst(4))), as: UTF8.self)
        #expect(try Phone(token).open(text) == message)
        let agent = try #require(request.fields["User-Agent"])
        #expect(agent.count == vector.headers?["User-Agent"]?.count)
    }

    struct Post: Decodable, Sendable {
        struct Body: Decodable, Sendable { var encrypted: String }
        var name: String
        var path: String
        var body: Body
        var symmetric_key_base64: String?
        var plaintext: String?
    }

    @Test(arguments: try! Vectors.bisq("relay_post", as: [Post].self).filter { $0.plaintext != nil })
    func bisqConnectOpensWhatBisq2Seals(vector: Post) throws {
        let key = try #require(vector.symmetric_key_base64.flatMap(Base64.decode))
        let parts = vector.path.split(separator: "/")
        let phone = try ConnectPhone(
            platform: parts[1] == "fcm" ? .android : .ios, deviceToken: String(parts[3]), key: key)
        let message = try phone.open(vector.body.encrypted)
        #expect(String(decoding: message.json, as: UTF8.self) == vector.plaintext)
        let sealed = try phone.seal(message)
        #expect(sealed != vector.body.encrypted)
        #expect(try phone.open(sealed) == message)
        #expect(phone.request(for: sealed).path == vector.path)
        #expect(throws: PhoneError.unreadableText) { try phone.open(String(sealed.reversed())) }
    }

    /// Answers whatever comes with these bytes, then closes.
    @EventLoop
    private final class Server: StreamHandler {
        var listener: Listener!
        private var streams: [Reactor.Stream] = []
        private let answer: String

        init(_ answer: String) throws {
            self.answer = answer
            listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
                streams.append(stream)
                stream.handler = self
            }
        }

        func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
            stream.write(Array(answer.utf8))
            stream.closeWhenFlushed()
        }
        func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {}
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsuccess", "success"),
        ("HTTP/1.0 200 OK\r\n\r\nsuccess", "success"), ("", nil), ("SSH-2.0-x\r\n", nil),
        ("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsucc", nil),
    ])
    @EventLoop func anExchangeEndsWithItsAnswerOrASentence(answer: String, body: String?) async throws {
        let server = try Server(answer)
        do {
            let got = try await HTTPExchange.answer(
                to: HTTPRequest(method: "GET", path: "/relay", isKeptAlive: false), host: "x.onion",
                by: .direct(server.listener.endpoint), deadline: .seconds(20))
            #expect(String(decoding: got.body, as: UTF8.self) == body)
        } catch {
            #expect(body == nil)
            #expect(!error.description.isEmpty)
        }
        server.listener.close()
    }
}
