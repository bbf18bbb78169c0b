import Doors
import Relay

extension Settings {
    /// The push notification server for Status.
    package struct StatusIM: Sendable {
        /// The door that answers as the push notification server, over HTTP.
        package var server = Door(body: 131_072)
        /// The places of the server over a stream. Empty: there is none.
        package var streamPlaces: [DoorPlace] = []
        package var stream = StatusIMStreamSettings()
        package var serverDoor = StatusIMServerSettings()
        package var registrations = StatusIMRegistration.Limits()

        package var isServer: Bool { server.isOn || !streamPlaces.isEmpty }
    }

    /// Reads `doors.status`.
    mutating func readStatusIM(_ doors: SettingsReader.Section) {
        let section = doors.section("status")
        statusIM.streamPlaces = section.places("stream")
        statusIM.server.listen = places(section)
        for place in statusIM.streamPlaces {
            switch place {
            case .https: section.fault("stream", "\(place): the stream has no TLS; use onion:PORT")
            case .onion(let port) where port == onion.peerPort:
                section.fault("stream", "onion:\(port) is the port of the peers (onion.peer_port)")
            case .onion(let port)
            where onion.httpPorts.contains(port) || statusIM.server.listen.contains(place):
                section.fault("stream", "onion:\(port) is already used for HTTP")
            case .onion, .plain: break
            }
        }
        section.apps(&statusIM.serverDoor.apps, isOn: statusIM.isServer)
        section.flag("sandbox", &statusIM.serverDoor.apps.isSandbox)
        section.integer("keys_per_query", &statusIM.serverDoor.keysPerQuery, in: 1...10_000)
        section.integer("entries_per_request", &statusIM.serverDoor.entriesPerRequest, in: 1...10_000)
        section.integer("installations_per_key", &statusIM.registrations.perOwner, in: 1...10_000)
        section.integer("installations", &statusIM.registrations.installations, in: 1...100_000_000)
        statusIM.serverDoor.installations = statusIM.registrations.installations
        section.integer(
            "registration_bytes", &statusIM.registrations.bytes, in: 65536...(1 << 40), unit: "bytes")
        section.seconds("message_memory", &statusIM.serverDoor.messageMemory, in: 3600...(90 * 86400))
        section.integer("stream_connections", &statusIM.stream.connections, in: 1...1_000_000)
        section.integer("stream_rate", &statusIM.stream.rate, in: 1...10_000)
        section.seconds("stream_idle_timeout", &statusIM.stream.idleTimeout, in: 1...86400)
        read(limits: &statusIM.server, of: section)
        // What is carried is the same: so are its limits.
        statusIM.stream.messageBytes = statusIM.server.limits.body
        statusIM.stream.totalRate = statusIM.server.limits.rate
    }
}

extension SettingsReader.Section {
    /// Reads the apps that a door may push to, in the order of the list.
    func apps(_ apps: inout PushApps, isOn: Bool) {
        guard let wanted = words("apps") else {
            return fault("apps", "must be a list of names of apps: [status-ios, status-android]")
        }
        for name in wanted {
            guard reader.appNames.contains(name) else {
                fault(
                    "apps",
                    "no app has the name \(SettingsFault.shown(name))\(hint(at: name, among: reader.appNames))"
                )
                continue
            }
            // An app whose gateway is missing has a fault already.
            guard let app = reader.apps.first(where: { $0.name == name }) else { continue }
            if let topic = app.settings.topic {
                apps.ios.append(PushApps.Apple(name: name, topic: topic))
            } else if app.service.payloadSize(of: .prepared(PreparedPush(.members("")))) == nil {
                fault(
                    "apps", "\(name) is of gateway \(app.service.name), which takes no payloads of this door")
            } else if apps.android != nil {
                fault("apps", "\(name) is the second one of gateway \(app.service.name)")
            } else {
                apps.android = name
            }
        }
        if isOn, wanted.isEmpty { fault("apps", "name the apps that this endpoint may push to") }
    }
}
