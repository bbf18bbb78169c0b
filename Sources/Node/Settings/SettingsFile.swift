import Doors
import Glibc
import Logging
import Reactor
import Relay
import Tor
import Wire

extension Settings {
    /// Reads a configuration file and the environment.
    ///
    /// - Throws: ``SettingsError`` with every fault found.
    package init(file: String, environment: [String: String]) throws(SettingsError) {
        let text: String
        do {
            text = try SettingsText.read(file)
        } catch {
            throw SettingsError(file: file, faults: [error])
        }
        try self.init(
            yaml: text, file: file, directory: absoluteDirectory(of: file), environment: environment)
    }

    /// Reads a configuration.
    ///
    /// - Parameter directory: Relative file names in the configuration are relative to it.
    package init(
        yaml: String, file: String, directory: String = ".", environment: [String: String] = [:]
    ) throws(SettingsError) {
        let reader = SettingsReader(environment: environment, directory: directory)
        do {
            self.init(SettingsReader.Section(reader, node: try SettingsText.parse(yaml)))
        } catch {
            throw SettingsError(file: file, faults: [error])
        }
        reader.refuseUnknownEnvironment()
        texts = reader.texts
        guard reader.faults.isEmpty else { throw SettingsError(file: file, faults: reader.faults) }
    }

    /// Asks for every key there is; faults are gathered in the section's reader.
    init(_ root: SettingsReader.Section) {
        stateDirectory = root.path("state_directory", default: stateDirectory)
        if stateDirectory.isEmpty { root.fault("state_directory", "must not be empty") }
        root.reader.stateDirectory = stateDirectory
        read(tor: root.section("tor"))
        read(onion: root.section("onion"))
        read(gateways: root.section("gateways"))
        root.reader.goesThroughTor = proxy == .tor
        let names = readApps(root)
        read(peers: root.section("peers"))
        read(circuits: root.section("circuits"))
        read(http: root.section("http"), names)
        addStandIns()
        read(doors: root.section("doors"), names)
        read(limits: root.section("limits"))
        read(storage: root.section("storage"))
        let management = root.section("management")
        managementListen = management.endpoint("listen", default: managementListen)
        if !managementListen.isLoopback {
            management.fault("listen", "must be a loopback address or a Unix socket, because it has no login")
        }
        management.refuseUnknownKeys()
        console = console(root.section("console"))
        watchman = watchman(root.list("watchman"))
        let log = root.section("log")
        self.log.level = log.choice("level", default: self.log.level)
        self.log.format = log.choice("format", default: self.log.format)
        log.refuseUnknownKeys()
        root.refuseUnknownKeys()
    }

    private mutating func read(tor section: SettingsReader.Section) {
        tor.mode = section.choice("mode", default: tor.mode)
        tor.binary = section.word("binary", default: tor.binary)
        tor.torrc = section.path("torrc")
        tor.control = section.endpoint("control", default: tor.control)
        tor.cookieFile = section.path("cookie_file")
        tor.passwordFile = section.credential("password_file")
        tor.socks = section.optionalEndpoint("socks")
        tor.heartbeat = section.seconds("heartbeat", default: tor.heartbeat, in: 1...300)
        if tor.mode == .instance, tor.instanceDirectory == nil {
            section.fault(
                "control",
                "must be a Unix socket with mode: instance; the package's is \(Tor.instanceControl)")
        }
        section.refuseUnknownKeys()
    }

    private mutating func read(onion section: SettingsReader.Section) {
        onion.peerPort = section.port("peer_port", default: onion.peerPort)
        onion.httpPorts = section.ports("http_ports", default: onion.httpPorts)
        onion.network = section.choice("network", default: onion.network)
        onion.publicAddress = section.value(
            "public_address", default: onion.publicAddress, expecting: "an onion address, or nothing"
        ) { text in text.isEmpty ? "" : OnionAddress(text)?.description }
        onion.peerListen = section.optionalEndpoint("peer_listen")
        onion.httpListen = section.optionalEndpoint("http_listen")
        onion.socketDirectory = section.path("socket_directory")
        onion.uploadTimeout = section.seconds("upload_timeout", default: onion.uploadTimeout, in: 10...3600)
        onion.selfDial.interval = section.seconds(
            "self_dial_interval", default: onion.selfDial.interval, in: 0...86400)
        onion.selfDial.timeout = section.seconds(
            "self_dial_timeout", default: onion.selfDial.timeout, in: 1...120)
        onion.selfDial.failures = section.integer(
            "self_dial_failures", default: onion.selfDial.failures, in: 1...100)
        for (key, endpoint) in [("peer_listen", onion.peerListen), ("http_listen", onion.httpListen)]
        where endpoint?.isLoopback == false {
            section.fault(key, "must be a loopback address or a Unix socket: only tor connects to it")
        }
        if onion.httpPorts.contains(onion.peerPort) {
            section.fault("http_ports", "\(onion.peerPort) is already the peer_port")
        }
        read(defence: section)
        section.refuseUnknownKeys()
    }

    private mutating func read(peers section: SettingsReader.Section) {
        peers.network = onion.network
        peers.connections = section.integer("connections", default: peers.connections, in: 1...1_000_000)
        peers.idleTimeout = section.seconds("idle_timeout", default: peers.idleTimeout, in: 1...86400)
        peers.frameDeadline = section.seconds("frame_deadline", default: peers.frameDeadline, in: 1...3600)
        peers.limits.frameLength = section.integer(
            "frame_bytes", default: peers.limits.frameLength, in: 8192...(10 << 20))
        peers.limits.framesPerSecond = section.integer(
            "frames_per_second", default: peers.limits.framesPerSecond, in: 1...65535)
        peers.limits.framesPerTenSeconds = section.integer(
            "frames_per_ten_seconds", default: peers.limits.framesPerTenSeconds, in: 1...65535)
        peers.unanswered = section.integer("unanswered", default: peers.unanswered, in: 1...65536)
        section.refuseUnknownKeys()
    }

    private mutating func read(http section: SettingsReader.Section, _ names: [String]) {
        bisqRelay.bisq1 = apps(of: section.section("bisq1"), names)
        bisqRelay.bisq2 = apps(of: section.section("bisq2"), names)
        bisqRelay.outcomeDeadline = section.seconds(
            "outcome_deadline", default: bisqRelay.outcomeDeadline, in: 0...60)
        http.connections = section.integer("connections", default: http.connections, in: 1...1_000_000)
        http.requestDeadline = section.seconds(
            "request_deadline", default: http.requestDeadline, in: 1...3600)
        http.idleTimeout = section.seconds("idle_timeout", default: http.idleTimeout, in: 1...86400)
        http.clientAddressHeader = section.identifier("client_address_header").lowercased()
        http.trustedProxies = section.networks("trusted_proxies")
        if http.clientAddressHeader.isEmpty, !http.trustedProxies.isEmpty {
            section.fault("trusted_proxies", "needs client_address_header")
        }
        section.refuseUnknownKeys()
    }

    private mutating func read(storage section: SettingsReader.Section) {
        let seconds = section.number("write_behind", default: 0.25, in: 0...2)
        writeBehind = .milliseconds(Int64(seconds * 1000))
        storage.url = section.text("url", default: storage.url)
        if !storage.url.isEmpty, !Storage.isAddress(storage.url) {
            // It is not shown: there may be a password in it.
            section.fault("url", "must be empty, or postgresql://USER@HOST:PORT/DATABASE without a password")
        }
        storage.passwordFile = section.credential("password_file")
        section.refuseUnknownKeys()
    }

    private mutating func read(limits section: SettingsReader.Section) {
        limits.tokenRate = section.number("token_rate", default: limits.tokenRate, in: 0.001...1_000_000)
        limits.tokenBurst = section.integer("token_burst", default: limits.tokenBurst, in: 1...1_000_000)
        limits.waitingPerToken = section.integer(
            "waiting_per_token", default: limits.waitingPerToken, in: 1...1_000_000)
        limits.waiting = section.integer("waiting", default: limits.waiting, in: 1...10_000_000)
        limits.waitingBytes = section.integer(
            "waiting_bytes", default: limits.waitingBytes, in: 65536...(1 << 40))
        bufferBytes = section.integer("buffer_bytes", default: bufferBytes, in: (1 << 20)...(1 << 40))
        lifetime = section.seconds("lifetime", default: lifetime, in: 60...(28 * 86400))
        identityMemory = section.seconds("identity_memory", default: identityMemory, in: 60...(30 * 86400))
        deadTokenMemory = section.seconds(
            "dead_token_memory", default: deadTokenMemory, in: 60...(365 * 86400))
        section.refuseUnknownKeys()
    }
}

/// Returns the directory of a file, from the root on: the program may be somewhere else when it opens what is named there.
func absoluteDirectory(of file: String) -> String {
    let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
    if file.hasPrefix("/") { return directory }
    guard let current = getcwd(nil, 0) else { return directory }
    defer { free(current) }
    return String(cString: current) + (directory == "." ? "" : "/\(directory)")
}
