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

        init() {}

        /// Makes the settings of a door that is off.
        ///
        /// - Parameter body: bytes of the largest body.
        init(body: Int) { limits.body = body }
    }

    package struct Doors: Sendable {
        /// The certificate of the `https://` listeners, in PEM; empty as long as there are none.
        package var certificateFile = ""
        package var keyFile = ""
        /// TLS handshakes a second, at all of them together and of one address.
        var handshakes = 200
        var handshakesPerAddress = 10
        package var webPush = WebPush()
        package var phonePage = PhonePage()
        package var mailbox = Mailbox()
    }

    /// The endpoints at which everybody may push who can reach them, in words.
    package var openEndpoints: [String] {
        guard gorush.secretFile.isEmpty else { return [] }
        return gorush.place.listen.map { place in
            let who = place.isLocal ? "every program on this machine" : "everybody"
            return "doors.gorush at \(place) has no secret: \(who) can push through it"
        }
    }

    /// How many servers there are for HTTP, each with room for `http.connections`: one at each place, and one for all
    /// ports of the onion address that lead to the same doors (``DoorListeners``).
    package var httpServers: Int {
        let places =
            [onion.httpPorts.map { DoorPlace.onion(port: $0) }]
            + ConfiguredDoors.all.map { $0.places(in: self) }
        var doorsAt: [DoorPlace: [Int]] = [:]
        for (door, places) in places.enumerated() {
            for place in places { doorsAt[place, default: []].append(door) }
        }
        let onion = doorsAt.filter { $0.key.isOnion }
        return doorsAt.count - onion.count + Set(onion.values).count
    }

    /// How many connections all doors together may hold.
    package var connections: Int {
        peers.connections + httpServers * http.connections
            + (statusIM.streamPlaces.isEmpty ? 0 : statusIM.stream.connections)
            + (doors.mailbox.listen.isEmpty
                ? 0 : doors.mailbox.settings.readers + doors.mailbox.settings.strangers)
            + console.listen.count * NodeConsole.mostConnections
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
        statusIM.stream.connections = lowered(statusIM.stream.connections)
        doors.mailbox.settings.readers = lowered(doors.mailbox.settings.readers)
        var values = ["peers.connections": peers.connections]
        if httpServers > 0 { values["http.connections"] = http.connections }
        if !statusIM.streamPlaces.isEmpty {
            values["doors.status.stream_connections"] = statusIM.stream.connections
        }
        if !doors.mailbox.listen.isEmpty {
            values["doors.mailbox.readers"] = doors.mailbox.settings.readers
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
        readWebPush(section)
        readGorush(section)
        readBitwarden(section)
        readStatusIM(section)
        readPhonePage(section)
        readMailbox(section)
    }

    /// Reads the limits that every door has, as the last of its keys. The words for them stand at the head of all doors.
    func read(limits door: inout Door, of section: SettingsReader.Section, hasBodies: Bool = true) {
        section.integer("requests", &door.limits.requests, in: 1...1_000_000)
        section.integer("rate", &door.limits.rate, in: 1...1_000_000)
        if hasBodies {
            section.integer("body_bytes", &door.limits.body, in: 1024...(1 << 20), unit: "bytes")
        }
    }

    /// Reads the places at which a door is served: its `listen`.
    func places(_ section: SettingsReader.Section) -> [DoorPlace] {
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
