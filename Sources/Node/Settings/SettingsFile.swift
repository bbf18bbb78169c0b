import Doors
import Glibc
import Logging
import Reactor
import Relay
import Tor

extension Settings {
    /// Reads a configuration file and the environment.
    ///
    /// - Parameter features: Those of the program.
    /// - Throws: ``SettingsError`` with every fault found.
    package init(file: String, environment: [String: String], features: Features) throws(SettingsError) {
        let text: String
        do {
            text = try SettingsText.read(file)
        } catch {
            throw SettingsError(file: file, faults: [error])
        }
        try self.init(
            yaml: text, file: file, directory: absoluteDirectory(of: file), environment: environment,
            features: features)
    }

    /// Reads a configuration.
    ///
    /// - Parameters:
    ///   - directory: Relative file names in the configuration are relative to it.
    ///   - features: Those of the program.
    package init(
        yaml: String, file: String, directory: String = ".", environment: [String: String] = [:],
        features: Features
    ) throws(SettingsError) {
        let reader = SettingsReader(environment: environment, directory: directory, features: features)
        do {
            self.init(SettingsReader.Section(reader, node: try SettingsText.parse(yaml)))
        } catch {
            throw SettingsError(file: file, faults: [error])
        }
        reader.refuseUnknownEnvironment()
        texts = reader.texts
        secretFiles = reader.secretFiles
        liveKeys = Set(reader.settings.filter { $0.traits.contains(.live) }.map(\.key))
        guard reader.faults.isEmpty else { throw SettingsError(file: file, faults: reader.faults) }
    }

    /// Declares and reads every setting there is; faults are gathered in the section's reader.
    init(_ root: SettingsReader.Section) {
        built = root.reader.features
        root.path("state_directory", &stateDirectory)
        if stateDirectory.isEmpty { root.fault("state_directory", "must not be empty") }
        root.reader.stateDirectory = stateDirectory
        read(tor: root.section("tor"))
        read(onion: root.section("onion"))
        read(gateways: root.section("gateways"))
        root.reader.goesThroughTor = proxy == .tor
        readApps(root)
        read(peers: root.section("peers"))
        read(circuits: root.section("circuits"))
        read(http: root.section("http"))
        addStandIns()
        read(doors: root)
        readWatchman(root)
        read(limits: root.section("limits"))
        read(storage: root.section("storage"))
        let management = root.section("management")
        management.mark(.foldedInConsole).endpoint("listen", &managementListen)
        if !managementListen.isLoopback {
            management.fault("listen", "must be a loopback address or a Unix socket, because it has no login")
        }
        management.mark(.inConsole).seconds("keep_rings", &keptRings, in: 0...604_800)
        read(featuresBesideDoors: root)
        let log = root.section("log")
        log.mark([.live, .inConsole]).choice("level", &self.log.level)
        log.choice("format", &self.log.format)
        root.reader.refuseUnknownKeys()
    }

    private mutating func read(peers section: SettingsReader.Section) {
        peers.network = onion.network
        section.integer("connections", &peers.connections, in: 1...1_000_000)
        section.seconds("idle_timeout", &peers.idleTimeout, in: 1...86400)
        section.seconds("frame_deadline", &peers.frameDeadline, in: 1...3600)
        section.integer("frame_bytes", &peers.limits.frameLength, in: 8192...(10 << 20), unit: "bytes")
        section.integer("frames_per_second", &peers.limits.framesPerSecond, in: 1...65535)
        section.integer("frames_per_ten_seconds", &peers.limits.framesPerTenSeconds, in: 1...65535)
        section.integer("unanswered", &peers.unanswered, in: 1...65536)
    }

    private mutating func read(http section: SettingsReader.Section) {
        section.section("bisq1").apps(&bisqRelay.bisq1)
        section.section("bisq2").apps(&bisqRelay.bisq2)
        section.seconds("outcome_deadline", &bisqRelay.outcomeDeadline, in: 0...60)
        section.integer("connections", &http.connections, in: 1...1_000_000)
        section.seconds("request_deadline", &http.requestDeadline, in: 1...3600)
        section.seconds("idle_timeout", &http.idleTimeout, in: 1...86400)
        section.identifier("client_address_header", &http.clientAddressHeader)
        http.clientAddressHeader = http.clientAddressHeader.lowercased()
        http.trustedProxies = section.networks("trusted_proxies")
        if http.clientAddressHeader.isEmpty, !http.trustedProxies.isEmpty {
            section.fault("trusted_proxies", "needs client_address_header")
        }
        if Settings.isWholeWorld(http.trustedProxies) {
            section.fault(
                "trusted_proxies",
                "must not be the whole world: whoever is named there says whose a request is")
        }
    }

    private mutating func read(storage section: SettingsReader.Section) {
        for kind in built.kinds where kind is any StoreFeature.Type {
            features.append(kind.init(section, of: self))
        }
        for feature in built.leftOut where feature.section == "storage" {
            section.refuseLeftOut(feature.name, keys: feature.keys)
        }
        var seconds = Double(writeBehind.milliseconds) / 1000
        section.mark(.foldedInConsole).number("write_behind", &seconds, in: 0...2, unit: "seconds")
        writeBehind = .milliseconds(Int64(seconds * 1000))
    }

    private mutating func read(limits section: SettingsReader.Section) {
        section.mark(.foldedInConsole).number("token_rate", &limits.tokenRate, in: 0.001...1_000_000)
        section.integer("token_burst", &limits.tokenBurst, in: 1...1_000_000)
        section.mark(.foldedInConsole).integer(
            "waiting_per_token", &limits.waitingPerToken, in: 1...1_000_000)
        section.integer("waiting", &limits.waiting, in: 1...10_000_000)
        section.integer("waiting_bytes", &limits.waitingBytes, in: 65536...(1 << 40), unit: "bytes")
        section.integer("buffer_bytes", &bufferBytes, in: (1 << 20)...(1 << 40), unit: "bytes")
        section.mark(.inConsole).seconds("lifetime", &lifetime, in: 60...(28 * 86400))
        section.seconds("identity_memory", &identityMemory, in: 60...(30 * 86400))
        section.seconds("dead_token_memory", &deadTokenMemory, in: 60...(365 * 86400))
    }
}

/// Returns the directory of a file, from the root on: the program may be somewhere else when it opens what is named there.
package func absoluteDirectory(of file: String) -> String {
    let directory = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
    if file.hasPrefix("/") { return directory }
    guard let current = getcwd(nil, 0) else { return directory }
    defer { free(current) }
    return String(cString: current) + (directory == "." ? "" : "/\(directory)")
}
