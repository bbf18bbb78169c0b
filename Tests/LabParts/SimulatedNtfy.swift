import Encodings
import HTTP1
import JSONCoding
import Lab
import Reactor
import Relay

/// A stand-in for an ntfy server, as far as publishing goes: its checks, its answers and its limit for a visitor
/// (ntfy, `server/server.go`, `server/errors.go`; docs, "Publishing").
@EventLoop
package final class SimulatedNtfy {
    package struct Message: Equatable, Sendable {
        package let topic: String
        package let title: String
        package let message: String
        package let priority: Int64
        package let sequenceID: String?
    }

    package private(set) var book: [Message] = []
    /// The paths of all requests, as a proxy's log has them.
    package private(set) var paths: [String] = []
    /// Who may write; `nil`: everybody.
    package var accessToken: String?
    /// The same by name and password.
    package var account: (user: String, password: String)?
    /// Whether who may write may also read.
    package var isReadable = true
    /// Requests at once and in each second; `nil`: no limit. ntfy.sh has 60 and one each five seconds.
    package var rate: Rate?
    /// In place of the next answers, one each.
    package var answers: [HTTPResponse] = []
    /// Topics that it always fails, as if it were in trouble itself.
    package var failing: Set<String> = []
    /// Sees each message that it takes.
    package var onMessage: (@EventLoop (Message) -> Void)?
    private var used = Rate.Use()
    private var site: SimulatedSite!

    package init() throws(SystemError) {
        site = try SimulatedSite { [unowned self] in .answer(answer($0)) }
    }

    package var endpoint: Endpoint { site.endpoint }
    package var url: String { "http://\(endpoint)" }
    package func close() { site.close() }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        paths.append(request.path)
        if !answers.isEmpty { return answers.removeFirst() }
        if let rate, rate.take(from: &used, at: EventLoop.now) > .zero {
            return error(42901, "limit reached: too many requests")
        }
        let login =
            accessToken.map { "Bearer \($0)" }
            ?? account.map { "Basic " + Base64.encode(Array("\($0.user):\($0.password)".utf8)) }
        if let login, request.fields["authorization"] != login {
            return request.fields["authorization"] == nil
                ? error(40301, "forbidden") : error(40101, "unauthorized")
        }
        if request.method == "GET", request.path.hasSuffix("/auth") {
            return isReadable ? json(200, ["success": .bool(true)]) : error(40301, "forbidden")
        }
        guard request.method == "POST", request.path == "/" else { return error(40401, "page not found") }
        return publish(request)
    }

    private func publish(_ request: HTTPRequest) -> HTTPResponse {
        guard let body = try? JSON(request.body) else {
            return error(40024, "request body must be valid JSON")
        }
        guard let topic = body["topic"]?.string, (1...64).contains(topic.utf8.count),
            topic.utf8.allSatisfy({ byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    || byte.isASCIILetterOrDigit
            })
        else { return error(40009, "invalid topic") }
        guard !failing.contains(topic) else { return error(50301, "service unavailable") }
        guard let message = body["message"]?.string, message.utf8.count <= 4096 else {
            return error(41301, "message too large")
        }
        let priority = body["priority"]?.integer ?? 3
        guard (1...5).contains(priority) else { return error(40007, "invalid priority") }
        SentValues.shared.add(topic)
        let taken = Message(
            topic: topic, title: body["title"]?.string ?? "", message: message, priority: priority,
            sequenceID: request.fields["x-sequence-id"])
        book.append(taken)
        onMessage?(taken)
        return json(200, ["id": .string("id\(book.count)"), "event": "message", "topic": .string(topic)])
    }

    private func error(_ code: Int64, _ text: String) -> HTTPResponse {
        json(Int(code / 100), ["code": .integer(code), "http": .integer(code / 100), "error": .string(text)])
    }

    private func json(_ status: Int, _ value: JSON) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: Array(value.text.utf8))
        response.fields.append("content-type", "application/json")
        return response
    }
}

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool { ASCII.letter(self) | ASCII.digit(self) == 1 }
}
