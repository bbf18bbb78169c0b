import Doors

/// The settings against floods.
extension Settings {
    /// Reads what tor does about floods.
    mutating func read(defence section: SettingsReader.Section) {
        onion.isGuarded = section.flag("guarded", default: onion.isGuarded)
        onion.streamsPerCircuit = section.integer(
            "streams_per_circuit", default: onion.streamsPerCircuit, in: 0...65535)
        onion.hasProofOfWork = section.flag("proof_of_work", default: onion.hasProofOfWork)
        onion.work.perSecond = section.integer("work_rate", default: onion.work.perSecond, in: 1...1_000_000)
        onion.work.burst = section.integer("work_burst", default: onion.work.burst, in: 1...10_000_000)
        onion.introductions.perSecond = section.integer(
            "introduction_rate", default: onion.introductions.perSecond, in: 0...1_000_000)
        onion.introductions.burst = section.integer(
            "introduction_burst", default: onion.introductions.burst, in: 1...1_000_000)
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

    /// Whether tor tells the circuit of each connection. At a port anybody on this machine could tell one.
    var isGuarded: Bool { tor.mode != .system && onion.isGuarded && openPorts.isEmpty }

    /// The keys by which tor hands streams over at ports, where every user of this machine can connect.
    package var openPorts: [String] {
        [("onion.peer_listen", onion.peerListen), ("onion.http_listen", onion.httpListen)].compactMap {
            if case .host? = $0.1 { $0.0 } else { nil }
        }
    }

    /// The defences that hold less well than they could, in a sentence each, with what to do about it.
    package var warnings: [(check: String, words: String, advice: String)] {
        var warnings = openPorts.map { key in
            (
                "sockets",
                "\(key) is a port, to which every user of this machine can connect; circuits are not told then",
                "leave \(key) empty: tor comes by a Unix socket, which others can't reach"
            )
        }
        if tor.mode == .system {
            warnings.append(
                (
                    "circuits",
                    "with tor.mode: system the circuits of clients are not known, so all of them share what \(Circuits.Settings.partsOfAll) circuits may use, and one client can take it from the others",
                    "use tor.mode: own or instance, unless this machine must have one tor only"
                ))
        }
        if !onion.publicAddress.isEmpty, !isGuarded {
            warnings.append(
                (
                    "onion",
                    "onion.public_address is set, but tor accepts what comes by onionbalance in the guarded form only",
                    "use tor.mode: own or instance with onion.guarded and Unix sockets, or leave public_address empty"
                ))
        }
        return warnings
    }

    /// Reads what one circuit may use.
    mutating func read(circuits section: SettingsReader.Section) {
        let limits = circuits.limits
        circuits.limits.connections = section.integer(
            "connections", default: limits.connections, in: 0...1_000_000)
        circuits.limits.framesPerSecond = section.integer(
            "frames_per_second", default: limits.framesPerSecond, in: 0...1_000_000)
        circuits.limits.bytesPerSecond = section.integer(
            "bytes_per_second", default: limits.bytesPerSecond, in: 0...1_000_000_000)
        circuits.limits.strikes = section.integer("strikes", default: limits.strikes, in: 0...1000)
        section.refuseUnknownKeys()
    }
}
