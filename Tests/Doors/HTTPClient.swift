import HTTP1
import Reactor

/// A client of the test's: raw bytes out, answers as they come.
@EventLoop
final class HTTPClient: StreamHandler {
    let stream: Stream
    private(set) var answers: [HTTPResponse] = []
    private(set) var hasEnded = false
    private(set) var fault: HTTPFault?
    private var decoder: HTTPResponseDecoder = {
        var limits = HTTPLimits()
        limits.body = 1 << 22
        return HTTPResponseDecoder(limits: limits)
    }()
    private var waiting: [(condition: (HTTPClient) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []

    init(_ endpoint: Endpoint) async throws {
        stream = try await Stream.connect(to: endpoint)
        stream.handler = self
    }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        decoder.append(bytes)
        do throws(HTTPFault) {
            while let answer = try decoder.next() { answers.append(answer) }
        } catch {
            fault = error
        }
        check()
    }

    func stream(_ stream: Stream, ended end: StreamEnd) {
        hasEnded = true
        check()
    }

    func send(_ text: String) { stream.write(Array(text.utf8)) }

    /// The answers once there are so many, or fewer when the server has closed.
    @discardableResult
    func wait(for count: Int) async -> [HTTPResponse] {
        await wait { $0.answers.count >= count || $0.hasEnded }
        return answers
    }

    func waitForEnd() async { await wait { $0.hasEnded } }

    private func wait(until condition: @escaping (HTTPClient) -> Bool) async {
        if condition(self) { return }
        await withCheckedContinuation { waiting.append((condition, $0)) }
    }

    private func check() {
        let ready = waiting.filter { $0.condition(self) }
        waiting.removeAll { $0.condition(self) }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// One request, its answer.
    func ask(_ bytes: [UInt8]) async -> HTTPResponse? {
        let known = answers.count
        stream.write(bytes)
        await wait(for: known + 1)
        return answers.count > known ? answers[known] : nil
    }

    func ask(_ text: String) async -> HTTPResponse? { await ask(Array(text.utf8)) }

    func get(_ target: String, fields: String = "") async -> HTTPResponse? {
        await ask("GET \(target) HTTP/1.1\r\nHost: x.onion\r\n\(fields)\r\n")
    }

    func post(
        _ path: String, _ body: String, type: String? = "application/json", fields: String = ""
    ) async -> HTTPResponse? {
        let field = (type.map { "Content-Type: \($0)\r\n" } ?? "") + fields
        return await ask(
            "POST \(path) HTTP/1.1\r\nHost: x.onion:8021\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
