import Doors
import Glibc
import Logging
import Reactor
import Relay
import Wire
import Yams

extension Settings {
    /// Reads a configuration file and the environment.
    ///
    /// - Throws: ``SettingsError`` with every fault found.
    init(file: String, environment: [String: String]) throws(SettingsError) {
        guard let text = readText(file) else {
            let fault = SettingsFault(key: "", problem: "can't be read: \(String(cString: strerror(errno)))")
            throw SettingsError(file: file, faults: [fault])
        }
        let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        try self.init(yaml: text, file: file, directory: directory, environment: environment)
    }

    init(
        yaml: String, file: String, directory: String = ".", environment: [String: String] = [:]
    ) throws(SettingsError) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: yaml)
        } catch {
            throw SettingsError(file: file, faults: [SettingsFault(key: "", problem: "not YAML: \(error)")])
        }
        let reader = SettingsReader(environment: environment, directory: directory)
        self.init(SettingsReader.Section(reader, node: root))
        reader.refuseUnknownEnvironment()
        guard reader.faults.isEmpty else { throw SettingsError(file: file, faults: reader.faults) }
    }

    private init(_ root: SettingsReader.Section) {
        stateDirectory = root.path("state_directory", default: stateDirectory)
        read(tor: root.section("tor"))
        read(onion: root.section("onion"))
        apps = root.list("apps").compactMap(App.init)
        let defaults = root.section("defaults")
        defaultIOS = defaults.text("ios")
        defaultAndroid = defaults.text("android")
        defaults.refuseUnknownKeys()
        check(app: defaultIOS, is: .apns, for: "ios", in: defaults)
        check(app: defaultAndroid, is: .fcm, for: "android", in: defaults)
        checkNames(root)
        read(peers: root.section("peers"))
        read(http: root.section("http"))
        read(limits: root.section("limits"))
        let management = root.section("management")
        managementListen = management.endpoint("listen", default: managementListen)
        if !managementListen.isLoopback {
            management.reader.fault(
                "management.listen", management.line,
                "must be a loopback address or a Unix socket: it has no login")
        }
        management.refuseUnknownKeys()
        let log = root.section("log")
        self.log.level = log.choice("level", default: self.log.level)
        self.log.format = log.choice("format", default: self.log.format)
        log.refuseUnknownKeys()
        root.refuseUnknownKeys()
    }

    private mutating func read(tor section: SettingsReader.Section) {
        tor.mode = section.choice("mode", default: tor.mode)
        tor.binary = section.text("binary", default: tor.binary)
        tor.torrc = section.path("torrc")
        tor.control = section.endpoint("control", default: tor.control)
        tor.cookieFile = section.path("cookie_file")
        tor.passwordFile = section.path("password_file")
        section.refuseUnknownKeys()
    }

    private mutating func read(onion section: SettingsReader.Section) {
        onion.peerPort = section.port("peer_port", default: onion.peerPort)
        onion.httpPorts = section.ports("http_ports", default: onion.httpPorts)
        onion.network = section.choice("network", default: onion.network)
        onion.peerListen = section.endpoint("peer_listen", default: onion.peerListen)
        onion.httpListen = section.endpoint("http_listen", default: onion.httpListen)
        for (key, endpoint) in [("peer_listen", onion.peerListen), ("http_listen", onion.httpListen)]
        where !endpoint.isLoopback {
            section.reader.fault(
                section.key(key), section.line,
                "must be a loopback address or a Unix socket: peers come by tor")
        }
        if onion.httpPorts.contains(onion.peerPort) {
            section.reader.fault(
                section.key("http_ports"), section.line, "\(onion.peerPort) is the peer_port already")
        }
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

    private mutating func read(limits section: SettingsReader.Section) {
        limits.tokenRate = section.number("token_rate", default: limits.tokenRate, in: 0.001...1_000_000)
        limits.tokenBurst = section.integer("token_burst", default: limits.tokenBurst, in: 1...1_000_000)
        limits.waitingPerToken = section.integer(
            "waiting_per_token", default: limits.waitingPerToken, in: 1...1_000_000)
        limits.waiting = section.integer("waiting", default: limits.waiting, in: 1...10_000_000)
        limits.waitingBytes = section.integer(
            "waiting_bytes", default: limits.waitingBytes, in: 65536...(1 << 40))
        lifetime = section.seconds("lifetime", default: lifetime, in: 60...(28 * 86400))
        identityMemory = section.seconds("identity_memory", default: identityMemory, in: 60...(30 * 86400))
        deadTokenMemory = section.seconds(
            "dead_token_memory", default: deadTokenMemory, in: 60...(365 * 86400))
        section.refuseUnknownKeys()
    }

    private mutating func read(http section: SettingsReader.Section) {
        bisqRelay.bisq1 = bisqApps(section.section("bisq1"))
        bisqRelay.bisq2 = bisqApps(section.section("bisq2"))
        bisqRelay.outcomeDeadline = section.seconds(
            "outcome_deadline", default: bisqRelay.outcomeDeadline, in: 0...60)
        http.connections = section.integer("connections", default: http.connections, in: 1...1_000_000)
        http.requestDeadline = section.seconds(
            "request_deadline", default: http.requestDeadline, in: 1...3600)
        http.idleTimeout = section.seconds("idle_timeout", default: http.idleTimeout, in: 1...86400)
        section.refuseUnknownKeys()
    }

    private func bisqApps(_ section: SettingsReader.Section) -> BisqRelayDoor.Apps {
        var apps = BisqRelayDoor.Apps()
        apps.ios = section.text("ios")
        apps.android = section.text("android")
        check(app: apps.ios, is: .apns, for: "ios", in: section)
        check(app: apps.android, is: .fcm, for: "android", in: section)
        section.refuseUnknownKeys()
        return apps
    }

    private func checkNames(_ root: SettingsReader.Section) {
        let names = apps.map(\.name)
        for (index, app) in apps.enumerated() where names[..<index].contains(app.name) {
            root.reader.fault("apps[\(index)].name", nil, "\(app.name) is there twice")
        }
    }

    private func check(
        app name: String, is gateway: GatewayKind, for key: String, in section: SettingsReader.Section
    ) {
        guard !name.isEmpty else { return }
        guard let app = apps.first(where: { $0.name == name }) else {
            let hint = nearestName(to: name, among: apps.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            return section.reader.fault(section.key(key), section.line, "no app has the name \(name)\(hint)")
        }
        guard app.gateway != gateway else { return }
        section.reader.fault(
            section.key(key), section.line, "\(name) is no app of gateway \(gateway.rawValue)")
    }
}

extension Settings.App {
    var gateway: GatewayKind {
        switch credentials {
        case .apns: .apns
        case .fcm: .fcm
        }
    }

    fileprivate init?(_ section: SettingsReader.Section) {
        let name = section.text("name")
        if name.isEmpty || name.utf8.count > 64 {
            section.reader.fault(
                section.key("name"), section.line, "each app needs a name, 1 to 64 characters")
        }
        let kind: GatewayKind? = section.value("gateway", default: nil, expecting: "one of apns, fcm") {
            GatewayKind(rawValue: $0)
        }
        switch kind {
        case .apns: self.init(name: name, credentials: .apns(Settings.APNs(section)))
        case .fcm: self.init(name: name, credentials: .fcm(Settings.FCM(section)))
        case nil:
            section.reader.fault(
                section.key("gateway"), section.line, "each app needs a gateway: apns or fcm")
            return nil
        }
        section.refuseUnknownKeys()
    }
}

extension Settings.APNs {
    fileprivate init(_ section: SettingsReader.Section) {
        self.init()
        topic = section.text("topic")
        keyFile = section.path("key_file")
        keyID = section.text("key_id")
        teamID = section.text("team_id")
        certificateFile = section.path("certificate_file")
        certificatePasswordFile = section.path("certificate_password_file")
        productionURL = section.url("production_url", default: productionURL)
        sandboxURL = section.url("sandbox_url", default: sandboxURL)
        caFile = section.path("ca_file")
        if topic.isEmpty {
            section.reader.fault(section.key("topic"), section.line, "the app's bundle id is missing")
        }
        if !keyFile.isEmpty && !certificateFile.isEmpty {
            section.reader.fault(
                section.key("certificate_file"), section.line, "give key_file or certificate_file, not both")
        }
        for (key, value) in [("key_id", keyID), ("team_id", teamID)] where !keyFile.isEmpty && value.isEmpty {
            section.reader.fault(
                section.key(key), section.line, "is needed with key_file (Apple's 10 characters)")
        }
    }
}

extension Settings.FCM {
    fileprivate init(_ section: SettingsReader.Section) {
        self.init()
        serviceAccountFile = section.path("service_account_file")
        baseURL = section.url("base_url", default: baseURL)
        tokenURL = section.url("token_url", default: tokenURL, mayBeEmpty: true)
        caFile = section.path("ca_file")
        hasNotificationBlock = section.flag("notification_block", default: hasNotificationBlock)
    }
}

/// A file as text, up to 1 MiB; `nil` and `errno` when it can't be read.
func readText(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { return nil }
    return String(decoding: bytes[..<count], as: UTF8.self)
}
