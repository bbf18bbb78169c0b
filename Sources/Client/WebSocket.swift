import Crypto
import Encodings
import HTTP1
import Reactor

/// One WebSocket on the event loop (RFC 6455), at either end.
@EventLoop
package final class WebSocket: StreamHandler {
    /// The request that opens a WebSocket at the client's end.
    package struct Opening: Sendable {
        package var host: String
        package var path: String
        package var fields: [(name: String, value: String)]

        package init(host: String, path: String, fields: [(name: String, value: String)] = []) {
            self.host = host
            self.path = path
            self.fields = fields
        }
    }

    package enum OpeningError: Error, Equatable, CustomStringConvertible {
        case exchange(HTTPExchangeError)
        /// The answer has another status than 101.
        case refused(NodeRefusal)
        /// The status is 101, but the answer is not to this handshake.
        case notAWebSocket

        package var description: String {
            switch self {
            case .exchange(let error): error.description
            case .refused(let refusal): "answered with status \(refusal.status)"
            case .notAWebSocket: "what answers there is no WebSocket"
            }
        }
    }

    /// The most bytes of a message that comes in.
    package static let longestMessage = 1 << 20

    /// Called with each text that comes.
    package var onText: (@EventLoop (String) -> Void)?
    /// Called when the socket is over, not by ``close()``.
    package var onEnd: (@EventLoop () -> Void)?
    /// Called with each ping that comes; the owner of this callback answers by ``pong(_:)``, at a time of its
    /// own.
    package var onPing: (@EventLoop ([UInt8]) -> Void)?
    /// Called with each answer to a ping.
    package var onPong: (@EventLoop ([UInt8]) -> Void)?
    /// The time when anything came last.
    package private(set) var heardAt = EventLoop.now
    /// Whether the other end has said that it closes the socket: not so where the connection broke.
    package private(set) var isClosedByPeer = false
    private let stream: Stream
    private let isClient: Bool
    private var decoder: WebSocketDecoder
    private var isOver = false

    /// Makes a socket over a connection on which the handshake is done.
    package init(_ stream: Stream, isClient: Bool) {
        self.stream = stream
        self.isClient = isClient
        decoder = WebSocketDecoder(isMasked: !isClient, limit: WebSocket.longestMessage)
        stream.handler = self
    }

    // MARK: The client's end

    /// Connects and does the handshake. Texts come from ``start(unread:onText:onEnd:)`` on.
    ///
    /// - Parameters:
    ///   - answerTimeout: for the answer once it is connected; `nil`: the deadline's time again.
    package static func open(
        _ opening: Opening, by route: PeerRoute, deadline: Duration = .seconds(120),
        answerTimeout: Duration? = nil
    ) async throws(OpeningError) -> (socket: WebSocket, unread: [UInt8]) {
        let key = Base64.encode(randomBytes(16))
        var request = HTTPRequest(method: "GET", path: opening.path)
        for (name, value) in [
            ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", key),
        ] + opening.fields { request.fields.append(name, value) }
        let dialled: (stream: Stream, unread: [UInt8])
        do {
            dialled = try await route.dial(attemptTimeout: .seconds(20), deadline: deadline)
        } catch {
            throw .exchange(.dial(error))
        }
        let (answer, rest): (HTTPResponse, [UInt8])
        do {
            (answer, rest) = try await HTTPExchange.answerAndRest(
                to: request, host: opening.host, over: dialled.stream, unread: dialled.unread,
                deadline: answerTimeout ?? deadline)
        } catch {
            dialled.stream.close()
            throw .exchange(error)
        }
        guard answer.status == 101,
            answer.fields["sec-websocket-accept"] == WebSocketHandshake.acceptance(of: key, sha1: Hash.sha1)
        else {
            dialled.stream.close()
            throw answer.status == 101 ? .notAWebSocket : .refused(NodeRefusal(answer))
        }
        return (WebSocket(dialled.stream, isClient: true), rest)
    }

    // MARK: The server's end

    /// Returns the answer to a client's handshake; `nil`: the request is no handshake.
    package static func answer(to request: HTTPRequest, protocol name: String? = nil) -> [UInt8]? {
        WebSocketHandshake.answer(to: request, protocol: name, sha1: Hash.sha1)
    }

    // MARK: Both

    /// Starts reading. `unread` is what came behind the handshake.
    package func start(
        unread: [UInt8] = [], onText: @escaping @EventLoop (String) -> Void,
        onEnd: @escaping @EventLoop () -> Void
    ) {
        self.onText = onText
        self.onEnd = onEnd
        receive(unread.span.bytes)
        stream.resumeReading()
    }

    package func send(_ text: String) { write(WebSocketMessage.text(text).encoded(mask: mask)) }

    package func ping(_ bytes: [UInt8] = []) { write(WebSocketMessage.ping(bytes).encoded(mask: mask)) }
    package func pong(_ bytes: [UInt8]) { write(WebSocketMessage.pong(bytes).encoded(mask: mask)) }

    /// Pauses reading. Messages that have been read already still come.
    package func pauseReading() { if !isOver { stream.pauseReading() } }
    package func resumeReading() { if !isOver { stream.resumeReading() } }

    package func close() {
        guard !isOver else { return }
        write(WebSocketMessage.close(code: 1000).encoded(mask: mask))
        isOver = true
        stream.closeWhenFlushed()
    }

    /// Closes the connection without a word.
    package func drop() {
        isOver = true
        stream.close()
    }

    private var mask: [UInt8]? { isClient ? randomBytes(4) : nil }

    private func write(_ bytes: [UInt8]) {
        guard !isOver else { return }
        stream.write(bytes)
    }

    package func stream(_ stream: Stream, received bytes: RawSpan) { receive(bytes) }

    private func receive(_ bytes: RawSpan) {
        heardAt = EventLoop.now
        decoder.append(bytes)
        do throws(WebSocketFault) {
            while !isOver, let message = try decoder.next() {
                switch message {
                case .text(let text): onText?(text)
                case .ping(let bytes): onPing.map { $0(bytes) } ?? pong(bytes)
                case .pong(let bytes): onPong?(bytes)
                case .close:
                    isClosedByPeer = true
                    end(saying: 1000)
                }
            }
        } catch {
            end(saying: error.rawValue)
        }
    }

    package func stream(_ stream: Stream, ended end: StreamEnd) { self.end(saying: nil) }

    private func end(saying code: UInt16?) {
        guard !isOver else { return }
        if let code { write(WebSocketMessage.close(code: code).encoded(mask: mask)) }
        isOver = true
        code == nil ? stream.close() : stream.closeWhenFlushed()
        onEnd?()
    }
}
