import HTTP1
import Reactor

/// A client of the test's: raw bytes out, answers as they come.
@EventLoop
package final class HTTPClient: StreamHandler {
    package let stream: Stream
    package private(set) var answers: [HTTPResponse] = []
    /// Bytes so far.
    package private(set) var received = 0
    package private(set) var hasEnded = false
    package private(set) var fault: HTTPFault?
    private var decoder: HTTPResponseDecoder = {
        var limits = HTTPLimits()
        limits.body = 1 << 22
        return HTTPResponseDecoder(limits: limits)
    }()

    package init(_ endpoint: Endpoint) async throws {
        stream = try await Stream.connect(to: endpoint)
        stream.handler = self
    }

    package func stream(_ stream: Stream, received bytes: RawSpan) {
        received += bytes.byteCount
        decoder.append(bytes)
        do throws(HTTPFault) {
            while let answer = try decoder.next() { answers.append(answer) }
        } catch {
            fault = error
        }
    }

    package func stream(_ stream: Stream, ended end: StreamEnd) {
        hasEnded = true
    }

    package func send(_ text: String) { stream.write(Array(text.utf8)) }

    /// The answers once there are so many, or fewer when the server has closed.
    @discardableResult
    package func wait(for count: Int) async -> [HTTPResponse] {
        try? await EventLoop.until { self.answers.count >= count || self.hasEnded }
        return answers
    }

    package func waitForEnd() async { try? await EventLoop.until { self.hasEnded } }

    /// One request, its answer.
    package func ask(_ bytes: [UInt8]) async -> HTTPResponse? {
        let known = answers.count
        stream.write(bytes)
        await wait(for: known + 1)
        return answers.count > known ? answers[known] : nil
    }

    package func ask(_ text: String) async -> HTTPResponse? { await ask(Array(text.utf8)) }

    package func get(_ target: String, fields: String = "") async -> HTTPResponse? {
        await ask("GET \(target) HTTP/1.1\r\nHost: x.onion\r\n\(fields)\r\n")
    }

    package func post(
        _ path: String, _ body: String, type: String? = "application/json", fields: String = ""
    ) async -> HTTPResponse? {
        let field = (type.map { "Content-Type: \($0)\r\n" } ?? "") + fields
        return await ask(
            "POST \(path) HTTP/1.1\r\nHost: x.onion:8021\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}

extension HTTPResponse {
    package var text: String { String(decoding: body, as: UTF8.self) }
}
