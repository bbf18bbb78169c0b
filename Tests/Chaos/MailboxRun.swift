import Client
import Crypto
import HTTP1
import JSONCoding
import Lab
import Processes
import Reactor
import Wire

/// A node with a mailbox, Bisq, and two readers, on a private Tor network.
@EventLoop
final class MailboxRun {
    private let directory: LabDirectory
    private let configuration: String
    private var node: LabNode
    private let address: String
    private let sendersTor: LabTor
    private let readersTor: LabTor
    private let phone: PairingToken
    private var readers: [MailboxReaderLine] = []
    private var random: SplitMix
    private var count = 0
    private var promised: Set<String> = []
    private var unclear = 0
    private(set) var violations: [String] = []

    private static let patience: Duration = .seconds(300)

    init(_ network: PrivateTorNetwork, torrc: String, seed: UInt64) async throws {
        random = SplitMix(seed: seed)
        directory = try LabDirectory()
        let path = directory.path
        _ = try directory.make("state")
        try network.seed(dataDirectory: try directory.make("state/tor"))
        try network.writeTorrc(basedOn: torrc, to: path + "/torrc")
        configuration = path + "/onionbell.yaml"
        let text = """
            state_directory: \(path)/state
            tor: {mode: own, torrc: torrc}
            apps: [{name: mailboxes, gateway: mailbox}]
            doors: {mailbox: {listen: ["onion:8030"]}}
            limits: {token_rate: 100000, token_burst: 100000, waiting_per_token: 100000}
            management: {listen: "unix:\(path)/management"}

            """
        try LabDirectory.write(Array(text.utf8), to: configuration)
        node = try LabNode(Chaos.node, configuration: configuration)
        address = try await MailboxRun.address(of: node)
        sendersTor = try await network.startTor()
        let port = try freePort()
        readersTor = try await network.startTor(["SocksPort 127.0.0.1:\(port)"])
        let made = try await Tool([
            Chaos.program, "mailbox", "add", "me", "--json", "--show", "sealed", "--reader", "phone",
            "--reader", "other", "--reader", "lines", "--config", configuration,
        ]).finish().joined()
        let json = try JSON(Array(made.utf8))
        guard let pairing = json["pairingToken"]?.string, let url = json["url"]?.string else {
            throw ChaosError("no mailbox: \(made)")
        }
        phone = try PairingToken(pairing)
        try LabDirectory.write(Array(made.utf8), to: path + "/mailbox")
        await node.wait { $0.exit != nil || $0.lines.contains { $0.contains("mailbox.changed") } }
        let socks = Endpoint.host("127.0.0.1", port: port)
        func aiontfy(_ name: String, isJSON: Bool) throws -> MailboxReaderLine? {
            try LabDirectory.write(
                Array(((json["readers"]?[name]?.string ?? "") + "\n").utf8), to: "\(path)/\(name)")
            return try .aiontfy(
                url: url, token: "\(path)/\(name)", socks: socks, phone: phone,
                root: MailboxRun.root(of: torrc), isJSON: isJSON)
        }
        readers = [
            try .own(mailbox: path + "/mailbox", file: path + "/phone", socks: socks),
            try aiontfy("other", isJSON: false), try aiontfy("lines", isJSON: true),
        ].compactMap(\.self)
        say("readers: \(readers.map(\.name).joined(separator: ", "))")
    }

    private static func address(of node: LabNode) async throws -> String {
        guard let line = await node.publishedLine() else {
            throw ChaosError(node.lines.suffix(5).joined(separator: "\n"))
        }
        return String(line.split(separator: " ")[1])
    }

    /// The checkout that the torrc lies in.
    private static func root(of torrc: String) -> String {
        let path = absolute(torrc)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    // MARK: Bisq

    /// As Bisq 1 and Bisq 2 in turn send it: once. Titles sort in the order of sending.
    private func send() async throws {
        count += 1
        let digits = String(count)
        let title = "m" + String(repeating: "0", count: 6 - digits.count) + digits
        let request: HTTPRequest
        if count.isMultiple(of: 2) {
            let connect = try ConnectPhone(
                platform: .android, deviceToken: phone.deviceToken, key: Array(phone.key.utf8))
            request = connect.request(
                for: try connect.seal(ConnectMessage(id: title, title: title, message: "a")))
        } else {
            request = try BisqSender(to: phone).httpRequest(
                for: PhoneText(sentDate: 1, title: title, message: "a", kind: .trade))
        }
        guard let socks = sendersTor.socks else { throw ChaosError("no SOCKS port") }
        let answer = try? await HTTPExchange.answer(
            to: request, host: address, by: .tor(socks: socks, onion: address, port: 80),
            attemptTimeout: .seconds(20), deadline: .seconds(60))
        guard let answer, answer.status == 200 else {
            // It may come, and it need not.
            unclear += 1
            return
        }
        promised.insert(title)
    }

    /// Until each reader has all that the node has taken.
    private func settle() async -> Bool {
        let end = ContinuousClock.now + MailboxRun.patience
        while !readers.allSatisfy({ promised.isSubset(of: $0.titles) }) {
            guard ContinuousClock.now < end else {
                for reader in readers {
                    let missing = promised.subtracting(reader.titles).sorted()
                    if !missing.isEmpty { violations.append("\(reader.name) has not got \(missing)") }
                    for line in reader.process.lines.suffix(3) { say("  \(reader.name): \(line)") }
                }
                return false
            }
            await pause(.milliseconds(20))
        }
        return true
    }

    // MARK: What happens

    /// From Bisq's request until `onionbell receive` has shown the text.
    func inQuiet(_ count: Int) async throws {
        try await send()
        guard await settle() else { return }
        var times: [Int64] = []
        for _ in 0..<count {
            let start = EventLoop.now.nanoseconds
            let shown = readers[0].titles.count
            try await send()
            await readers[0].process.wait { [unowned self] _ in readers[0].titles.count > shown }
            times.append(EventLoop.now.nanoseconds - start)
        }
        let figures = Table.medianAndLongest(times)
        say("from request to text: median \(figures[0]), longest \(figures[1]) (\(count) in quiet)")
    }

    func inBulk(_ count: Int) async throws {
        guard await settle(), count > 0 else { return }
        let processes: [(String, LabProgram)] = [("node", node)] + readers.map { ($0.name, $0.process) }
        let before = processes.map { $0.1.processorTime ?? .zero }
        for _ in 0..<count { try await send() }
        guard await settle() else { return }
        for ((name, process), before) in zip(processes, before) {
            let used = (process.processorTime ?? .zero) - before
            say("CPU for each of \(count) messages, \(name): \((used / count).inMicroseconds) µs")
        }
    }

    func rounds(_ count: Int) async throws {
        var times: [MailboxBlow: [Int64]] = [:]
        for round in 0..<count {
            let blow = MailboxBlow.allCases.randomElement(using: &random) ?? .tor
            let early = Int.random(in: 0...2, using: &random)
            let late = Int.random(in: 1...2, using: &random)
            let delay = Duration.milliseconds(Int.random(in: 0...400, using: &random))
            for _ in 0..<early { try await send() }
            let sending = Task { for _ in 0..<late { try await send() } }
            await pause(delay)
            let start = EventLoop.now.nanoseconds
            try await strike(blow)
            try await sending.value
            guard await settle() else { break }
            let taken = EventLoop.now.nanoseconds - start
            times[blow, default: []].append(taken)
            say("round \(round + 1): \(blow.rawValue) killed, all there after \(taken.seconds) s")
            for reader in readers where reader.process.exit != nil {
                violations.append("\(reader.name) has ended: \(reader.process.lines.suffix(2))")
            }
            guard violations.isEmpty else { break }
        }
        for reader in readers { violations += reader.violations }
        tell(times)
    }

    private func strike(_ blow: MailboxBlow) async throws {
        switch blow {
        case .tor:
            await readersTor.kill()
            try await readersTor.restart()
        case .node: try await restartNode()
        case .readers: for reader in readers { try await reader.restart() }
        case .readersTwice:
            for reader in readers { try await reader.restart() }
            await pause(.milliseconds(Int.random(in: 0...3000, using: &random)))
            for reader in readers { try await reader.restart() }
        case .nodeAndTor:
            await readersTor.kill()
            try await restartNode()
            try await readersTor.restart()
        case .restart:
            _ = try await Tool([Chaos.program, "restart", "--config", configuration]).finish()
        }
    }

    private func restartNode() async throws {
        await node.kill()
        for line in node.indiscretions { violations.append("the log tells what nobody may know: \(line)") }
        node = try LabNode(Chaos.node, configuration: configuration)
        _ = try await MailboxRun.address(of: node)
    }

    /// The mailbox is gone: a reader that asked on would never know.
    func remove() async throws {
        _ = try await Tool([Chaos.program, "mailbox", "remove", "me", "--config", configuration]).finish()
        let end = ContinuousClock.now + MailboxRun.patience
        while readers.contains(where: { $0.process.exit == nil }), ContinuousClock.now < end {
            await pause(.milliseconds(100))
        }
        for reader in readers where reader.process.exit != .exited(1) {
            violations.append(
                "\(reader.name) does not end without its mailbox: \(reader.process.lines.suffix(2))")
        }
    }

    private func tell(_ times: [MailboxBlow: [Int64]]) {
        var rows = [["killed", "rounds", "all there after, median", "longest"]]
        for blow in MailboxBlow.allCases {
            let own = times[blow] ?? []
            rows.append([blow.rawValue, "\(own.count)"] + Table.medianAndLongest(own))
        }
        for line in Table.lines(rows) { say(line) }
        say("\(promised.count) taken by the node, \(unclear) sent without an answer")
        for reader in readers {
            say(
                "\(reader.name): \(reader.titles.count) shown, \(reader.shownAgain) of them again after a kill"
            )
        }
    }

    func close() async {
        for reader in readers { await reader.process.kill() }
        if await node.stop() != .exited(0) { violations.append("the node did not end in order") }
        for line in node.indiscretions { violations.append("the log tells what nobody may know: \(line)") }
        await readersTor.kill()
        await sendersTor.kill()
        await directory.remove()
    }
}

extension Duration {
    fileprivate var inMicroseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
