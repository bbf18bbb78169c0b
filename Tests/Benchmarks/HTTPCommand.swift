import ArgumentParser
import HTTP1
import Reactor

/// `onionbell-bench http`: clients of the HTTP door, each with one connection that is kept.
struct HTTPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "http", abstract: "Send requests over HTTP/1.1.",
        discussion: "Prints a report in JSON. Ends with status 1 when a request was refused.")

    enum Form: String, ExpressibleByArgument, CaseIterable {
        /// `GET /relay?...`, as Bisq 1 calls it.
        case get
        /// `POST /v1/apns/device/...`, as Bisq 2 does: answered when the gateway has.
        case post
        /// `POST /relay-to/production/...`, as Mastodon does: the same.
        case webPush = "web-push"
        /// `POST /3/device/...`, for a proxy in front of the gateway: what the node itself sends it.
        case apns
    }

    @Option(help: "The node's http_listen, or that of its door for Web Push.") var to: Endpoint
    @Option(help: "Connections, with one request in flight each.") var clients = 64
    @Option(help: "Requests in all.") var count = 10_000
    @Option(
        help: "Requests a second, however long the answers take; 0: each client sends when it has its answer."
    )
    var rate = 0
    @Option(help: "get, post, web-push or apns.") var form = Form.post
    @Option(help: "Device tokens tell the gateway this number and when the request was due.") var timed:
        UInt32?
    @Option(help: "Of a running `gateway` command; for apns.") var directory = "."

    func run() async throws {
        let request = try HTTPTemplate(form, directory: directory)
        let report = try await HTTPLoad(request, count: count, rate: rate, timed: timed).run(clients, to: to)
        try report.print()
        if report.failed > 0 { throw ExitCode(1) }
    }
}
