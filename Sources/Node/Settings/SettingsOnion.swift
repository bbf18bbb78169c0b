import Doors
import Reactor
import Tor
import Wire

/// How the node uses tor, and the address that tor publishes for it.
extension Settings {
    package struct Tor: Sendable {
        package enum Mode: String, CaseIterable, Sendable { case own, instance, system }

        /// The control socket of the package's unit for an instance.
        package static let instanceControl = "unix:/run/onionbell-tor/control"

        package var mode = Mode.own
        package var binary = "tor"
        package var torrc = ""
        package var control = Endpoint.host("127.0.0.1", port: 9051)
        package var cookieFile = ""
        package var passwordFile = ""
        package var socks: Endpoint?
        package var heartbeat: Duration = .seconds(20)

        package var credentials: ControlCredentials {
            ControlCredentials(
                cookieFile: cookieFile.isEmpty ? nil : cookieFile,
                passwordFile: passwordFile.isEmpty ? nil : passwordFile)
        }

        /// The directory that an instance shares with the node, that of its control socket. `nil` without such a socket.
        package var instanceDirectory: String? {
            guard case .unix(let path) = control, let slash = path.lastIndex(of: "/") else { return nil }
            return String(path[..<slash])
        }
    }

    package struct Onion: Sendable {
        package var peerPort: UInt16 = 9999
        package var httpPorts: [UInt16] = [80, 8021]
        package var network = BisqNetwork.mainnet
        package var publicAddress = ""
        /// The endpoint at which tor hands the peers' streams over, port 0: any free one; `nil`: a Unix socket in
        /// ``socketDirectory``.
        package var peerListen: Endpoint?
        /// The endpoint at which tor hands HTTP's streams over.
        package var httpListen: Endpoint?
        /// Empty: see ``DoorSockets``.
        package var socketDirectory = ""
        package var uploadTimeout: Duration = .seconds(180)
        /// Calls to the own address; without the doors that are called.
        package var selfDial = SelfDialSettings()
        /// Whether the service takes, with a managed Tor, the form in which tor tells the circuit of each
        /// connection.
        package var isGuarded = true
        package var streamsPerCircuit = 64
        package var hasProofOfWork = true
        package var work = OnionForm.Rate(perSecond: 250, burst: 2500)
        package var introductions = OnionForm.Rate(perSecond: 0, burst: 200)
    }

    mutating func read(tor section: SettingsReader.Section) {
        section.mark(.inConsole).choice("mode", &tor.mode)
        section.word("binary", &tor.binary)
        section.path("torrc", &tor.torrc)
        section.endpoint("control", &tor.control)
        section.path("cookie_file", &tor.cookieFile)
        section.credential("password_file", &tor.passwordFile)
        section.optionalEndpoint("socks", &tor.socks)
        section.seconds("heartbeat", &tor.heartbeat, in: 1...300)
        if tor.mode == .instance, tor.instanceDirectory == nil {
            section.fault(
                "control",
                "must be a Unix socket with mode: instance; the package's is \(Tor.instanceControl)")
        }
    }

    mutating func read(onion section: SettingsReader.Section) {
        section.port("peer_port", &onion.peerPort)
        section.ports("http_ports", &onion.httpPorts)
        section.mark(.inConsole).choice("network", &onion.network)
        section.mark(.foldedInConsole).text(
            "public_address", &onion.publicAddress, expecting: "an onion address, or nothing"
        ) { text in
            text.isEmpty ? "" : OnionAddress(text)?.description
        }
        section.optionalEndpoint("peer_listen", &onion.peerListen)
        section.optionalEndpoint("http_listen", &onion.httpListen)
        section.path("socket_directory", &onion.socketDirectory)
        section.seconds("upload_timeout", &onion.uploadTimeout, in: 10...3600)
        section.mark(.foldedInConsole).seconds("self_dial_interval", &onion.selfDial.interval, in: 0...86400)
        section.seconds("self_dial_timeout", &onion.selfDial.timeout, in: 1...120)
        section.integer("self_dial_failures", &onion.selfDial.failures, in: 1...100)
        for (key, endpoint) in [("peer_listen", onion.peerListen), ("http_listen", onion.httpListen)]
        where endpoint?.isLoopback == false {
            section.fault(key, "must be a loopback address or a Unix socket: only tor connects to it")
        }
        if onion.httpPorts.contains(onion.peerPort) {
            section.fault("http_ports", "\(onion.peerPort) is already the peer_port")
        }
        read(defence: section)
    }

    /// Reads what tor does about floods.
    private mutating func read(defence section: SettingsReader.Section) {
        section.flag("guarded", &onion.isGuarded)
        section.integer("streams_per_circuit", &onion.streamsPerCircuit, in: 0...65535)
        section.mark(.foldedInConsole).flag("proof_of_work", &onion.hasProofOfWork)
        section.integer("work_rate", &onion.work.perSecond, in: 1...1_000_000)
        section.integer("work_burst", &onion.work.burst, in: 1...10_000_000)
        section.integer("introduction_rate", &onion.introductions.perSecond, in: 0...1_000_000)
        section.integer("introduction_burst", &onion.introductions.burst, in: 1...1_000_000)
        if onion.work.burst < onion.work.perSecond {
            section.fault("work_burst", "must not be less than work_rate, \(onion.work.perSecond)")
        }
        if onion.introductions.burst < onion.introductions.perSecond {
            section.fault(
                "introduction_burst",
                "must not be less than introduction_rate, \(onion.introductions.perSecond)")
        }
        if onion.introductions.perSecond > 0, !isGuarded {
            section.fault(
                "introduction_rate",
                "needs guarded: true, a tor that only the node uses, and no ports in peer_listen and http_listen"
            )
        }
    }
}
