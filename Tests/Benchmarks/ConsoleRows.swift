import Client
import Foundation
import HTTP1
import Lab
import LabParts
import Processes
import Reactor
import Tor

/// What the console costs a node: memory, and a peer's time while strangers flood it.
extension Rows {
    // MARK: Memory

    /// Two nodes, one after the other, with the same settings but for the console. One was used as a browser uses it, and
    /// left alone; the other one is as old. The goal is for their own pages: how many of a file are there depends on whatever
    /// else runs.
    mutating func measureConsoleMemory() async throws {
        let port = try freePort()
        let without = try await bench.withNode { node in
            try await Task.sleep(for: ConsoleVisit.begins + ConsoleVisit.length + consoleRest)
            return try MappedMemory(of: node.processID)
        }
        let (with, visited) = try await bench.withNode(console: "127.0.0.1:\(port)") { node in
            try await Task.sleep(for: ConsoleVisit.begins)
            try await ConsoleVisit(at: port, of: node).run()
            let visited = try MappedMemory(of: node.processID)
            try await Task.sleep(for: consoleRest)
            return (try MappedMemory(of: node.processID), visited)
        }
        let parts = [
            ("all", \MappedMemory.all), ("its own", \.own), ("pages of the program", \.program),
            ("pages of libraries", \.libraries),
        ]
        for (name, part) in parts {
            results.add(
                "console, memory it leaves, \(name)", "KiB", with[keyPath: part] - without[keyPath: part])
        }
        results.add("console, memory just after its last page", "KiB", visited.all - without.all)
        results.add("console, a node without it", "KiB", without.all)
    }

    // MARK: Flood

    /// A peer's notifications over a private Tor network, quiet and while eight circuits flood the console's onion address as
    /// fast as they go, with calls that are refused.
    mutating func measureConsoleFlood() async throws {
        let network = try await PrivateTorNetwork.start()
        do {
            try await measureConsoleFlood(in: network)
        } catch {
            await network.stop()
            throw error
        }
        await network.stop()
    }

    /// As it is installed: the node's own tor names circuits, and closes those that the node names to it.
    private mutating func measureConsoleFlood(in network: PrivateTorNetwork) async throws {
        guard let peers = try await network.startTor().socks,
            let strangers = try await network.startTor().socks
        else { throw BenchError("a tor has no SOCKS port") }
        let relay = try SimulatedRelay()
        let service = try await OnionService.publish(
            key: OnionKey.generate(), ports: [try VirtualPort(80, to: relay.endpoint)],
            on: try await network.startTor().connection)
        while !service.state.isPublished { try await Task.sleep(for: .milliseconds(100)) }
        let world = try LabWorld()
        _ = try world.directory.make("state")
        try network.seed(dataDirectory: try world.directory.make("state/tor"))
        let torrc = world.directory.path + "/torrc"
        let ours = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../torrc")
        try network.writeTorrc(basedOn: ours.standardized.path, to: torrc)
        let configuration = try world.configure(
            tor: ["mode: own", "torrc: \(torrc)"], more: ["console: {listen: [onion]}"])
        let node = try LabNode(bench.node, configuration: configuration)
        do {
            try await measureFlood(
                of: node, at: world, peers, strangers, beside: service.address.description)
        } catch {
            await node.stop()
            await world.close()
            throw error
        }
        await node.stop()
        await world.close()
        relay.close()
    }

    private mutating func measureFlood(
        of node: LabNode, at world: LabWorld, _ peers: Endpoint, _ strangers: Endpoint, beside other: String
    ) async throws {
        guard let words = await node.publishedLine()?.split(separator: " "), words.count > 1 else {
            throw BenchError("no onion address: \(node.lines.suffix(3).joined(separator: " / "))")
        }
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("console.published") } }
        guard let processID = node.processID else { throw BenchError("the node ended") }
        let console = try await consoleLink(in: world.state).origin.dropFirst("http://".count)
        let peer = try await BisqPeer.dial(.tor(socks: peers, onion: String(words[1]), port: 9999))
        _ = try await times(of: peer, count: 20)
        // The last is what the flood costs the relays and the peers' tor, which share this machine.
        let targets = [("quiet", nil), ("flooded", String(console)), ("beside a flood of another", other)]
        for (name, target) in targets {
            let floods = try (0..<(target == nil ? 0 : 8)).map { _ in try flood(target ?? "", by: strangers) }
            for flood in floods { await flood.wait { $0.exit != nil || $0.lines.contains { $0 != "000" } } }
            let before = (try ProcessFigures(of: processID), try torSeconds(of: processID))
            let answered = floods.reduce(0) { $0 + $1.lines.count { $0 != "000" } }
            let begun = ContinuousClock.now
            let times = try await times(of: peer, count: isQuick ? 100 : 300)
            let seconds = (ContinuousClock.now - begun) / .seconds(1)
            let used = try ProcessFigures(of: processID).threadTime(since: before.0)
            let usedByTor = try torSeconds(of: processID) - before.1
            let answers = floods.reduce(0) { $0 + $1.lines.count { $0 != "000" } } - answered
            for flood in floods { await flood.stop() }
            for (what, latency) in [("Ping", times.ping), ("accepted", times.accepted)] {
                results.add("console, flood, \(name), \(what) p50", "ms", latency?.median ?? .nan)
                results.add("console, flood, \(name), \(what) p99", "ms", latency?.p99 ?? .nan)
            }
            results.add("console, flood, \(name), node", "% of a core", 100 * used / seconds)
            results.add("console, flood, \(name), its tor", "% of a core", 100 * usedByTor / seconds)
            results.add("console, flood, \(name), answers", "1/s", Double(answers) / seconds)
        }
        peer.close()
    }

    /// A client that asks on and on, by another circuit after sixty requests.
    private func flood(_ host: String, by socks: Endpoint) throws -> LabProgram {
        try LabProgram([
            "bash", "-c",
            "while :; do curl -s -o /dev/null -w '%{http_code}\\n' --max-time 5 --proxy "
                + "socks5h://$RANDOM$RANDOM:x@\(socks) 'http://\(host)/api/v1/state?[1-60]'; done",
        ])
    }

    /// CPU of the tor that is the node's child.
    private func torSeconds(of node: Int32) throws -> Double {
        try familySeconds(of: node) - ProcessFigures(of: node).cpu
    }
}

/// The console's link, once it is in the file for whoever has none.
private func consoleLink(in state: String) async throws -> (origin: String, secret: String) {
    for _ in 0..<500 {
        if let text = try? String(contentsOfFile: "\(state)/console-link", encoding: .utf8),
            let parts = text.split(separator: "\n").first?.components(separatedBy: "/#enter="),
            parts.count == 2
        {
            return (parts[0], parts[1])
        }
        try await Task.sleep(for: .milliseconds(20))
    }
    throw BenchError("the node has written no link to its console")
}

/// What an owner's browser asks: the page with all of its files, the login, what each screen reads, and its stream of
/// changes for a while.
@EventLoop
private final class ConsoleVisit {
    /// When the node has given back what only its start needed.
    static let begins: Duration = .seconds(30)
    static let length: Duration = .seconds(10)
    private let port: UInt16
    private let node: NodeUnderTest
    private var cookie = ""

    init(at port: UInt16, of node: NodeUnderTest) { (self.port, self.node) = (port, node) }

    func run() async throws {
        let begun = ContinuousClock.now
        let secret = try await consoleLink(in: "\(node.gateway.directory)/state").secret
        for page in [
            "/", "/app.js", "/console.css", "/calls.js", "/state.js", "/screens/start.js", "/languages/en.js",
        ] {
            _ = try await ask("GET", page)
        }
        let entered = try await ask("POST", "/api/v1/session", #"{"link":"\#(secret)"}"#)
        guard let set = entered.fields["set-cookie"] else { throw BenchError("the console let nobody in") }
        cookie = String(set.prefix { $0 != ";" })
        // The passphrase, too: scrypt's memory is what is largest here.
        let passphrase = #"{"passphrase":"a passphrase of the owner"}"#
        guard try await ask("PUT", "/api/v1/passphrase", passphrase).status == 204,
            try await ask("POST", "/api/v1/session", passphrase).status == 204
        else { throw BenchError("the console took no passphrase") }
        let stream = Task {
            try? await HTTPExchange.answer(
                to: request("GET", "/api/v1/events", nil), host: "127.0.0.1:\(port)", by: route,
                deadline: .seconds(5))
        }
        let calls = [
            "session", "state", "state/text", "phones", "page", "point", "peers", "mailboxes",
            "registrations",
            "keys/onion", "keys/vapid", "settings", "widget", "waiting", "history", "widget-tokens", "backup",
        ]
        for _ in 0..<3 {
            for call in calls {
                guard try await ask("GET", "/api/v1/\(call)").status < 500 else { throw BenchError(call) }
            }
        }
        _ = await stream.value
        try await Task.sleep(until: begun + ConsoleVisit.length)
    }

    private var route: PeerRoute { .direct(.host("127.0.0.1", port: port)) }

    private func request(_ method: String, _ path: String, _ body: String?) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, path: path, body: Array((body ?? "").utf8), isKeptAlive: false)
        if method != "GET" {
            request.fields.append("origin", "http://127.0.0.1:\(port)")
            request.fields.append("onionbell-console", "1")
        }
        if body != nil { request.fields.append("content-type", "application/json") }
        if !cookie.isEmpty { request.fields.append("cookie", cookie) }
        return request
    }

    private func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> HTTPResponse {
        try await HTTPExchange.answer(
            to: request(method, path, body), host: "127.0.0.1:\(port)", by: route, longest: 1 << 20)
    }
}
