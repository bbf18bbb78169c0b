import Client
import Crypto
import Encodings
import Glibc
import JSONCoding
import Lab
import LabParts
import Reactor
import Tor

/// A node, the gateways and their files; the node in its own process, with a tor of its own.
@EventLoop
final class ChaosWorld {
    /// How peers reach the node.
    enum Way {
        /// Straight to where tor would hand the streams over; the node's tor runs without a network.
        case loopback
        /// Over the private Tor network.
        case tor(PrivateTorNetwork, socks: Endpoint)
    }

    let books = Books()
    let gateway: GatewayProcess
    private(set) var node: LabNode?
    /// What all runs of the node wrote.
    private(set) var log: [String] = []

    /// In front of the node's doors, where it is installed.
    private var nginx: LabNginx?
    private let directory: LabDirectory
    private let configuration: String
    private let way: Way
    private let apps: [String]

    private var state: String { directory.path + "/state" }
    private var peerSocket: String { directory.path + "/peers" }
    private var doorSocket: String { directory.path + "/doors" }
    private var proxySocket: String { directory.path + "/proxy" }

    /// Starts the gateways, and writes the node's files.
    ///
    /// - Parameters:
    ///   - certificate: Apple's credential is a .p12 instead of a .p8.
    ///   - waiting: how many the node lets wait; `nil`: as many as it does by itself.
    ///   - apps: further ones, a line each.
    ///   - hasLiftedLimits: for devices, peers and circuits: nobody is ever told to come again.
    init(
        _ way: Way, torrc: String, certificate: Bool = false, waiting: Int? = nil,
        hasLiftedLimits: Bool = false, apps: [String] = []
    ) async throws {
        self.way = way
        self.apps = apps
        directory = try LabDirectory()
        configuration = directory.path + "/onionbell.yaml"
        let credentials = try LabCredentials()
        let files = GatewayFiles(directory: directory.path)
        try files.write(credentials)
        gateway = GatewayProcess(files, books)
        try await gateway.start()
        try LabDirectory.write(
            try credentials.serviceAccountFile(tokenURL: gateway.googleURL + "/token"),
            to: directory.path + "/service-account.json")
        let nodeTorrc = directory.path + "/torrc"
        switch way {
        case .loopback:
            _ = try directory.make("state")
            let lines = Array("\nDisableNetwork 1\n".utf8)
            try LabDirectory.write(try LabDirectory.read(torrc) + lines, to: nodeTorrc)
        case .tor(let network, _):
            try network.writeTorrc(basedOn: torrc, to: nodeTorrc)
            _ = try directory.make("state")
            try network.seed(dataDirectory: try directory.make("state/tor"))
        }
        // The push services know the node by it.
        try LabDirectory.write(
            try LabDirectory.read(directory.path + "/vapid-key"), to: directory.path + "/state/vapid-key")
        func credential(_ file: String) -> [String] {
            certificate
                ? ["certificate_file: \(file)"]
                : ["key_file: AuthKey.p8", "key_id: \(credentials.keyID)", "team_id: \(credentials.teamID)"]
        }
        var limits: [String] = []
        if hasLiftedLimits {
            limits = [
                "peers: {frames_per_second: 65535, frames_per_ten_seconds: 65535}",
                "circuits: {frames_per_second: 0, bytes_per_second: 0}",
                "limits: {token_rate: 100000, token_burst: 100000, waiting_per_token: 100000"
                    + (waiting.map { ", waiting: \($0)}" } ?? "}"),
            ]
        }
        let text = text(
            appleCredential: credential("push.p12"), blocked: credential("blocked.p12"),
            limits: limits.joined(separator: "\n"))
        try LabDirectory.write(Array(text.utf8), to: configuration)
        guard LabNginx.isInstalled else { return }
        // A proxy before it says whose a request is.
        nginx = try await LabNginx(
            """
            upstream node { server unix:\(doorSocket); keepalive 4; }
            server {
                listen unix:\(proxySocket);
                set_real_ip_from unix:; real_ip_header X-Real-IP;
                location / { proxy_pass http://node; \(LabNginx.forwarding) }
            }
            """, in: directory.path)
    }

    private func text(appleCredential: [String], blocked: [String], limits: String) -> String {
        """
        state_directory: \(state)
        tor: {mode: own, torrc: torrc}
        onion: {peer_listen: "unix:\(peerSocket)", http_listen: "unix:\(directory.path)/http", guarded: \(isOverTor)}
        apps:
          - name: apple
            gateway: apns
            topic: \(GatewayFiles.topic)
            \(appleCredential.joined(separator: "\n    "))
            production_url: \(gateway.appleURL)
            sandbox_url: \(gateway.appleURL)
            ca_file: ca.pem
          - name: \(ChaosWorld.blocked)
            gateway: apns
            topic: \(ChaosWorld.blocked).example
            \(blocked.joined(separator: "\n    "))
            production_url: \(gateway.appleURL)
            sandbox_url: \(gateway.appleURL)
            ca_file: ca.pem
          - name: google
            gateway: fcm
            service_account_file: service-account.json
            base_url: \(gateway.googleURL)
            ca_file: ca.pem
          - name: browsers
            gateway: web_push
            allowed_hosts: \(gateway.webHosts + [ChaosWorld.nowhere])
            ca_file: ca.pem
        \(apps.map { "  - \($0)" }.joined(separator: "\n"))
        defaults: {ios: apple, android: google}
        http: {client_address_header: X-Forwarded-For}
        \(limits)
        management: {listen: "unix:\(directory.path)/management"}
        doors:
          web_push: {listen: ["unix:\(doorSocket)"], ios: apple, android: google, outcome_deadline: 0}
          gorush: {listen: ["unix:\(doorSocket)"], apps: [apple, google]}
          bitwarden: {listen: ["unix:\(doorSocket)"], apps: [apple, google]}
          status: {listen: ["unix:\(doorSocket)"], apps: [apple, google]}
        log: {level: info}

        """
    }

    /// An app whose topic Apple refuses: what is for it waits to the end.
    nonisolated static let blocked = "blocked"

    /// A push service of browsers at a port that nobody has, and a browser there.
    nonisolated static let nowhere = "127.0.0.1:1"
    nonisolated static let browserNowhere =
        "wp1:127.0.0.1:3A1:2Fnobody::Ar5fxnHrdSkDHYeWmuiXREHaM-h_0xjRetXego8OTzzc_KR2sP79J16hbekKFEkcoA"

    /// How many wait for the app that is blocked and for the push service that is not there, as the operator sees it.
    func waitingForEver() async throws -> Int {
        let lines = try await operate(["outbox", "check"])
        return [ChaosWorld.blocked, "browsers"].reduce(0) { sum, app in
            let line = lines.first { $0.contains("  \(app): ") }
            return sum + (line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0)
        }
    }

    // MARK: The node

    func startNode() throws {
        node = try LabNode(Chaos.node, configuration: configuration)
    }

    /// Ends it at once, and keeps its log.
    func killNode() async {
        books.nodeKilled()
        await endNode(by: SIGKILL)
    }

    /// For the log.
    func note(_ line: String) { log.append("\(EventLoop.now.nanoseconds) \(line)") }

    /// Asks it to stop.
    ///
    /// - Returns: the time that took.
    func stopNode() async -> Int64 {
        let begun = EventLoop.now.nanoseconds
        books.nodeKilled()
        let exit = await endNode(by: SIGTERM)
        let time = EventLoop.now.nanoseconds - begun
        if exit != .exited(0) { books.violate("stopping ended with \(exit.map { "\($0)" } ?? "nothing")") }
        if time > 10_000_000_000 { books.violate("stopping took \(time.seconds) s") }
        return time
    }

    /// Has it become its successor.
    func restartInPlace() async throws {
        // What a gateway is silent about for longer than a stop may take is sent again under its ids.
        books.nodeKilled()
        let process = node?.processID
        // Right after its start it has no socket yet.
        await node?.wait { $0.exit != nil || $0.lines.contains { $0.contains(" node.started") } }
        do {
            _ = try await operate(["restart"])
        } catch {
            books.violate("\(error)")
        }
        if process == nil || node?.processID != process { books.violate("a restart in place ended the node") }
    }

    @discardableResult
    private func endNode(by signal: Int32) async -> ChildExit? {
        guard let node else { return nil }
        if let exit = node.exit { books.violate("the node ended by itself: \(exit)") }
        let exit = await node.end(by: signal)
        for line in node.indiscretions { books.violate("the log tells what nobody may know: \(line)") }
        log += node.lines
        self.node = nil
        return exit
    }

    func signalNode(_ number: Int32) {
        if let process = node?.processID { kill(process, number) }
    }

    /// What the node has open goes on to exist as long as the node.
    func deleteOutbox() {
        for suffix in ["", "-wal", "-shm"] { unlink(state + "/outbox.sqlite" + suffix) }
    }

    /// Kills the tor that the node has started; does nothing while there is none.
    func killTor() {
        guard let parent = node?.processID else { return }
        for process in ChildProcesses.named("tor", of: parent) { kill(process, SIGKILL) }
    }

    var isOverTor: Bool { if case .tor = way { true } else { false } }

    /// Dials the node until it answers, for 20 seconds.
    func connect() async throws -> BisqPeer {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            do {
                guard let route else { throw ChaosError("no route to the node") }
                return try await BisqPeer.dial(route, deadline: .seconds(2))
            } catch {
                guard ContinuousClock.now < end else { throw error }
                await pause(.milliseconds(20))
            }
        }
    }

    /// How a peer reaches the node; `nil` while its address is not known.
    var route: PeerRoute? {
        switch way {
        case .loopback: return .direct(.unix(path: peerSocket))
        case .tor(_, let socks):
            guard let file = try? LabDirectory.read(state + "/onion-address") else { return nil }
            let address = String(decoding: file, as: UTF8.self).split(separator: "\n").first.map(String.init)
            return address.map { .tor(socks: socks, onion: $0, port: 9999) }
        }
    }

    // MARK: Its doors for other senders

    var doorRoute: PeerRoute { .direct(.unix(path: doorSocket)) }
    /// The same by way of nginx; `nil` where there is none.
    var proxyRoute: PeerRoute? { nginx.map { _ in .direct(.unix(path: proxySocket)) } }

    /// The public key of the node as Status' push server; `nil` until it has one.
    var statusKey: Secp256k1.PublicKey? {
        guard let file = try? LabDirectory.read(state + "/status-public-key"),
            let bytes = Hex.decode(String(decoding: file.prefix(66), as: UTF8.self))
        else { return nil }
        return try? Secp256k1.PublicKey(bytes)
    }

    /// Makes an installation, as the operator does.
    func addInstallation() async throws -> (id: String, key: String) {
        let lines = try await operate(["installation", "add", "--json"])
        let made = try JSON(Array(lines.joined().utf8))
        guard let id = made["id"]?.string, let key = made["key"]?.string else {
            throw ChaosError("installation add: \(lines.joined())")
        }
        return (id, key)
    }

    /// Puts phones with these device tokens into the phone book, as the operator does, and waits until the node knows them.
    func addPhones(_ deviceTokens: [String], of app: String) async throws {
        for (number, token) in deviceTokens.enumerated() {
            _ = try await operate([
                "phones", "add", "phone\(number)", "--platform", "android", "--device-token", token, "--app",
                app,
            ])
        }
        let words = "phones=\(deviceTokens.count)"
        await node?.wait { node in
            node.exit != nil || node.lines.contains { $0.contains("phones.changed") && $0.contains(words) }
        }
    }

    /// Runs `onionbell`.
    private func operate(_ arguments: [String]) async throws -> [String] {
        var lines: [String] = []
        var child: ChildProcess?
        defer { _ = child }
        let exit = try await withCheckedThrowingContinuation { continuation in
            do {
                child = try ChildProcess(
                    [Chaos.program] + arguments + ["--config", configuration],
                    onLine: { lines.append($0) }, onExit: { continuation.resume(returning: $0) })
            } catch {
                continuation.resume(throwing: error)
            }
        }
        guard exit == .exited(0) else {
            throw ChaosError("\(arguments.joined(separator: " ")): \(lines.joined(separator: "\n"))")
        }
        return lines
    }

    func close() async {
        if node != nil { _ = await stopNode() }
        await gateway.kill()
        await nginx?.stop()
        await directory.remove()
    }
}
