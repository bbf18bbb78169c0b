import ArgumentParser
import Client
import Glibc
import HTTP1
import JSONCoding
import Lab
import Reactor
import Tor

/// `onionbell-chaos tor-outages`: when the node notices that tor or its network is gone, and when it is back.
struct TorOutagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tor-outages",
        abstract: "How soon the node notices an outage of tor, and is reached again.",
        discussion: """
            On a private Tor network, with a tor of the node's own and with the system's. Times count from the blow; \
            where the outage lasts for a while, those of the way back from its end.
            """)

    @Option(help: "Seconds for which tor is stopped or the network stands still.") var lasting = 300
    @Option(help: "Seconds between the node's calls to its own address.") var selfDial = 300
    @Option(help: "Only outages whose name has these words.") var only = ""
    @Option(help: "The project's torrc.") var torrc = "torrc"

    func run() async throws {
        Chaos.prepare()
        var rows = [["outage", "healthz fails after", "well again after", "peer in again after"]]
        for outage in TorOutage.all where only.isEmpty || outage.name.contains(only) {
            say("\n\(outage.name)")
            let network = try await PrivateTorNetwork.start()
            let run = try await TorOutageRun(outage, network, torrc: torrc, selfDial: selfDial)
            rows.append(try await run.row(lasting: .seconds(lasting)))
            await run.close()
            await network.stop()
        }
        say("")
        for line in Table.lines(rows) { say(line) }
    }
}

/// What happens to tor.
struct TorOutage: Sendable {
    enum Blow: Sendable {
        case signal(Int32)
        /// SIGSTOP, and SIGCONT in the end.
        case stop
        /// The system's tor is started again after so many seconds.
        case killForSeconds(Int)
        /// All relays stand still.
        case network
        /// Told to leave the network, by somebody else.
        case disableNetwork
    }

    let name: String
    let isOwnTor: Bool
    let blow: Blow

    static let all = [
        TorOutage(name: "own tor, killed", isOwnTor: true, blow: .signal(SIGKILL)),
        TorOutage(name: "own tor, ended by SIGTERM", isOwnTor: true, blow: .signal(SIGTERM)),
        TorOutage(name: "own tor, reloaded", isOwnTor: true, blow: .signal(SIGHUP)),
        TorOutage(name: "own tor, stopped", isOwnTor: true, blow: .stop),
        TorOutage(name: "own tor, network switched off in it", isOwnTor: true, blow: .disableNetwork),
        TorOutage(name: "own tor, network stands still", isOwnTor: true, blow: .network),
        TorOutage(name: "system's tor, restarted", isOwnTor: false, blow: .killForSeconds(0)),
        TorOutage(name: "system's tor, away for a minute", isOwnTor: false, blow: .killForSeconds(60)),
        TorOutage(name: "system's tor, reloaded", isOwnTor: false, blow: .signal(SIGHUP)),
        TorOutage(name: "system's tor, stopped", isOwnTor: false, blow: .stop),
        TorOutage(name: "system's tor, network stands still", isOwnTor: false, blow: .network),
    ]

    /// Whether it ends by an act of ours, and not by the node's.
    var isEndedByUs: Bool {
        switch blow {
        case .signal, .disableNetwork: false
        case .stop: !isOwnTor
        case .killForSeconds, .network: true
        }
    }
}

/// One outage of one node.
@EventLoop
final class TorOutageRun {
    private let outage: TorOutage
    private let network: PrivateTorNetwork
    private let world: LabWorld
    private let node: LabNode
    private let systemTor: LabTor?
    private var address = ""
    private var blowAt: Int64 = 0
    private var endAt: Int64 = 0
    /// When `/healthz` began to fail, and when it was well again after that.
    private var failedAt: Int64?
    private var wellAt: Int64?
    private var lastWords = ""

    private static let patience: Duration = .seconds(1800)

    init(_ outage: TorOutage, _ network: PrivateTorNetwork, torrc: String, selfDial: Int) async throws {
        self.outage = outage
        self.network = network
        world = try LabWorld()
        systemTor = outage.isOwnTor ? nil : try await network.startTor()
        var tor: [String]
        if let systemTor {
            tor = ["mode: system", "control: \(systemTor.control)", "cookie_file: \(systemTor.cookieFile)"]
        } else {
            _ = try world.directory.make("state")
            try network.seed(dataDirectory: try world.directory.make("state/tor"))
            try network.writeTorrc(basedOn: torrc, to: world.directory.path + "/torrc")
            tor = ["mode: own", "torrc: torrc"]
        }
        let configuration = try world.configure(
            tor: tor,
            more: [
                "onion: {self_dial_interval: \(selfDial), socket_directory: \(world.directory.path)}"
            ])
        node = try LabNode(Chaos.node, configuration: configuration)
        guard let line = await node.publishedLine() else {
            throw ChaosError(node.lines.suffix(5).joined(separator: "\n"))
        }
        address = String(line.split(separator: " ")[1])
    }

    func row(lasting: Duration) async throws -> [String] {
        // The first call to itself comes ten seconds after it was published.
        try await wait(.seconds(60)) { [unowned self] in await isWell() && lastWords.contains("answered") }
        blowAt = EventLoop.now.nanoseconds
        let blow = Task { try await strike(lasting) }
        let watching = Task { await watch() }
        try await blow.value
        endAt = outage.isEndedByUs ? EventLoop.now.nanoseconds : blowAt
        let client = try await network.startTor()
        let peer = try await peerIsIn(by: client)
        try await wait(TorOutageRun.patience) { [unowned self] in await isWell() }
        // What is noticed late would be told late: a minute of peace ends the watch.
        await pause(.seconds(60))
        watching.cancel()
        await watching.value
        for line in node.lines where line.contains(" onion.") || line.contains(" tor.") { say("    \(line)") }
        return [outage.name, since(blowAt, failedAt), since(endAt, wellAt), since(endAt, peer)]
    }

    private func since(_ start: Int64, _ time: Int64?) -> String {
        time.map { "\(max(0, $0 - start).seconds) s" } ?? "-"
    }

    // MARK: The blow

    private func strike(_ lasting: Duration) async throws {
        switch outage.blow {
        case .signal(let number):
            kill(try torProcess(), number)
        case .stop:
            let process = try torProcess()
            kill(process, SIGSTOP)
            guard outage.isEndedByUs else { return }
            await pause(lasting)
            kill(process, SIGCONT)
        case .killForSeconds(let seconds):
            await systemTor?.kill()
            await pause(.seconds(seconds))
            try await systemTor?.restart()
        case .network:
            network.standStill()
            await pause(lasting)
            network.goOn()
        case .disableNetwork:
            let directory = world.state + "/tor"
            let control = try await ControlConnection.open(
                .unix(path: directory + "/control"),
                credentials: ControlCredentials(cookieFile: directory + "/control.authcookie"))
            try await control.send(.setConfiguration([("DisableNetwork", "1")]))
            control.close()
        }
    }

    private func torProcess() throws -> pid_t {
        if let systemTor { return systemTor.processID }
        guard let process = node.processID.flatMap({ ChildProcesses.named("tor", of: $0).first }) else {
            throw ChaosError("the node has no tor")
        }
        return process
    }

    // MARK: Watching

    /// Every quarter of a second, as a monitor would but more often.
    private func watch() async {
        while !Task.isCancelled {
            let isWell = await isWell()
            let now = EventLoop.now.nanoseconds
            if !isWell {
                failedAt = failedAt ?? now
                wellAt = nil
            } else if failedAt != nil {
                wellAt = wellAt ?? now
            }
            await pause(.milliseconds(250))
        }
    }

    /// Tells each change of what `/healthz` says of the onion service.
    private func isWell() async -> Bool {
        let answer = try? await HTTPExchange.answer(
            to: HTTPRequest(method: "GET", path: "/healthz"), host: "localhost",
            by: .direct(.unix(path: world.directory.path + "/management")), deadline: .seconds(5))
        guard let answer, let checks = try? JSON(answer.body)["checks"] else { return false }
        let words = ["onion", "self_dial", "tor"].map { name in
            let isWell = checks[name]?["ok"]?.bool == true
            return "\(isWell ? "ok" : "FAILS") \(name): \(checks[name]?["state"]?.string ?? "")"
        }.joined(separator: " | ")
        lastWords = words
        tell(words)
        return answer.status == 200
    }

    private var told = ""

    /// But for what counts up.
    private func tell(_ words: String) {
        let plain = String(words.filter { !$0.isNumber })
        guard plain != told else { return }
        told = plain
        if blowAt > 0 { say("  \((EventLoop.now.nanoseconds - blowAt).seconds) s: \(words)") }
    }

    /// When a peer that knew nothing of the node before has got an answer from it.
    private func peerIsIn(by client: LabTor) async throws -> Int64 {
        guard let socks = client.socks else { throw ChaosError("no SOCKS port") }
        let end = ContinuousClock.now + TorOutageRun.patience
        while ContinuousClock.now < end {
            let peer = try? await BisqPeer.dial(
                .tor(socks: socks, onion: address, port: 9999), attemptTimeout: .seconds(15),
                deadline: .seconds(15))
            if let peer, (try? await peer.ping(deadline: .seconds(15))) != nil {
                peer.close()
                return EventLoop.now.nanoseconds
            }
            await pause(.milliseconds(100))
        }
        throw ChaosError("no peer reached the node again")
    }

    private func wait(_ limit: Duration, until isMet: @EventLoop () async -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while await !isMet() {
            guard ContinuousClock.now < end else { throw ChaosError("still not well: \(lastWords)") }
            await pause(.milliseconds(250))
        }
    }

    func close() async {
        await node.stop()
        await world.close()
    }
}
