import Foundation
import HTTP1
import Reactor
import Testing

@testable import Client

/// WebSockets: the frames by the examples of RFC 6455 and at their limits, and both ends with each other.
@Suite struct WebSocketTests {
    private func messages(
        _ bytes: [UInt8], isMasked: Bool = false, limit: Int = 1 << 20, step: Int = 1
    ) throws -> [WebSocketMessage] {
        var decoder = WebSocketDecoder(isMasked: isMasked, limit: limit)
        var messages: [WebSocketMessage] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            decoder.append(bytes[start..<min(start + step, bytes.count)].span.bytes)
            while let message = try decoder.next() { messages.append(message) }
        }
        return messages
    }

    /// Section 5.7.
    @Test(arguments: [1, 2, 1000]) func theExamplesAreRead(step: Int) throws {
        let hello: [UInt8] = [0x48, 0x65, 0x6c, 0x6c, 0x6f]
        #expect(try messages([0x81, 5] + hello, step: step) == [.text("Hello")])
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        #expect(try messages(masked, isMasked: true, step: step) == [.text("Hello")])
        // In two frames, with a ping between them.
        let cut: [UInt8] = [1, 3, 0x48, 0x65, 0x6c] + [0x89, 5] + hello + [0x80, 2, 0x6c, 0x6f]
        #expect(try messages(cut, step: step) == [.ping(hello), .text("Hello")])
        #expect(
            try messages([0x88, 2, 3, 0xE8, 0x88, 0], step: step) == [.close(code: 1000), .close(code: nil)])
        #expect(WebSocketMessage.text("Hello").encoded(mask: nil) == [0x81, 5] + hello)
        #expect(WebSocketMessage.text("Hello").encoded(mask: [0x37, 0xfa, 0x21, 0x3d]) == masked)
        #expect(WebSocketMessage.pong(hello).encoded(mask: nil) == [0x8A, 5] + hello)
    }

    @Test(arguments: [0, 125, 126, 65535, 65536, 100_000], [true, false])
    func everyLengthComesThrough(length: Int, isMasked: Bool) throws {
        let text = String(repeating: "é", count: length / 2) + (length.isMultiple(of: 2) ? "" : "x")
        let frame = WebSocketMessage.text(text).encoded(mask: isMasked ? [1, 2, 3, 4] : nil)
        #expect(try messages(frame, isMasked: isMasked, limit: length, step: 1000) == [.text(text)])
        guard length > 125 else { return }
        #expect(throws: WebSocketFault.tooLong) {
            try messages(frame, isMasked: isMasked, limit: length - 1, step: 1000)
        }
    }

    @Test(
        arguments: [
            ([0xC1, 0], WebSocketFault.form), ([0x83, 0], .form), ([0x8B, 0], .form), ([0x81, 0x80], .form),
            ([0x80, 0], .form), ([1, 0, 0x81, 0], .form), ([9, 0], .form), ([0x89, 126], .form),
            ([0x88, 1, 3], .form), ([0x82, 0], .notText), ([0x81, 1, 0xFF], .notUnicode),
            ([0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], .tooLong),
            ([0x81, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .tooLong),
            // Many frames make no longer message than one.
            (
                [1, 100] + [UInt8](repeating: 65, count: 100) + [0, 100] + [UInt8](repeating: 65, count: 100),
                .tooLong
            ),
        ] as [([UInt8], WebSocketFault)]) func whatNoWebSocketSaysIsRefused(
            bytes: [UInt8], fault: WebSocketFault
        )
    {
        #expect(throws: fault) { try messages(bytes, limit: 150) }
    }

    // MARK: Both ends

    @EventLoop
    private final class Server {
        var listener: Listener!
        var handlers: [Handler] = []
        var sockets: [WebSocket] = []
        var response: [UInt8]?

        @EventLoop
        final class Handler: StreamHandler {
            unowned let server: Server
            let stream: Reactor.Stream
            var decoder = HTTPRequestDecoder()

            init(_ server: Server, _ stream: Reactor.Stream) {
                self.server = server
                self.stream = stream
                stream.handler = self
            }

            func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
                decoder.append(bytes)
                guard let request = try? decoder.next() else { return }
                stream.write(
                    server.response ?? WebSocket.answer(to: request) ?? Array("HTTP/1.1 400 No\r\n\r\n".utf8))
                let socket = WebSocket(stream, isClient: false)
                server.sockets.append(socket)
                socket.start {
                    socket.send("\($0) back")
                } onEnd: {
                }
            }

            func stream(_ stream: Reactor.Stream, ended end: StreamEnd) {}
        }

        init() throws {
            listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] stream in
                handlers.append(Handler(self, stream))
            }
        }

        var route: PeerRoute { .direct(listener.endpoint) }
    }

    @EventLoop @Test func bothEndsUnderstandEachOther() async throws {
        let server = try Server()
        let (socket, unread) = try await WebSocket.open(
            .init(host: "x", path: "/", fields: [("X-Field", "y")]), by: server.route)
        let texts = AsyncStream<String>.makeStream()
        socket.start(unread: unread) {
            texts.continuation.yield($0)
        } onEnd: {
            texts.continuation.finish()
        }
        socket.send("one")
        socket.send(String(repeating: "two", count: 50_000))
        var iterator = texts.stream.makeAsyncIterator()
        #expect(await iterator.next() == "one back")
        #expect(await iterator.next()?.utf8.count == 150_005)
        server.sockets[0].close()
        #expect(await iterator.next() == nil)
        server.listener.close()
    }

    private static func refused(_ status: Int, _ body: String = "") -> WebSocket.OpeningError {
        .refused(NodeRefusal(HTTPResponse(status: status, text: body)))
    }

    @EventLoop
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", refused(200)),
        ("HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n", refused(401)),
        (
            "HTTP/1.1 401 No\r\ncontent-length: 25\r\n\r\n{\"code\":40101,\"http\":401}",
            refused(401, #"{"code":40101,"http":401}"#)
        ),
        ("HTTP/1.1 101 Yes\r\n\r\n", .notAWebSocket),
        ("HTTP/1.1 101 Yes\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", .notAWebSocket),
        ("garbage\r\n\r\n", WebSocket.OpeningError.exchange(.notHTTP(.badStartLine))),
    ]) func whoeverDoesNotSpeakItIsTold(answer: String, error: WebSocket.OpeningError) async throws {
        let server = try Server()
        server.response = Array(answer.utf8)
        await #expect(throws: error) {
            _ = try await WebSocket.open(.init(host: "x", path: "/"), by: server.route)
        }
        server.listener.close()
    }
}
