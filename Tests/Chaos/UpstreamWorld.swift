import Client
import Encodings
import Glibc
import HTTP1
import Lab
import Processes
import Reactor
import Wire

/// A node with an app of gateway relay, and the two relays that it hands on to, each behind a tor of its own. All limits are
/// those that a node has by itself. Senders come straight to the node's socket.
@EventLoop
final class UpstreamWorld {
    let name: String
    let form: RelayForm
    let books = UpstreamBooks()
    let relays: [SimulatedRelay]
    private(set) var log: [String] = []
    private let tors: [LabTor]
    private let directory: LabDirectory
    private let configuration: String
    private var node: LabNode
    private var killedAt: Int64 = 0

    init(_ name: String, _ form: RelayForm, _ network: PrivateTorNetwork, torrc: String) async throws {
        self.name = name
        self.form = form
        directory = try LabDirectory()
        let path = directory.path
        relays = [try SimulatedRelay(), try SimulatedRelay()]
        var (tors, urls): ([LabTor], [String]) = ([], [])
        for relay in relays {
            let tor = try await network.startTor()
            urls.append("http://\(try await tor.publish([(80, relay.endpoint)]))")
            tors.append(tor)
        }
        self.tors = tors
        _ = try directory.make("state")
        try network.seed(dataDirectory: try directory.make("state/tor"))
        try network.writeTorrc(basedOn: torrc, to: path + "/torrc")
        configuration = path + "/onionbell.yaml"
        let text = """
            state_directory: \(path)/state
            tor: {mode: own, torrc: torrc}
            onion: {http_listen: "unix:\(path)/http", guarded: false}
            apps: [{name: bisq, gateway: relay, form: \(form.setting), url: ["\(urls[0])", "\(urls[1])"]}]
            http: {outcome_deadline: 0}
            management: {listen: "unix:\(path)/management"}

            """
        try LabDirectory.write(Array(text.utf8), to: configuration)
        node = try LabNode(Chaos.node, configuration: configuration)
        try await published()
        for (index, relay) in relays.enumerated() {
            relay.onPush = { [books] in books.taken($0, at: index) }
            relay.onFault = { [books] in books.met($1, $0, at: index) }
        }
    }

    private func published() async throws {
        guard await node.publishedLine() == nil else { return }
        throw ChaosError("\(name): \(node.lines.suffix(5).joined(separator: "\n"))")
    }

    // MARK: Senders

    /// Sends one for a phone that nobody has sent to before, as Bisq does: once.
    ///
    /// - Returns: The message, if the node has taken it.
    @discardableResult
    func send(to platform: Platform) async throws -> String? {
        let (request, message) = try form.request(to: try Phone.new(platform, descriptor: "phone"))
        books.sending(message, to: platform)
        let answer = try? await HTTPExchange.answer(
            to: request, host: form.host, by: .direct(.unix(path: directory.path + "/http")),
            deadline: .seconds(30))
        guard let answer else { return nil }
        guard form.isTaken(answer) else {
            if answer.status != 503 { books.violate("\(name) answered a sender with \(answer.status)") }
            return nil
        }
        books.promise(message)
        return message
    }

    /// Sends so many at once to phones of the platform.
    func burst(_ count: Int, to platform: Platform) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<count / 8 { try await self.send(to: platform) } }
            }
            try await group.waitForAll()
        }
    }

    // MARK: What breaks

    /// Ends a relay as kill -9 does: its connections break off, answered or not.
    func kill(_ upstream: Int) {
        books.isUnclear(upstream)
        relays[upstream].close()
    }

    func revive(_ upstream: Int) throws {
        relays[upstream].outage = nil
        try relays[upstream].listenAgain()
    }

    func signalTor(of upstream: Int, _ number: Int32) { Glibc.kill(tors[upstream].processID, number) }

    func killNode() async {
        killedAt = EventLoop.now.nanoseconds
        await node.kill()
        keepLog()
    }

    /// Starts the node after ``killNode()``: what it had sent may have come to an upstream until now, and nobody heard the answer.
    func startNode() async throws {
        books.isUnclear(nil, since: killedAt)
        node = try LabNode(Chaos.node, configuration: configuration)
        try await published()
    }

    /// Restarts the node in place: what it had sent is waited for, and then sent again under its ids.
    func restartInPlace() async throws {
        let (begun, process) = (EventLoop.now.nanoseconds, node.processID)
        _ = try await Tool([Chaos.program, "restart", "--config", configuration]).finish()
        books.isUnclear(nil, since: begun)
        if process == nil || node.processID != process {
            books.violate("\(name): a restart in place ended the node")
        }
    }

    private func keepLog() {
        for line in node.indiscretions { books.violate("the log tells what nobody may know: \(line)") }
        if let exit = node.exit, exit != .signalled(SIGKILL), exit != .exited(0) {
            books.violate("\(name) ended: \(exit)")
        }
        log += node.lines
    }

    /// Adds a line to the log.
    func note(_ line: String) { log.append("\(name): \(line)") }

    /// What the node says of each that waits: its age, how often it was tried, and when it is tried next.
    func waiting() async -> [String] {
        let lines = try? await Tool([Chaos.program, "outbox", "list", "--config", configuration]).finish()
        return lines ?? []
    }

    func close() async {
        if await node.stop() != .exited(0) { books.violate("\(name) did not end in order") }
        keepLog()
        for relay in relays { relay.close() }
        for tor in tors { await tor.kill() }
        await directory.remove()
    }
}
