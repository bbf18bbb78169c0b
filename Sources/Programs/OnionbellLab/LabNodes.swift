import Client
import Crypto
import Encodings
import Glibc
import Lab
import Processes
import Reactor
import Tor
import Wire

/// Several nodes with one queue in PostgreSQL, a sender that calls them, and what becomes of both when a node ends. If
/// wanted, an onionbalance publishes one address that leads to all of them.
@EventLoop
final class LabNodes {
    @EventLoop
    private final class Member {
        let name: String
        let home: String
        var program: LabNode?
        var address = ""
        /// The shards it has, of how many nodes it knows; by its own log.
        var standing: (shards: Int, nodes: Int)?

        init(_ name: String, in directory: LabDirectory) throws(LabError) {
            self.name = name
            home = try directory.make(name)
        }

        var configuration: String { "\(home)/onionbell.yaml" }
        var isAlive: Bool { program?.processID != nil }
        /// Reads the node's last log line `outbox.shared`, and returns whether it tells something new.
        func read() -> Bool {
            guard let line = program?.lines.last(where: { $0.contains("outbox.shared") }) else {
                return false
            }
            func value(_ name: String) -> Int? {
                line.split(separator: " ").first { $0.hasPrefix("\(name)=") }
                    .flatMap { Int($0.dropFirst(name.count + 1)) }
            }
            guard let shards = value("shards"), let nodes = value("nodes") else { return false }
            let isNew = standing.map { $0 != (shards, nodes) } ?? true
            standing = (shards, nodes)
            return isNew
        }
    }

    struct Failure: Error, CustomStringConvertible { let description: String }

    private let network: PrivateTorNetwork
    private let socks: Endpoint
    private let directory: LabDirectory
    private var members: [Member] = []
    private var watches: [Task<Void, Never>] = []
    private var front: (address: String, balance: LabFront)?
    private var isStopping = false

    /// Seconds until a node that has ended is started again.
    private static let pause = 20
    /// The number of notifications to send: enough that each node has some of the devices.
    private static let notifications = 12

    /// Makes a lab without nodes yet.
    ///
    /// - Parameter socks: The SOCKS port of the sender's tor.
    init(in network: PrivateTorNetwork, socks: Endpoint) throws(LabError) {
        self.network = network
        self.socks = socks
        directory = try LabDirectory()
    }

    /// Starts the nodes with keys that all share, sends notifications through them, and watches them.
    ///
    /// - Parameters:
    ///   - settings: the arguments of `onionbell init` that all nodes have.
    func start(_ count: Int, settings: [String], withFront: Bool) async throws {
        let key = withFront ? OnionKey.generate() : nil
        let settings =
            settings + (key.map { ["--set", "onion.public_address=\($0.address)"] } ?? [])
        for number in 1...count { members.append(try Member("node-\(number)", in: directory)) }
        for member in members {
            _ = try directory.make("\(member.name)/state")
            // What every tor fetches first, so that the lab is not mostly waiting.
            try network.seed(dataDirectory: "\(member.home)/state/tor")
            _ = try await Tool(
                [ProgramBeside("onionbell").path, "init"] + settings + [
                    "--config", member.configuration, "--state-directory", "\(member.home)/state",
                    "--set", "management.listen=unix:\(member.home)/management",
                ]
            ).finish()
        }
        try await shareKeys()
        for member in members { try start(member) }
        for member in members { try await published(member) }
        try await divided()
        if let key { try await open(key) }
        printLine("kill -9 one of these processes: \(LabNodes.pause) s later the lab starts it again")
        if let front {
            for _ in members { try await send(to: front.address) }
        } else {
            for member in members { try await send(to: member.name, at: member.address) }
        }
        watches = members.map { member in Task { await watch(member) } }
    }

    /// Shares the keys among the nodes, as a person does it.
    private func shareKeys() async throws {
        let (file, passphrase) = ("\(directory.path)/cluster-keys", "\(directory.path)/passphrase")
        try LabDirectory.write(Array(Hex.encode(randomBytes(16)).utf8), to: passphrase)
        for (index, member) in members.enumerated() {
            _ = try await Tool([
                ProgramBeside("onionbell").path, "cluster", index == 0 ? "export" : "import", file,
                "--config", member.configuration, "--passphrase-file", passphrase,
            ]).finish()
        }
        for path in [file, passphrase] { unlink(path) }
    }

    private func start(_ member: Member) throws {
        member.standing = nil
        let program = try LabNode(ProgramBeside("onionbelld").path, configuration: member.configuration)
        member.program = program
        program.onLine = { [unowned self, unowned member] in tell(of: member) }
    }

    private func published(_ member: Member) async throws {
        guard let program = member.program, await program.publishedLine() != nil else {
            throw Failure(description: "\(member.name) has ended: \(lastLines(of: member))")
        }
        // Its own, where its log tells that of all.
        let shown = try await Tool([
            ProgramBeside("onionbell").path, "key", "show", "--config", member.configuration,
        ]).finish()
        member.address = shown.first ?? ""
        printLine("\(member.name) is process \(program.processID ?? 0) at \(member.address)")
        printLine("  onionbell status --config \(member.configuration)")
    }

    /// Opens the one address, as `SeveralNodes.md` says.
    private func open(_ key: OnionKey) async throws {
        let file = "\(directory.path)/front-key"
        try LabDirectory.write(key.torsFile, to: file)
        let balance = try await LabFront.start(key: file, to: members.map(\.address), in: network)
        front = (key.address.description, balance)
        try await balance.published(members.count)
        printLine("onionbalance has published \(key.address), which leads to all of them")
    }

    private func lastLines(of member: Member) -> String {
        member.program?.lines.suffix(4).joined(separator: " / ") ?? ""
    }

    // MARK: Who has what

    private func tell(of member: Member) {
        guard member.read(), let standing = member.standing, !isStopping else { return }
        printLine(
            "\(member.name) has \(standing.shards) of 256 shards, and knows \(standing.nodes) living nodes")
    }

    /// Returns when all shards have owners, each of which knows of all.
    private func divided() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let living = members.filter(\.isAlive)
            let standings = living.compactMap(\.standing)
            if standings.allSatisfy({ $0.nodes == living.count }),
                standings.reduce(0, { $0 + $1.shards }) == 256
            {
                return
            }
            guard ContinuousClock.now < end else {
                throw Failure(description: "the nodes did not divide the shards among them")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    // MARK: The sender

    /// Sends notifications to devices of all shards' owners, and waits for their ends.
    private func send(to name: String, at address: String? = nil) async throws {
        let peer = try await BisqPeer.dial(
            .tor(socks: socks, onion: address ?? name, port: 9999), attemptTimeout: .seconds(10),
            deadline: .seconds(90))
        defer { peer.close() }
        let start = ContinuousClock.now
        var awaited: [String] = []
        for number in 1...LabNodes.notifications {
            let request = try request(number)
            var status = try await peer.send(request).status
            for _ in 0..<300 where status == .busy {
                try await Task.sleep(for: .milliseconds(100))
                status = try await peer.send(request).status
            }
            if status == .stored { awaited.append(request.uid) }
            guard status == .stored || status == .delivered else {
                throw Failure(description: "\(name) answered \(status.map { "\($0)" } ?? "nothing")")
            }
        }
        for uid in awaited {
            guard try await peer.nextResponse(to: uid).status == .delivered else {
                throw Failure(description: "a notification by \(name) was not delivered")
            }
        }
        printLine(
            "\(LabNodes.notifications) notifications sent to \(name) over Tor: all delivered after \((ContinuousClock.now - start).inWords)"
        )
    }

    private func request(_ number: Int) throws -> MobileNotificationRequest {
        let phone = try Phone.new(.ios, descriptor: "iPhone 8 Plus")
        let message = PhoneText(
            sentDate: EventLoop.unixMilliseconds, transactionID: "IgytxfRN", title: "Trade \(number)",
            message: "Your trade IgytxfRN is waiting for you.", kind: .trade)
        var request = try BisqSender(to: phone.pairingToken).request(for: message)
        request.awaitsOutcome = true
        return request
    }

    // MARK: When one ends

    private func watch(_ member: Member) async {
        while !isStopping, let program = member.program {
            await program.wait { $0.exit != nil }
            guard !isStopping, let exit = program.exit else { return }
            let free = exit == .exited(0) ? "are free" : "are free when its lease ends, after 8 s at most"
            printLine("\(member.name) has ended (\(exit)): its shards \(free)")
            do {
                if let front {
                    try await send(to: front.address)
                } else if let other = members.first(where: \.isAlive) {
                    try await send(to: other.name, at: other.address)
                }
                try await Task.sleep(for: .seconds(LabNodes.pause))
                guard !isStopping else { return }
                printLine("\(member.name) is started again")
                try start(member)
                try await published(member)
            } catch {
                if !isStopping { printError("onionbell: \(error)") }
            }
        }
    }

    func stop() async {
        isStopping = true
        for watch in watches { watch.cancel() }
        for member in members { if member.isAlive { await member.program?.stop() } }
        for watch in watches { await watch.value }
        await front?.balance.stop()
        await directory.remove()
    }
}
