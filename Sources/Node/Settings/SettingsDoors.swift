import Doors
import Reactor

/// A place at which a door for other senders than Bisq's is served.
package enum DoorPlace: Hashable, Sendable, CustomStringConvertible {
    /// `onion:PORT`: a virtual port of the onion service.
    case onion(port: UInt16)
    /// `ADDRESS:PORT` or `unix:/PATH`, on this machine only: for a reverse proxy, in plain HTTP.
    case plain(Endpoint)
    /// `https://ADDRESS:PORT`: a listener of our own for the world.
    case https(Endpoint)

    init?(_ text: String) {
        if let port = text.dropping(prefix: "onion:") {
            guard let port = UInt16(port), port > 0 else { return nil }
            self = .onion(port: port)
        } else if let address = text.dropping(prefix: "https://") {
            guard let endpoint = Endpoint(address), case .host = endpoint else { return nil }
            self = .https(endpoint)
        } else {
            guard let endpoint = Endpoint(text), endpoint.isLoopback else { return nil }
            self = .plain(endpoint)
        }
    }

    package var isOnion: Bool {
        if case .onion = self { true } else { false }
    }

    /// Whether only programs on this machine reach it.
    package var isLocal: Bool {
        if case .plain = self { true } else { false }
    }

    package var description: String {
        switch self {
        case .onion(let port): "onion:\(port)"
        case .plain(let endpoint): endpoint.description
        case .https(let endpoint): "https://\(endpoint)"
        }
    }
}

extension String {
    fileprivate func dropping(prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

extension Settings {
    /// The settings that every door for other senders than Bisq's has.
    package struct Door: Sendable {
        /// Empty: the door is off.
        package var listen: [DoorPlace] = []
        package var limits = LimitedDoor.Limits()

        package var isOn: Bool { !listen.isEmpty }

        package init() {}

        /// Makes the settings of a door that is off.
        ///
        /// - Parameter body: bytes of the largest body.
        package init(body: Int) { limits.body = body }
    }

    package struct Doors: Sendable {
        /// The certificate of the `https://` listeners, in PEM; empty as long as there are none.
        package var certificateFile = ""
        package var keyFile = ""
        /// TLS handshakes a second, at all of them together and of one address.
        var handshakes = 200
        var handshakesPerAddress = 10
    }

    /// How many servers there are for HTTP, each with room for `http.connections`: one at each place, and one for all
    /// ports of the onion address that lead to the same doors (``DoorListeners``).
    package var httpServers: Int {
        let places =
            [onion.httpPorts.map { DoorPlace.onion(port: $0) }]
            + features.map(\.listen)
        var doorsAt: [DoorPlace: [Int]] = [:]
        for (door, places) in places.enumerated() {
            for place in places { doorsAt[place, default: []].append(door) }
        }
        let onion = doorsAt.filter { $0.key.isOnion }
        return doorsAt.count - onion.count + Set(onion.values).count
    }

    /// How many connections all doors together may hold.
    package var connections: Int {
        peers.connections + httpServers * http.connections + features.reduce(0) { $0 + $1.connections }
    }

    /// Lowers what the doors may hold, each in proportion, until it fits.
    ///
    /// - Parameter room: connections for all of them together.
    /// - Returns: The new values of the doors that are open, by their keys.
    mutating func lowerConnections(to room: Int) -> [String: Int] {
        let wanted = connections
        func lowered(_ connections: Int) -> Int { min(connections, max(16, connections * room / wanted)) }
        peers.connections = lowered(peers.connections)
        http.connections = lowered(http.connections)
        var values = ["peers.connections": peers.connections]
        if httpServers > 0 { values["http.connections"] = http.connections }
        for index in features.indices {
            if let (key, number) = features[index].lowerConnections(lowered) { values[key] = number }
        }
        return values
    }

    mutating func read(doors root: SettingsReader.Section) {
        let section = root.section("doors")
        let https = section.section("https")
        https.path("certificate_file", &doors.certificateFile)
        https.credential("key_file", &doors.keyFile)
        https.integer("connections_per_address", &http.connectionsPerAddress, in: 0...1_000_000)
        https.integer("handshakes", &doors.handshakes, in: 1...100_000)
        https.integer("handshakes_per_address", &doors.handshakesPerAddress, in: 1...100_000)
        for kind in section.reader.features.kinds where kind.section == "doors.\(kind.name)" {
            features.append(kind.init(section.section(kind.name), of: self))
        }
        for feature in section.reader.features.leftOut where feature.section == nil {
            section.refuseLeftOut(feature.name)
        }
    }

    /// Reads the features that have a section of their own beside `doors`.
    mutating func read(featuresBesideDoors root: SettingsReader.Section) {
        for kind in root.reader.features.kinds
        where kind.section != "doors.\(kind.name)" && !(kind is any StoreFeature.Type) {
            features.append(kind.init(root.section(kind.section), of: self))
        }
        for feature in root.reader.features.leftOut where feature.keys.isEmpty {
            if let section = feature.section { root.refuseLeftOut(feature.name, section: section) }
        }
    }

    /// Reads the places at which a door is served: its `listen`.
    package func places(_ section: SettingsReader.Section) -> [DoorPlace] {
        let places = section.places("listen")
        for place in places {
            switch place {
            case .onion(let port) where port == onion.peerPort:
                section.fault("listen", "onion:\(port) is the port of the peers (onion.peer_port)")
            case .https where doors.certificateFile.isEmpty || doors.keyFile.isEmpty:
                section.fault("listen", "\(place) needs doors.https.certificate_file and key_file")
            case .onion, .plain, .https: break
            }
        }
        return places
    }
}

extension SettingsReader.Section {
    /// Reads the limits that every door has, as the last of its keys. The words for them stand at the head of all doors.
    package func limits(of door: inout Settings.Door, hasBodies: Bool = true) {
        integer("requests", &door.limits.requests, in: 1...1_000_000)
        integer("rate", &door.limits.rate, in: 1...1_000_000)
        if hasBodies { integer("body_bytes", &door.limits.body, in: 1024...(1 << 20), unit: "bytes") }
    }
}
