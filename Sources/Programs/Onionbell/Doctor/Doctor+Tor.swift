import Client
import HTTP1
import Node
import Processes
import Reactor
import Terminal
import Tor
import Wire

/// Tor, the clock as tor sees it, and the onion address from outside.
extension Doctor {
    /// A tor that may be asked and dialled by.
    private struct Scout {
        /// The connection to its control port; `nil`: only its SOCKS port is known.
        var connection: ControlConnection?
        var socks: Endpoint?
    }

    func checkTor() async {
        for warning in settings.warnings { tell(.warn(warning.check, warning.words, warning.advice)) }
        if let socks { return await checkAddress(by: Scout(connection: nil, socks: socks)) }
        switch settings.tor.mode {
        case .own: await checkByOwnTor()
        case .instance, .system: await checkByRunningTor()
        }
    }

    /// Checks that the directories which an instance and the node share are for their user only.
    private func checkInstanceDirectories() {
        for path in [DoorSockets(settings).directory, settings.tor.instanceDirectory].compactMap(\.self) {
            let advice = "systemd-tmpfiles --create onionbell.conf; systemctl enable --now onionbell-tor"
            guard let facts = FileFacts(path) else {
                tell(.fail("sockets", "the directory \(path) is not there", advice))
                continue
            }
            tell(
                facts.isEnterableByAll || facts.isEnterableByGroup
                    ? .fail("sockets", "other users of this machine can enter \(path)", "chmod 0700 \(path)")
                    : .pass("sockets", "\(path) is for the node's user only"))
        }
    }

    /// Checks the directory of the endpoints' sockets: tor's user comes to them by its group.
    private func checkSockets() {
        if settings.tor.mode == .instance { return checkInstanceDirectories() }
        let path = DoorSockets(settings).directory
        let advice =
            "make it as RunningForReal.md says: for the node's user, with a group that tor's user is in"
        guard let facts = FileFacts(path) else {
            return tell(.fail("sockets", "the directory \(path) is not there", advice))
        }
        if facts.isWritableByAll || facts.isEnterableByAll {
            tell(.fail("sockets", "every user of this machine can enter \(path)", advice))
        } else if !facts.isEnterableByGroup {
            tell(
                .fail("sockets", "\(path) can't be entered by its group, so tor can't reach the node", advice)
            )
        } else {
            tell(.pass("sockets", "\(path) is for the node and a group only"))
        }
    }

    private func checkByRunningTor() async {
        let isInstance = settings.tor.mode == .instance
        let unit = isInstance ? "onionbell-tor" : "tor@default"
        if settings.openPorts.count < 2 { checkSockets() }
        if case .unix(let path) = settings.tor.control,
            let finding = Judgement.control(path, for: user, isInstance: isInstance)
        {
            tell(finding)
        }
        do {
            let connection = try await ControlConnection.open(
                settings.tor.control, credentials: settings.tor.credentials)
            defer { connection.close() }
            let reply = try await connection.send(
                .getInfo(["version", "status/bootstrap-phase", "status/circuit-established"]))
            let bootstrap = reply["status/bootstrap-phase"].flatMap { Bootstrap(phase: $0) }
            tell(
                .pass("tor", "version \(reply["version"] ?? "?") answers at \(settings.tor.control)"))
            var clock = ClockView()
            try await clock.ask(connection)
            tell(Judgement.clock(clock, now: EventLoop.unixMilliseconds / 1000))
            guard bootstrap?.progress == 100 else {
                return tell(
                    .fail(
                        "tor.network",
                        "tor's bootstrap is at \(bootstrap?.progress ?? 0) %",
                        "see its log: journalctl -u \(unit)"))
            }
            // A bootstrap stays at 100 % when the network is gone.
            tell(
                reply["status/circuit-established"] == "1"
                    ? .pass("tor.network", "tor says that it has a circuit")
                    : .warn(
                        "tor.network", "tor has joined the network, and has no circuit now",
                        "see whether this machine's network is up, and tor's log"))
            await checkAddress(by: Scout(connection: connection, socks: try await connection.socksEndpoint()))
        } catch {
            tell(
                .fail(
                    "tor", "\(error)",
                    isInstance
                        ? "systemctl enable --now \(unit); tor.control must be its control socket"
                        : "systemctl status \(unit); the node's user must be in the group debian-tor; tor.control must be tor's control port"
                ))
        }
    }

    private func checkByOwnTor() async {
        let binary = settings.tor.binary
        do {
            let version = try await TorVersion.ofProgram(binary)
            guard version >= .oldestSupported else {
                return tell(
                    .fail(
                        "tor",
                        "\(binary) has version \(version); \(TorVersion.oldestSupported) or later is needed",
                        "apt install tor, from Debian's security archive or deb.torproject.org"))
            }
            tell(.pass("tor", "\(binary) has version \(version)"))
        } catch {
            return tell(.fail("tor", "\(error)", "apt install tor, or set tor.binary"))
        }
        if let fault = await TorrcCheck.fault(in: settings) {
            return tell(.fail("tor", fault.problem, "correct that in torrc, then run onionbell check-config"))
        }
        let directory: TemporaryDirectory
        let torrc: String
        do {
            torrc = try TorConfiguration.path(setting: settings.tor.torrc)
            directory = try TemporaryDirectory()
        } catch {
            return tell(.fail("tor", "\(error)", "set tor.torrc; make room in /tmp"))
        }
        await joinNetwork(binary, torrc, directory)
        if ownTor == nil { await directory.remove() }
    }

    private func joinNetwork(_ binary: String, _ torrc: String, _ directory: TemporaryDirectory) async {
        let tor: TorClient
        do {
            tor = try await TorClient.start(
                binary: binary, torrc: torrc, directory: directory.path, within: .seconds(120)
            ) { [progress] in progress("the doctor's tor connects to the network: \($0.progress) %") }
        } catch {
            let clock: ClockView? = if case .notInNetwork(_, let view) = error { view } else { nil }
            if let clock, clock.skew != nil {
                tell(Judgement.clock(clock, now: EventLoop.unixMilliseconds / 1000))
            }
            return tell(
                .fail(
                    "tor.network", "\(error)",
                    "does a firewall block tor (see ReachableAddresses and bridges in torrc)? is the clock right?"
                ))
        }
        ownTor = (tor, directory)
        tell(.pass("tor.network", "a tor with this torrc connects to the network"))
        tell(Judgement.clock(tor.clock, now: EventLoop.unixMilliseconds / 1000))
        await checkAddress(by: Scout(connection: tor.connection, socks: tor.socks))
    }

    private func checkAddress(by scout: Scout) async {
        torSocks = scout.socks
        guard let address = ownAddress() else {
            return tell(
                .warn(
                    "onion", "the node has no onion address yet",
                    "the node creates it at its first start"))
        }
        guard node != nil else {
            return tell(
                .warn("onion", "not tested, because the node does not run", "start it, and run this again"))
        }
        if let invited = invited() {
            return tell(Judgement.privateAddress(invited, isSelfDialWell: isSelfDialWell))
        }
        if let connection = scout.connection { await checkDescriptor(of: address, connection) }
        guard let socks = scout.socks else {
            return tell(
                .warn("onion.dial", "this tor has no SOCKS port", "use another one: --socks 127.0.0.1:9050"))
        }
        await dial(address, by: socks)
    }

    /// Returns how many peers are invited to a private node; `nil`: everybody may come, or it is not known.
    private func invited() -> Int? {
        let invitations = Invitations(path: StateDirectory.peers(in: settings.stateDirectory))
        return (try? invitations.load())?.count
    }

    func ownAddress() -> OnionAddress? {
        let path = settings.stateDirectory + "/onion-address"
        guard let bytes = try? PrivateFile.read(path, limit: 100) else { return nil }
        return OnionAddress(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }

    private func checkDescriptor(of address: OnionAddress, _ connection: ControlConnection) async {
        progress("fetching the descriptor of the onion address")
        let advice = "read the node's log; the node publishes again by itself, which takes a minute or two"
        do {
            switch try await connection.fetchDescriptor(of: address, within: .seconds(60)) {
            case .found: tell(.pass("onion.descriptor", "tor's directories have it"))
            case .notFound(let reason):
                tell(.fail("onion.descriptor", "tor's directories do not have it (\(reason))", advice))
            case .noAnswer:
                tell(.fail("onion.descriptor", "no directory has answered within 60 s", advice))
            }
        } catch {
            tell(.fail("onion.descriptor", "\(error)", advice))
        }
    }

    private func dial(_ address: OnionAddress, by socks: Endpoint) async {
        progress("connecting to the onion address")
        let advice =
            settings.front == nil
            ? "is the node running and healthy? try again in a minute"
            : "does onionbalance run, with this node's own address (onionbell key show)? it looks at its nodes every ten minutes"
        let onion = address.description
        do {
            let peer = try await BisqPeer.dial(
                .tor(socks: socks, onion: onion, port: settings.onion.peerPort),
                network: settings.onion.network, attemptTimeout: .seconds(30), deadline: .seconds(90))
            defer { peer.close() }
            let time = try await peer.ping(deadline: .seconds(30))
            tell(
                .pass(
                    "onion.dial", "port \(settings.onion.peerPort) answers a peer's ping in \(time.inWords)"))
        } catch {
            tell(.fail("onion.dial", "port \(settings.onion.peerPort): \(error)", advice))
        }
        guard let port = settings.onion.httpPorts.first else { return }
        do {
            let answer = try await HTTPExchange.answer(
                to: HTTPRequest(method: "GET", path: "/"), host: onion,
                by: .tor(socks: socks, onion: onion, port: port), attemptTimeout: .seconds(30),
                deadline: .seconds(90))
            tell(Judgement.rootAnswer(answer.status, at: port))
        } catch {
            tell(.fail("onion.http", "port \(port): \(error)", advice))
        }
    }
}

extension TorVersion {
    /// Returns the version that `tor --version` prints.
    @EventLoop
    static func ofProgram(_ binary: String) async throws(NodeError) -> TorVersion {
        let output: [String]
        do {
            output = try await Tool([binary, "--version"]).finish()
        } catch {
            let reason = if case .notStarted(let failure) = error { "\(failure)" } else { "\(error)" }
            throw .unavailable("tor cannot be run at \(binary): \(reason)")
        }
        // "Tor version 0.4.9.11."
        let words = (output.first ?? "").split(separator: " ")
        guard let text = words.drop(while: { $0 != "version" }).dropFirst().first,
            let version = TorVersion(text.hasSuffix(".") ? String(text.dropLast()) : String(text))
        else { throw .unavailable("\(binary) does not print its version") }
        return version
    }
}
