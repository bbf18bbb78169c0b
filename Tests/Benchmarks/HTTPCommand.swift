import ArgumentParser
import HTTP1
import Reactor

/// `onionbell-bench http`: clients of the HTTP door, each with one connection that is kept.
struct HTTPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http", abstract: "Send requests by the HTTP door.",
        discussion: "Prints a report in JSON. Ends with status 1 when a request was not answered with 200.")

    enum Form: String, ExpressibleByArgument, CaseIterable {
        /// `GET /relay?...`, as Bisq 1 calls it.
        case get
        /// `POST /v1/apns/device/...`, as Bisq 2 does: answered when the gateway has.
        case post
    }

    @Option(help: "The node's http_listen.") var to: Endpoint
    @Option(help: "Connections, with one request in flight each.") var clients = 64
    @Option(help: "Requests in all.") var count = 10_000
    @Option(help: "get or post.") var form = Form.post

    func run() async throws {
        let report = try await HTTPLoad(form, count: count).run(clients, to: to)
        try report.print()
        if report.failed > 0 { throw ExitCode(1) }
    }
}
