import Crypto
import Encodings
import HTTP1
import Overview
import Reactor

/// The endpoint for the operator and his tools, on a loopback port or a Unix socket: the status page, metrics, health.
///
/// No login, so it is never served on the onion address, and nothing it tells is about one device.
@EventLoop
package final class ManagementDoor {
    package typealias Check = Overview.Check

    private let desk: ReportDesk
    private let article: Article

    /// An article of the manual by its name, if it is installed.
    package typealias Article = @Sendable (_ name: String) async -> [UInt8]?

    /// The policy for the page's contents: the only style and script are the page's own, and nothing foreign may be
    /// loaded or framed.
    private static let contentPolicy =
        "default-src 'none'; style-src '\(digest(of: StatusPage.style))'; "
        + "script-src '\(digest(of: StatusPage.script))'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"

    private static func digest(of text: String) -> String {
        "sha256-\(Base64.encode(Hash.sha256(Array(text.utf8))))"
    }

    /// Makes the door.
    ///
    /// - Parameters:
    ///   - desk: Makes the report anew for each request.
    ///   - article: Returns an article that the page links to, as `/docs/NAME.md`.
    package init(desk: ReportDesk, article: @escaping Article = { _ in nil }) {
        self.desk = desk
        self.article = article
    }

    package func answer(_ request: HTTPRequest, respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        let isPage = request.path == "/"
        answerBare(request) { response in
            var response =
                isPage && response.status == 200
                ? response.shielded(policy: ManagementDoor.contentPolicy) : response.shielded()
            response.fields.append("cache-control", "no-store")
            respond(response)
        }
    }

    private func answerBare(_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        guard isOurs(host: request.fields["host"] ?? "") else {
            return respond(HTTPResponse(status: 403, text: "ask for 127.0.0.1 or localhost"))
        }
        if let name = ManagementDoor.article(request.path), request.method == "GET" {
            Task {
                let text = await article(name)
                respond(
                    text.map { page("text/plain; charset=utf-8", $0) }
                        ?? HTTPResponse(status: 404, text: "\(name).md is not installed here"))
            }
            return
        }
        guard let page = page(request.path) else {
            return respond(HTTPResponse(status: 404, text: "not here"))
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return respond(.methodNotAllowed("GET, HEAD"))
        }
        switch page {
        case .fixed(let response): respond(response)
        case .health(let readiness):
            Task {
                let (isWell, body) = await desk.put { report in
                    let checks = readiness ? report.readinessChecks : report.checks
                    return (checks.allSatisfy(\.isWell), HealthReport.json(of: checks))
                }
                var response = self.page("application/json", body)
                if !isWell { response.status = 503 }
                respond(response)
            }
        case .report(let type, let words):
            Task { respond(self.page(type, await desk.put(words))) }
        }
    }

    /// A page of the operator's.
    private enum Page {
        case fixed(HTTPResponse)
        /// The checks, or those of readiness alone.
        case health(readiness: Bool)
        /// The report in words, with their type.
        case report(String, @Sendable (Report) -> [UInt8])
    }

    /// Returns the name of an article from its path, `Metrics` of `/docs/Metrics.md`: letters only.
    private static func article(_ path: String) -> String? {
        let prefix = "/docs/", suffix = ".md"
        guard path.hasPrefix(prefix), path.hasSuffix(suffix), path.utf8.count < 80 else { return nil }
        let name = path.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
        guard !name.isEmpty, name.allSatisfy({ (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) })
        else {
            return nil
        }
        return String(decoding: name, as: UTF8.self)
    }

    private func page(_ path: String) -> Page? {
        switch path {
        case "/": return .report("text/html; charset=utf-8") { StatusPage.html(of: $0) }
        case "/metrics":
            return .report("text/plain; version=0.0.4; charset=utf-8") { MetricsPage.text(of: $0) }
        case "/healthz": return .health(readiness: false)
        case "/readyz": return .health(readiness: true)
        case "/status.json": return .report("application/json") { StatusJSON.bytes(of: $0) }
        case _:
            let level = Check.Level.allCases.first { StatusDrawings.iconPath($0) == path }
            return level.map { .fixed(page("image/svg+xml", Array(StatusDrawings.icon($0).utf8))) }
        }
    }

    private func page(_ type: String, _ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: 200, body: body)
        response.fields.append("content-type", type)
        return response
    }

    /// Whether the host is a number, `localhost` or the node's own onion address. A page from elsewhere can make a
    /// browser ask here under a name of its own (DNS rebinding), and must not read the answer.
    private func isOurs(host: String) -> Bool {
        if HTTPRequest.isLocal(host: host) { return true }
        guard let name = HTTPRequest.name(ofHost: host), name.hasSuffix(".onion") else { return false }
        let onion = desk.now.onion
        return name == onion.address || name == onion.ownAddress
    }
}
