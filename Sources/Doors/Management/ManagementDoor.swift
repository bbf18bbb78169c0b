import HTTP1
import JSON
import Reactor

/// What the operator's tools ask on a loopback port: `GET /healthz`.
///
/// No login, so it is never served on the onion address, and nothing it tells is about one device.
@EventLoop
package final class ManagementDoor {
    /// One thing that must be well for notifications to arrive.
    package struct Check: Sendable {
        package var name: String
        package var isWell: Bool
        /// What it is, in words; never empty when it is not well.
        package var state: String

        package init(name: String, isWell: Bool, state: String) {
            self.name = name
            self.isWell = isWell
            self.state = state
        }
    }

    private let checks: @EventLoop () -> [Check]

    package init(checks: @escaping @EventLoop () -> [Check]) { self.checks = checks }

    package func answer(_ request: HTTPRequest, respond: @EventLoop (HTTPResponse) -> Void) {
        guard request.path == "/healthz" else { return respond(HTTPResponse(status: 404, text: "not here")) }
        guard request.method == "GET" || request.method == "HEAD" else {
            return respond(.methodNotAllowed("GET, HEAD"))
        }
        let checks = checks()
        let isWell = checks.allSatisfy(\.isWell)
        var body = Array("{\"status\":\(isWell ? "\"ok\"" : "\"failing\""),\"checks\":{".utf8)
        for (index, check) in checks.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(jsonString: check.name)
            body.append(contentsOf: ":{\"ok\":\(check.isWell),\"state\":".utf8)
            body.append(jsonString: check.state)
            body.append(UInt8(ascii: "}"))
        }
        body.append(contentsOf: "}}\n".utf8)
        var response = HTTPResponse(status: isWell ? 200 : 503, body: body)
        response.fields.append("content-type", "application/json")
        respond(response)
    }
}
