import ArgumentParser
import Client
import Crypto
import Encodings
import HTTP1
import Lab
import Reactor
import Wire

/// `onionbell-chaos relay`: what becomes of notifications that Bisq's relay has trouble with.
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract:
            "A node that hands on to Bisq's relay: its faults one by one, its limits, a long outage; then to two.",
        discussion: """
            On a private Tor network: a client's tor takes the addresses that are built into Bisq for the node's, the \
            node calls a simulated relay behind an onion address. What may come twice is known and counted: what the \
            relay took without saying so.

            Then rounds of nodes with two upstreams for an app, each behind a tor of its own, and lanes for Android and \
            iOS. A round is one blow. All that the node has taken has to come to an upstream, and what one upstream may \
            have to no other, within a bound:

            \(UpstreamBound.text)
            """)

    @Option(help: "Seconds of the outage, in which the node is killed once.") var lasting = 300
    @Option(help: "Notifications in quiet, of each form, for latency and CPU.") var notifications = 30
    @Flag(help: "Leave out the faults that the node waits long after, and try each with one form only.")
    var quick = false
    @Option(help: "Rounds with two upstreams for an app; 0 leaves them out.") var rounds = 30
    @Option(help: "Makes the plan of these rounds; the same seed makes the same one.") var seed: UInt64 = 1
    @Option(help: "How many nodes, each with two upstreams of its own, go through the rounds side by side.")
    var nodes = 3
    @Option(parsing: .upToNextOption, help: "Only rounds whose blow has one of these in its name.")
    var only: [String] = []
    @Flag(help: "Only the rounds with two upstreams.") var onlyRounds = false
    @Option(help: "Write the logs of the nodes of failed rounds here.") var log = ".build/chaos-relay.log"
    @Option(help: "The project's torrc.") var torrc = "torrc"

    func validate() throws {
        guard rounds >= 0 else { throw ValidationError("--rounds is a number from 0 on") }
        guard (1...9).contains(nodes) else { throw ValidationError("--nodes is a number from 1 to 9") }
        for words in only where !blows.contains(where: { $0.rawValue.contains(words) }) {
            throw ValidationError("--only: no blow has \(words)")
        }
    }

    private var blows: [UpstreamBlow] {
        UpstreamBlow.allCases.filter { blow in
            only.isEmpty || only.contains { blow.rawValue.contains($0) }
        }
    }

    func run() async throws {
        Chaos.prepare()
        let network = try await PrivateTorNetwork.start()
        var violations = onlyRounds ? [] : try await withOneUpstream(network)
        if rounds > 0 { violations += try await withTwoUpstreams(network) }
        await network.stop()
        for violation in violations.prefix(40) { say("VIOLATION: \(violation)") }
        guard violations.isEmpty else { throw ExitCode(1) }
        say("nothing lost, nothing twice but after unclear outcomes")
    }

    private func withOneUpstream(_ network: PrivateTorNetwork) async throws -> [String] {
        let run = try await RelayRun(network, torrc: torrc)
        try await run.inQuiet(notifications)
        try await run.faults(quick: quick)
        try await run.limits(rounds: quick ? 2 : 6)
        try await run.outage(.seconds(lasting))
        await run.close()
        return await run.violations
    }

    @EventLoop
    private func withTwoUpstreams(_ network: PrivateTorNetwork) async throws -> [String] {
        let plan = UpstreamPlan(rounds, of: blows, seed: seed)
        let runs = try await UpstreamRun.play(
            plan, by: min(nodes, rounds), network, torrc: torrc, seed: seed)
        for line in plan.table { say(line) }
        let violations = runs.flatMap { $0.violations }
        if !violations.isEmpty {
            let text = runs.flatMap { $0.log }.joined(separator: "\n") + "\n"
            try? LabDirectory.write(Array(text.utf8), to: log)
            say("the nodes' logs are in \(log)")
        }
        return violations
    }
}

/// One node, one relay, and the books.
@EventLoop
final class RelayRun {
    private let directory: LabDirectory
    private let configuration: String
    private var node: LabNode
    private let client: LabTor
    private let relayTor: LabTor
    /// Of each form the present one last: it is opened anew after an outage.
    private var relays: [RelayForm: [SimulatedRelay]] = [:]
    /// Messages that the node has promised to deliver, and when.
    private var promised: [String: Int64] = [:]
    /// What a relay took without saying so: as many may come twice.
    private var unclear = 0
    private var log: [String] = []
    private(set) var violations: [String] = []

    private static let patience: Duration = .seconds(1200)

    init(_ network: PrivateTorNetwork, torrc: String) async throws {
        directory = try LabDirectory()
        let path = directory.path
        let (get, post) = (try SimulatedRelay(), try SimulatedRelay())
        relays = [.get: [get], .post: [post]]
        relayTor = try await network.startTor()
        let relay = try await relayTor.publish([
            (RelayForm.get.port, get.endpoint), (RelayForm.post.port, post.endpoint),
        ])
        _ = try directory.make("state")
        try network.seed(dataDirectory: try directory.make("state/tor"))
        try network.writeTorrc(
            basedOn: torrc, to: path + "/torrc",
            lines: RelayForm.allCases.map { "MapAddress \($0.host) \(relay)" })
        configuration = path + "/onionbell.yaml"
        let text = """
            state_directory: \(path)/state
            tor: {mode: own, torrc: torrc}
            apps:
              - {name: bisq1, gateway: relay, form: bisq1}
              - {name: bisq2, gateway: relay, form: bisq2}
            management: {listen: "unix:\(path)/management"}

            """
        try LabDirectory.write(Array(text.utf8), to: configuration)
        node = try LabNode(Chaos.node, configuration: configuration)
        let address = try await RelayRun.address(of: node)
        client = try await network.startTor(RelayForm.allCases.map { "MapAddress \($0.host) \(address)" })
    }

    private static func address(of node: LabNode) async throws -> String {
        guard let line = await node.publishedLine() else {
            throw ChaosError(node.lines.suffix(5).joined(separator: "\n"))
        }
        return String(line.split(separator: " ")[1])
    }

    private func relay(_ form: RelayForm) -> SimulatedRelay { relays[form]!.last! }
    private var books: [SimulatedRelay.Push] { relays.values.joined().flatMap(\.book) }

    // MARK: Senders

    /// As Bisq sends it: once, and what becomes of it then is the node's.
    private func send(_ form: RelayForm, to phone: Phone? = nil) async throws {
        let (request, message) = try form.request(
            to: phone ?? (try Phone.new(.android, descriptor: "phone")))
        guard let socks = client.socks else { throw ChaosError("no SOCKS port") }
        let answer = try? await HTTPExchange.answer(
            to: request, host: form == .get ? form.host : "\(form.host):\(form.port)",
            by: .tor(socks: socks, onion: form.host, port: form.port), attemptTimeout: .seconds(20))
        guard let answer else { return }
        if form.isTaken(answer) {
            promised[message] = EventLoop.now.nanoseconds
        } else if answer.status != 503 {
            let body = String(decoding: answer.body, as: UTF8.self)
            violations.append("\(form.rawValue) was answered \(answer.status): \(body.prefix(100))")
        }
    }

    /// Until all that was promised has arrived.
    private func settle(_ name: String) async -> Int64 {
        let end = ContinuousClock.now + RelayRun.patience
        var arrived = Set(books.map(\.message))
        while !arrived.isSuperset(of: promised.keys), ContinuousClock.now < end {
            await pause(.milliseconds(50))
            arrived = Set(books.map(\.message))
        }
        let lost = promised.keys.count { !arrived.contains($0) }
        if lost > 0 { violations.append("\(name): \(lost) of \(promised.count) lost") }
        let extra = books.count - arrived.count
        if extra > unclear {
            violations.append("\(name): \(extra) more than once, at most \(unclear) may be")
        }
        say("\(name): \(promised.count) promised, \(lost) lost, \(extra) twice of \(unclear) unclear")
        return EventLoop.now.nanoseconds
    }

    // MARK: What happens

    /// Latency and CPU, when nothing is wrong.
    func inQuiet(_ count: Int) async throws {
        for form in RelayForm.allCases { try await send(form) }
        _ = await settle("warm")
        let before = node.processorTime
        var latencies: [Int64] = []
        for form in RelayForm.allCases {
            for _ in 0..<count {
                let phone = try Phone.new(.android, descriptor: "phone")
                try await send(form, to: phone)
            }
        }
        _ = await settle("in quiet")
        // A POST is answered when the relay has answered.
        for push in books where push.target.hasPrefix("/relay") {
            if let at = promised[push.message] { latencies.append(push.at.nanoseconds - at) }
        }
        if let before, let after = node.processorTime {
            say("  CPU per notification: \((after - before) / (2 * count))")
        }
        let sorted = latencies.sorted()
        say(
            "  stored to taken by the relay: median \(milliseconds(sorted[sorted.count / 2])), longest \(milliseconds(sorted.last ?? 0))"
        )
    }

    private func milliseconds(_ time: Int64) -> String { "\(time / 1_000_000) ms" }

    /// Each once, between two that are taken.
    func faults(quick: Bool) async throws {
        let breaker = #"{"wasAccepted":false,"errorCode":"ServiceUnavailable","isUnregistered":false}"#
        let half = Array("HTTP/1.1 200 OK\r\nContent-Length: 46\r\n\r\n{\"wasAccepted\":true".utf8)
        var faults: [RelayFault] = [
            .answer(status: 429, fields: ["retry-after": "1"]),
            .answer(status: 502, "<html>", fields: ["retry-after": "1"]),
            .answer(status: 503, fields: ["retry-after": "1"]), .answer(status: 500),
            .answer(status: 200, "<html>"), .answer(status: 400, breaker, fields: ["retry-after": "1"]),
            .close(isDelivered: false), .close(isDelivered: true), .delay(.seconds(5)),
            .bytes(Array("SSH-2.0-dropbear\r\n\r\n".utf8), thenCloses: false),
            .bytes(half, thenCloses: true), .bytes([0, 1, 2, 255], thenCloses: true),
        ]
        if !quick {
            faults += [
                .answer(status: 302, fields: ["location": "http://elsewhere.example/"]),
                .answer(status: 404), .answer(status: 400), .silence(isDelivered: false),
                .silence(isDelivered: true), .delay(.seconds(70)), .drip(Array("x: y\r\n".utf8)),
            ]
        }
        for form in RelayForm.allCases {
            // In a hurry each form meets every second one, and the open breaker the one that says so.
            let isPost = form == .post
            for (number, fault) in faults.enumerated() where !quick || number.isMultiple(of: 2) != isPost {
                relay(form).faults.append(fault)
                switch fault {
                case .close(isDelivered: true), .silence(isDelivered: true), .delay(.seconds(70)):
                    unclear += 1
                case _: break
                }
                try await send(form)
                // One that is tried again would take the next one's fault.
                let end = ContinuousClock.now + .seconds(10)
                while !relay(form).faults.isEmpty, ContinuousClock.now < end {
                    await pause(.milliseconds(20))
                }
                try await send(form)
            }
        }
        // A lane that waits comes to the later ones later.
        let end = ContinuousClock.now + RelayRun.patience
        while RelayForm.allCases.contains(where: { !relay($0).faults.isEmpty }), ContinuousClock.now < end {
            for form in RelayForm.allCases where !relay(form).faults.isEmpty { try await send(form) }
            await pause(.seconds(2))
        }
        _ = await settle("each of \(faults.count) faults")
    }

    /// nginx in front: nobody is refused, since the node is slower.
    func limits(rounds: Int) async throws {
        let phones = try (0..<4).map { _ in try Phone.new(.android, descriptor: "phone") }
        for _ in 0..<rounds {
            for form in RelayForm.allCases { for phone in phones { try await send(form, to: phone) } }
        }
        _ = await settle("\(rounds) in a row for each phone")
        let limited = RelayForm.allCases.reduce(0) { $0 + relay($1).figures.limited }
        if limited > 0 { violations.append("\(limited) over nginx's limits") }
    }

    /// A third nothing listens, a third nginx has nothing behind it, a third there is no answer.
    func outage(_ time: Duration) async throws {
        let stages: [RelayFault?] = [nil, .answer(status: 502, "<html>"), .silence(isDelivered: false)]
        let endpoints = RelayForm.allCases.map { ($0, relay($0).endpoint) }
        for (form, _) in endpoints { relay(form).close() }
        for (number, stage) in stages.enumerated() {
            let end = ContinuousClock.now + time / stages.count
            if stage != nil, number == 1 {
                for (form, endpoint) in endpoints { relays[form]?.append(try SimulatedRelay(on: endpoint)) }
            }
            for form in RelayForm.allCases where stage != nil { relay(form).outage = stage }
            repeat {
                for form in RelayForm.allCases { try await send(form) }
                await pause(.seconds(1))
            } while ContinuousClock.now < end
            if number == 1 { try await restart() }
        }
        for form in RelayForm.allCases {
            relay(form).outage = nil
            relay(form).breakConnections()
        }
        let over = EventLoop.now.nanoseconds
        let settled = await settle("outage of \(time.components.seconds) s")
        say("  all delivered \((settled - over).seconds) s after it")
    }

    private func restart() async throws {
        await node.kill()
        log += node.lines
        node = try LabNode(Chaos.node, configuration: configuration)
        _ = try await RelayRun.address(of: node)
    }

    func close() async {
        let exit = await node.stop()
        if exit != .exited(0) {
            violations.append("the node ended with \(exit.map { "\($0)" } ?? "nothing")")
        }
        for line in node.indiscretions { violations.append("the log tells what nobody may know: \(line)") }
        await client.kill()
        await relayTor.kill()
        for relay in relays.values.joined() { relay.close() }
        await directory.remove()
    }
}
