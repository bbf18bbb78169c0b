import HTTP1
import Reactor
import Testing

@testable import Doors
@testable import Owner

/// What a platform's dashboard reads without a token, and what it does not.
@EventLoop
@Suite struct WidgetDoorTests {
    private static let place = Endpoint.host("10.213.94.3", port: 9481)

    private final class Figures: HTTPDoor {
        func handler(for path: String) -> HTTPServer.Handler? {
            { request, respond in
                respond(HTTPResponse(status: 200, text: "\(path)?\(request.query ?? "")"))
            }
        }
    }

    private func answer(
        _ method: String, _ path: String, query: String? = nil, host: String = "10.213.94.3:9481",
        others: [(String, String)] = []
    ) -> HTTPResponse? {
        var request = HTTPRequest(method: method, path: path, query: query)
        request.fields.append("host", host)
        for (name, value) in others { request.fields.append(name, value) }
        var answer: HTTPResponse?
        WidgetDoor(at: Self.place, calls: Figures()).answer(request) { answer = $0 }
        return answer
    }

    @Test func theFiguresAreReadInBothForms() {
        for path in ["/api/v1/widget", "/api/v1/widget/umbrel"] {
            let found = answer("GET", path, query: "token=x")
            #expect(found?.status == 200)
            #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == path + "?")
        }
    }

    @Test func nothingElseIs() {
        for path in [
            "/", "/api/v1/state", "/api/v1/widget/", "/api/v1/widget-tokens", "/api/v1/widget/umbrel/x",
        ] {
            #expect(answer("GET", path)?.status == 404, "\(path)")
        }
        for method in ["POST", "PUT", "DELETE", "HEAD"] {
            #expect(answer(method, "/api/v1/widget")?.status == 404, "\(method)")
        }
    }

    @Test func aPageThatComesUnderAnotherNameReadsNothing() {
        #expect(answer("GET", "/api/v1/widget", host: "evil.example:9481")?.status == 403)
        #expect(answer("GET", "/api/v1/widget", host: "10.213.94.3")?.status == 403)
        #expect(answer("GET", "/api/v1/widget", others: [("sec-fetch-site", "cross-site")])?.status == 403)
    }
}
