import Doors
import Encodings
import HTTP1
import Reactor

/// The phone's page, served as a static web server would: `GET /phone/` and the files below it. It learns nothing of a
/// phone but that the page was loaded.
@EventLoop
package final class PhonePageDoor: HTTPDoor {
    /// The path of the page, with its slash.
    package nonisolated static let path = "/phone/"

    package struct Page: Sendable {
        /// The files by their names below the page: `index.html`, `screens/key.js`.
        package var files: [String: [UInt8]]
        /// The content security policy in the head of `index.html`, where a file can say it.
        package var policy: String

        package init(files: [String: [UInt8]], policy: String) {
            self.files = files
            self.policy = policy
        }
    }

    /// The answers by the bytes of their paths.
    private let answers: [[UInt8]: HTTPResponse]
    private nonisolated static let longestPath = 200

    package init(_ page: Page) {
        var answers: [[UInt8]: HTTPResponse] = [:]
        for (name, bytes) in page.files {
            let answer = PhonePageDoor.answer(bytes, named: name, policy: page.policy)
            answers[Array((PhonePageDoor.path + name).utf8)] = answer
            if name == "index.html" { answers[Array(PhonePageDoor.path.utf8)] = answer }
        }
        var moved = HTTPResponse(status: 301)
        moved.fields.append("location", PhonePageDoor.path)
        answers[Array(PhonePageDoor.path.dropLast().utf8)] = moved.shielded()
        self.answers = answers
    }

    /// Makes the answer with a file. The worker keeps the page; what asks here wants to know whether there is
    /// a newer one.
    private static func answer(_ bytes: [UInt8], named name: String, policy: String) -> HTTPResponse {
        var answer = HTTPResponse(status: 200, body: bytes)
        for (field, value) in [
            ("content-type", HTTPResponse.type(ofFile: name)), ("cache-control", "no-cache"),
            ("permissions-policy", "camera=(self), geolocation=(), microphone=()"),
        ] { answer.fields.append(field, value) }
        return answer.shielded(policy: policy)
    }

    private static func isOurs(_ asked: String) -> Bool {
        asked.hasPrefix(path) || asked.utf8.count == path.utf8.count - 1 && path.hasPrefix(asked)
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard PhonePageDoor.isOurs(path) else { return nil }
        let answer = path.utf8.count <= PhonePageDoor.longestPath ? answers[Array(path.utf8)] : nil
        return { request, respond in
            guard request.method == "GET" || request.method == "HEAD" else {
                return respond(.methodNotAllowed("GET, HEAD").shielded())
            }
            respond(answer ?? HTTPResponse(status: 404, text: "no such file").shielded())
        }
    }
}
