import Clocks
import Foundation
import Lab
import Processes
import Reactor

/// What all rows need: the programs, a tor without network, a directory.
@EventLoop
final class Bench {
    let node: String
    let directory: LabDirectory
    private let tools: String
    private let tor: Child
    private let peers: Endpoint
    private let http: Endpoint
    private let webPush: Endpoint

    var peerEndpoint: String { "\(peers)" }
    var httpEndpoint: String { "\(http)" }
    var webPushEndpoint: String { "\(webPush)" }

    /// - Parameter node: the `onionbelld` that is measured.
    init(node: String) async throws {
        self.node = node
        tools = CommandLine.arguments[0]
        directory = try LabDirectory()
        peers = try .host("127.0.0.1", port: freePort())
        http = try .host("127.0.0.1", port: freePort())
        webPush = try .host("127.0.0.1", port: freePort())
        let tor = try directory.make("tor")
        let lines = [
            "DisableNetwork 1", "SocksPort 0", "DataDirectory \(tor)", "ControlPort unix:\(tor)/control",
            "CookieAuthentication 1", "CookieAuthFile \(tor)/cookie",
        ]
        try LabDirectory.write(Array(lines.joined(separator: "\n").utf8), to: "\(tor)/torrc")
        self.tor = try Child(
            ["tor", "-f", "\(tor)/torrc", "--defaults-torrc", "\(tor)/none", "--ignore-missing-torrc"],
            core: .others)
        for _ in 0..<500 where access("\(tor)/control", F_OK) != 0 || access("\(tor)/cookie", F_OK) != 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func close() async {
        await tor.end()
        await directory.remove()
    }

    /// Runs one of this program's own commands.
    func tool(_ arguments: [String], core: Core = .others) throws -> Child {
        try Child([tools] + arguments, core: core)
    }

    /// Runs a load to its end.
    func load(_ arguments: [String]) async throws -> LoadReport {
        let lines = try await tool(arguments).finish()
        guard let report = try? JSONDecoder().decode(LoadReport.self, from: Data((lines.last ?? "").utf8))
        else { throw BenchError("\(arguments[0]) gave no report: \(lines.joined(separator: " / "))") }
        return report
    }

    /// A gateway and, in front of it, a node that has nothing in its outbox. Both end with `body`.
    ///
    /// - Parameters:
    ///   - apps: Further apps in the node's settings.
    ///   - database: Where the node keeps what it stores; `nil`: in a file.
    ///   - network: The tor that serves the node's onion address; `nil`: one without a network.
    ///   - console: A place where its console listens; empty: it has none.
    ///   - starter: The node is what comes last in its arguments; none: the node itself.
    func withNode<Result>(
        delay: Int = 0, streams: Int = 1000, writeBehind: Double = 0.25, readers: Int = 500,
        isTimed: Bool = false, hasWork: Bool = true, in database: LabDatabase? = nil,
        over network: LabTor? = nil, console: String = "", apps: Int = 0,
        startedBy starter: [String]? = nil,
        on core: Core = .measured, _ body: (NodeUnderTest) async throws -> Result
    ) async throws -> Result {
        try await withGateway(
            delay: delay, streams: streams, writeBehind: writeBehind, readers: readers, isTimed: isTimed,
            hasWork: hasWork, in: database, over: network, console: console, apps: apps
        ) {
            gateway in
            let child = try Child(
                (starter ?? [node]) + ["--config", "\(gateway.directory)/onionbell.yaml"],
                core: core)
            let node = NodeUnderTest(child, gateway, self)
            do {
                try await node.waitUntilReady(peers)
                let result = try await body(node)
                await child.end(by: SIGTERM)
                return result
            } catch {
                await child.end()
                throw error
            }
        }
    }

    struct Gateway {
        let directory: String
        let url: String
    }

    func withGateway<Result>(
        delay: Int = 0, streams: Int = 1000, writeBehind: Double = 0.25, readers: Int = 500,
        isTimed: Bool = false, hasWork: Bool = true, in database: LabDatabase? = nil,
        over network: LabTor? = nil, console: String = "", apps: Int = 0,
        _ body: (Gateway) async throws -> Result
    ) async throws -> Result {
        let control = network.map { "\($0.control)" } ?? "unix:\(directory.path)/tor/control"
        let world = try LabDirectory()
        let child = try tool(
            [
                "gateway", "--directory", world.path, "--delay", "\(delay)", "--streams", "\(streams)",
                "--write-behind", "\(writeBehind)", "--readers", "\(readers)",
                "--storage-url", database?.url ?? "", "--console", console, "--apps", "\(apps)",
                "--peers", "\(peers)", "--http", "\(http)", "--web-push", "\(webPush)",
                "--control", control,
                "--cookie", network?.cookieFile ?? "\(directory.path)/tor/cookie",
            ] + (isTimed ? ["--timed"] : []) + (hasWork ? [] : ["--without-work"]))
        do {
            let result = try await body(Gateway(directory: world.path, url: try await child.firstLine()))
            await child.end()
            await world.remove()
            return result
        } catch {
            await child.end()
            await world.remove()
            throw error
        }
    }
}

/// The node that is measured, in a process of its own.
@EventLoop
final class NodeUnderTest {
    let gateway: Bench.Gateway
    private let child: Child
    private let bench: Bench
    private let begun = EventLoop.now
    /// The time until a door was open.
    private(set) var start: Duration = .zero

    init(_ child: Child, _ gateway: Bench.Gateway, _ bench: Bench) {
        self.gateway = gateway
        self.child = child
        self.bench = bench
    }

    /// Its doors are open, and its connections to the gateway are made.
    func waitUntilReady(_ peers: Endpoint) async throws {
        for _ in 0..<3000 {
            guard child.exit == nil else {
                throw BenchError("the node ended: \(child.lines.suffix(3).joined(separator: " / "))")
            }
            if let stream = try? await Reactor.Stream.connect(to: peers, deadline: .seconds(1)) {
                stream.close()
                start = EventLoop.now - begun
                return try await Task.sleep(for: .milliseconds(700))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw BenchError("the node opened no door: \(child.lines.suffix(3).joined(separator: " / "))")
    }

    /// The onion address, once it can be reached.
    func onionAddress() async throws -> String {
        let isAddress = { (line: String) in line.hasPrefix("onionbell: ") && line.contains(".onion") }
        for _ in 0..<1200 {
            if let line = child.lines.first(where: isAddress),
                let word = line.split(whereSeparator: { " :/".contains($0) }).first(where: {
                    $0.hasSuffix(".onion")
                })
            {
                return String(word)
            }
            guard child.exit == nil else { break }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchError("no onion address: \(child.lines.suffix(3).joined(separator: " / "))")
    }

    var processID: Int32 { child.processID }

    var figures: ProcessFigures {
        get throws { try ProcessFigures(of: child.processID) }
    }

    /// Lets a load run; what the node used for it, until it was at rest again.
    func under(_ arguments: [String]) async throws -> (report: LoadReport, used: Used) {
        let before = try figures
        let report = try await bench.load(arguments)
        // The commit that takes the last ones out of the outbox.
        try await Task.sleep(for: .milliseconds(200))
        let after = try figures
        return (
            report,
            Used(
                cpu: after.cpu - before.cpu, system: after.system - before.system,
                loop: (after.threads["loop"] ?? 0) - (before.threads["loop"] ?? 0),
                store: (after.threads["store"] ?? 0) - (before.threads["store"] ?? 0),
                resident: after.resident, longestResident: after.longestResident,
                written: after.written - before.written)
        )
    }

    struct Used {
        /// Seconds.
        let cpu: Double
        let system: Double
        let loop: Double
        let store: Double
        /// KiB: when it was over, and at most so far.
        let resident: Double
        let longestResident: Double
        /// Bytes for the disk.
        let written: Double
    }
}
