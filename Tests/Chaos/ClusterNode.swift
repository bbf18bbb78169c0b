import Client
import Glibc
import Lab
import Processes
import Reactor
import Vectors

/// One of several nodes: its process, its gateways and its line to the database. It is started again when it ends with a
/// failure, as its service unit has it.
@EventLoop
final class ClusterNode {
    let name: String
    let gateway: GatewayProcess
    let line: DatabaseLine
    let clocks: ShiftedClocks
    private(set) var log: [String] = []
    /// Whether it may end by itself: another node has what it had.
    var mayEnd = false
    private(set) var ends = 0

    private var process: LabNode?
    private let books: Books
    private let directory: LabDirectory
    private let configuration: String
    private var watch: Task<Void, Never>?
    /// As in the service unit.
    private static let restart: Duration = .seconds(5)

    var peers: PeerRoute { .direct(.unix(path: directory.path + "/peers")) }
    var posts: PeerRoute { .direct(.unix(path: directory.path + "/http")) }
    private var state: String { directory.path + "/state" }

    /// Starts its gateways.
    ///
    /// - Parameter first: Whose key it has.
    init(
        _ name: String, at server: PostgreSQLServer, _ database: String, torrc: String,
        with first: ClusterNode?,
        _ books: Books
    ) async throws {
        self.name = name
        self.books = books
        directory = try LabDirectory()
        configuration = directory.path + "/onionbell.yaml"
        clocks = try ShiftedClocks(in: directory.path)
        line = try DatabaseLine(to: server.directory)
        let credentials = try LabCredentials()
        let files = GatewayFiles(directory: directory.path)
        try files.write(credentials)
        gateway = GatewayProcess(files, of: name, books)
        try await gateway.start()
        try LabDirectory.write(
            try credentials.serviceAccountFile(tokenURL: gateway.googleURL + "/token"),
            to: directory.path + "/service-account.json")
        try LabDirectory.write(
            try LabDirectory.read(torrc) + Array("\nDisableNetwork 1\n".utf8), to: directory.path + "/torrc")
        let state = try directory.make("state")
        if let first {
            try LabDirectory.write(
                try LabDirectory.read(first.state + "/digest-key"), to: state + "/digest-key")
        }
        try LabDirectory.write(Array(text(credentials, line.url(database)).utf8), to: configuration)
    }

    private func text(_ credentials: LabCredentials, _ database: String) -> String {
        """
        state_directory: \(state)
        storage: {url: "\(database)"}
        tor: {mode: own, torrc: torrc}
        onion: {peer_listen: "unix:\(directory.path)/peers", http_listen: "unix:\(directory.path)/http", guarded: false}
        apps:
          - name: apple
            gateway: apns
            topic: \(GatewayFiles.topic)
            key_file: AuthKey.p8
            key_id: \(credentials.keyID)
            team_id: \(credentials.teamID)
            production_url: \(gateway.appleURL)
            sandbox_url: \(gateway.appleURL)
            ca_file: ca.pem
          - name: google
            gateway: fcm
            service_account_file: service-account.json
            base_url: \(gateway.googleURL)
            ca_file: ca.pem
        defaults: {ios: apple, android: google}
        http: {outcome_deadline: 0, bisq2: {ios: apple, android: google}}
        peers: {frames_per_second: 65535, frames_per_ten_seconds: 65535}
        circuits: {frames_per_second: 0, bytes_per_second: 0}
        limits: {token_rate: 100000, token_burst: 100000, waiting_per_token: 100000}
        management: {listen: "unix:\(directory.path)/management"}
        log: {level: info}

        """
    }

    // MARK: Its process

    /// The program has said that it serves.
    var isServing: Bool {
        process.map { $0.exit == nil && $0.lines.contains { $0.contains("node.started") } } ?? false
    }

    var isUp: Bool { process?.exit == nil && process != nil }

    /// With the right time: one that signs anew an hour off is refused by Apple and Google until its clock is set, and what is
    /// for its shards waits.
    func start() throws {
        try clocks.rightAll()
        let process = try LabNode(Chaos.node, configuration: configuration, environment: clocks.environment)
        self.process = process
        watch = Task { [weak self] in
            await process.wait { $0.exit != nil }
            await self?.ended(process)
        }
    }

    /// By itself, or else it is no longer this one's.
    private func ended(_ process: LabNode) async {
        guard self.process === process, let exit = process.exit else { return }
        // On a busy machine the database may not answer in time: a service manager would start the node again.
        let hasStarted = process.lines.contains { $0.contains("node.started") }
        if !mayEnd, hasStarted || exit != .exited(69) {
            books.violate("\(name) ended by itself: \(exit): \(process.lines.suffix(3))")
        }
        ends += 1
        keep(process)
        await pause(ClusterNode.restart)
        guard self.process == nil else { return }
        do { try start() } catch { books.violate("\(name) can't be started: \(error)") }
    }

    private func keep(_ process: LabNode) {
        for line in process.indiscretions {
            books.violate("the log tells what nobody may know: \(line)")
        }
        log += process.lines
        self.process = nil
    }

    func signal(_ number: Int32) {
        if let id = process?.processID { Glibc.kill(id, number) }
    }

    /// - Returns: How it ended; `nil`: it was not there.
    @discardableResult
    func end(by signal: Int32) async -> ChildExit? {
        guard let process else { return nil }
        self.process = nil
        let exit = await process.end(by: signal)
        keep(process)
        return exit
    }

    /// Has the node restart in place, and returns when it serves again.
    func restartInPlace() async throws {
        let before = process?.processID
        do {
            _ = try await Tool([Chaos.program, "restart", "--config", configuration]).finish()
        } catch {
            books.violate("\(name): \(error)")
        }
        if before == nil || process?.processID != before {
            books.violate("\(name): a restart in place ended the node")
        }
    }

    func note(_ line: String) {
        log.append("\(EventLoop.unixMilliseconds) \(line)")
    }

    /// All that its processes wrote so far.
    var lines: [String] { log + (process?.lines ?? []) }

    func close() async {
        mayEnd = true
        if await end(by: SIGTERM) == nil { process = nil }
        await gateway.kill()
        line.close()
        await directory.remove()
    }
}
