import ArgumentParser
import Crypto
import Glibc
import Lab
import Pointing
import Processes
import Reactor
import Tor

/// `onionbell lab`: the world of the demo, for a node that is run by hand.
struct LabCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lab",
        abstract:
            "Rehearse: run a private Tor network and simulated servers of Apple, Google, browsers and Bisq until stopped.",
        discussion: """
            Writes simulated credentials and a torrc into the directory. Prints the init commands for configurations \
            with them, and the SOCKS port of a tor in that network. Prints a line for each notification that arrives \
            at a simulated server. In the torrc the addresses of Bisq's relay lead to a simulated relay; client-torrc \
            is for a tor on Bisq's side. Nothing leaves this machine.

            With --postgresql a PostgreSQL of its own runs too, and the line of storage.url for a node is printed. With \
            --nodes as well it runs so many nodes that share it: configures each by onionbell init, hands the keys of \
            the first one to the others by onionbell cluster, and lets a sender call each over Tor. Prints who has how \
            many shards whenever that changes. A node that ends, however it does, is started again after 20 seconds; \
            meanwhile the sender calls another one. With --onionbalance one address leads to all nodes, and the sender \
            calls only that: an onionbalance of the lab's own publishes it, as for a real front. What nodes and database keep is removed at the end.

            Example: onionbell lab --nodes 3 --postgresql --onionbalance lab

            Exit status: 0 stopped, 64 usage, 69 something that it needs is not available, 73 the directory cannot be \
            created.
            """)

    @Argument(help: ArgumentHelp("Created if it does not exist.", valueName: "directory"))
    var directory: String

    @Option(help: "The tor binary.")
    var tor = "tor"

    @Option(
        help: ArgumentHelp(
            "Let the browsers' servers refuse each second notification, each in the words of its service.",
            valueName: "reason"))
    var browsersRefuse: WebPushRefusal?

    @Option(
        help: ArgumentHelp(
            "Also run so many nodes, 1 to 9, with one queue in PostgreSQL.", valueName: "count"))
    var nodes: Int?

    @Flag(name: .customLong("postgresql"), help: "Also run a PostgreSQL (Debian: postgresql).")
    var withDatabase = false

    @Flag(name: .customLong("onionbalance"), help: "One address for all nodes (Debian: onionbalance).")
    var withFront = false

    func validate() throws {
        guard let nodes else {
            guard !withFront else { throw ValidationError("--onionbalance: add --nodes and --postgresql") }
            return
        }
        guard (1...9).contains(nodes) else { throw ValidationError("--nodes \(nodes): 1 to 9") }
        guard withDatabase else {
            throw ValidationError("nodes with files of their own share nothing: add --postgresql")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        ThisProcess.raiseFileLimit()
        let directory = absolute(directory)
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
            printError("onionbell: \(SystemError("make directory \(directory)"))")
            throw ExitCode(73)
        }
        do {
            try await serve(directory)
        } catch {
            printError("onionbell: \(error)")
            throw ExitCode(69)
        }
    }

    @EventLoop
    private func serve(_ directory: String) async throws {
        // Before a network is built for half a minute.
        let torrc = try installedTorrc()
        let network = try await PrivateTorNetwork.start(tor: tor) { printError("onionbell: \($0)") }
        let client = try await network.startTor()
        let credentials = try LabCredentials()
        let context = try credentials.serverContext()
        let apple = try GatewaySimulator(.apns(credentials.apnsRules(topics: [LabWorld.topic])), context)
        let google = try GatewaySimulator(.fcm(credentials.fcmRules()), context)
        let web = try LabBrowsers(context)
        if let browsersRefuse { web.refuse(browsersRefuse) }
        for (name, simulator) in [("Apple", apple), ("Google", google)] {
            simulator.keepsBook = false
            simulator.onAccepted = { printLine("\(name) accepted a notification of \($0.body.count) bytes") }
        }
        let relay = try await openRelay(in: network)
        let key = "AuthKey_\(credentials.keyID).p8"
        let files: [(String, [UInt8])] = [
            (key, try credentials.providerKeyPEM()), ("ca.pem", try credentials.authorityPEM()),
            ("push.p12", try credentials.certificateFile(topic: LabWorld.topic, password: "")),
            ("push-ended.p12", try certificate(of: credentials, days: -1)),
            ("push-ending.p12", try certificate(of: credentials, days: 20)),
            (
                "service-account.json",
                try credentials.serviceAccountFile(tokenURL: google.url + "/token")
            ),
        ]
        for (name, bytes) in files { try LabDirectory.write(bytes, to: "\(directory)/\(name)") }
        try network.writeTorrc(
            basedOn: torrc, to: "\(directory)/torrc",
            lines: Set(PointedClient.allCases.map(\.builtInAddress)).sorted().map {
                "MapAddress \($0) \(relay.address)"
            })
        try network.writeTorrc(to: "\(directory)/client-torrc", lines: ["ClientOnly 1"])
        // A node of another user reads these where they are.
        for name in ["ca.pem", "torrc", "client-torrc"] {
            guard chmod("\(directory)/\(name)", 0o644) == 0 else {
                throw SystemError("let others read \(directory)/\(name)")
            }
        }
        let settings =
            [
                "--defaults", "--ios-key", "\(directory)/\(key)", "--ios-team-id", credentials.teamID,
                "--android-account", "\(directory)/service-account.json",
            ]
            + [
                "apps[0].production_url=\(apple.url)", "apps[0].sandbox_url=\(apple.url)",
                "apps[0].ca_file=\(directory)/ca.pem", "apps[1].base_url=\(google.url)",
                "apps[1].ca_file=\(directory)/ca.pem", "tor.torrc=\(directory)/torrc",
            ].flatMap { ["--set", $0] }
        printLine((["onionbell init"] + settings).joined(separator: " "))
        web.tell(authority: "\(directory)/ca.pem", torrc: "\(directory)/torrc")
        printLine("onionbell init --bisq --set tor.torrc=\(directory)/torrc")
        if let socks = client.socks { printLine("socks \(socks)") }
        let database = withDatabase ? try await LabDatabase.start() : nil
        if let database { printLine("storage.url: \(database.url)") }
        var cluster: LabNodes?
        if let nodes, let database, let socks = client.socks {
            cluster = try LabNodes(in: network, socks: socks)
            try await cluster?.start(
                nodes, settings: settings + ["--set", "storage.url=\(database.url)"], withFront: withFront)
        }
        printLine("ready")
        await stopSignal()
        await cluster?.stop()
        await database?.stop()
        apple.close()
        google.close()
        web.close()
        relay.relay.close()
        await network.stop()
    }

    /// Opens Bisq's relay behind an onion address of the network, at the ports of both of its forms.
    @EventLoop
    private func openRelay(
        in network: PrivateTorNetwork
    ) async throws -> (relay: SimulatedRelay, address: String) {
        let relay = try SimulatedRelay()
        relay.onPush = {
            let way = $0.target.hasPrefix("/relay") ? "GET /relay" : "POST /v1"
            printLine("Bisq's relay accepted a notification of \($0.message.utf8.count) bytes (\(way))")
        }
        let tor = try await network.startTor()
        return (relay, try await tor.publish([(80, relay.endpoint), (8021, relay.endpoint)]))
    }

    /// Makes a push certificate that ends in `days` days.
    @EventLoop
    private func certificate(of credentials: LabCredentials, days: Int64) throws -> [UInt8] {
        let now = EventLoop.unixMilliseconds / 1000
        let end = now + days * 86_400
        return try PKCS12.write(
            credentials.authority.client(topic: LabWorld.topic, validity: end - 31_536_000...end),
            password: "", kind: .modern)
    }

    @EventLoop
    private func stopSignal() async {
        var sources: [SignalSource] = []
        await withUnsafeContinuation { continuation in
            var isOver = false
            sources = [SIGTERM, SIGINT].map { number in
                SignalSource(number) {
                    guard !isOver else { return }
                    isOver = true
                    continuation.resume()
                }
            }
        }
        withExtendedLifetime(sources) {}
    }
}
