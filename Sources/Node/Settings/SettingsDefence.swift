import Doors

/// The settings against floods.
extension Settings {
    /// Whether tor tells the circuit of each connection. At a port anybody on this machine could tell one.
    package var isGuarded: Bool { tor.mode != .system && onion.isGuarded && openPorts.isEmpty }

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
                    "with tor.mode: system the circuits of clients are not known, so all of them share what \(CircuitsSettings.partsOfAll) circuits may use, and one client can take it from the others",
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
        section.integer("connections", &circuits.limits.connections, in: 0...1_000_000)
        section.integer("frames_per_second", &circuits.limits.framesPerSecond, in: 0...1_000_000)
        section.integer(
            "bytes_per_second", &circuits.limits.bytesPerSecond, in: 0...1_000_000_000, unit: "bytes")
        section.integer("strikes", &circuits.limits.strikes, in: 0...1000)
    }
}
