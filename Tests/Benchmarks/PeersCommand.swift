import ArgumentParser
import Foundation
import Reactor
import Wire

/// `onionbell-bench peers`: many peers that send notification requests, each with its own device token.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers", abstract: "Send requests by the peer door.",
        discussion:
            "Prints a report in JSON. Ends with status 1 when a connection was lost or a request refused.")

    @Option(help: "The node's peer_listen.") var to: Endpoint
    @Option(help: "Connections.") var peers = 10
    @Option(
        help:
            "Requests in flight on each connection; those that wait for their outcome count until it is there."
    )
    var window = 64
    @Option(help: "Requests in all.") var count = 10_000
    @Option(help: "One of how many waits for its outcome; 0: none but the last ones.") var awaiting = 10
    @Option(help: "Requests a second; 0: as fast as the windows allow.") var rate = 0
    @Flag(help: "Send to the app for Android.") var android = false
    @Option(help: "Send to browsers, whose addresses begin and end as the two lines of this file.")
    var browsers: String?

    func run() async throws {
        ThisProcess.raiseFileLimit()
        let lines = try browsers.map {
            try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n")
        }
        let report = try await PeerLoad(
            PeerLoad.Plan(
                window: window, count: count, awaiting: awaiting, rate: rate,
                platform: android || browsers != nil ? .android : .ios,
                address: lines.map { (String($0[0]), String($0[1])) })
        ).run(peers, to: to)
        try report.print()
        if report.failed > 0 { throw ExitCode(1) }
    }
}

extension Endpoint: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
