import Doors
import Relay

extension Settings {
    /// The push notification server for Status.
    package struct StatusIM: Sendable {
        /// The door that answers as the push notification server, over HTTP.
        package var server = Door(body: 131_072)
        /// The places of the server over a stream. Empty: there is none.
        package var streamPlaces: [DoorPlace] = []
        package var stream = StatusIMStreamDoor.Settings()
        package var serverDoor = StatusIMServer.Settings()
        package var registrations = StatusIMRegistration.Limits()

        package var isServer: Bool { server.isOn || !streamPlaces.isEmpty }
    }

    mutating func read(statusIM section: SettingsReader.Section, _ names: [String]) {
        statusIM.server = door(section, default: statusIM.server)
        statusIM.streamPlaces = section.places("stream")
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
        statusIM.serverDoor.apps = pushApps(section, names, isOn: statusIM.isServer)
        statusIM.serverDoor.keysPerQuery = section.integer(
            "keys_per_query", default: statusIM.serverDoor.keysPerQuery, in: 1...10_000)
        statusIM.serverDoor.entriesPerRequest = section.integer(
            "entries_per_request", default: statusIM.serverDoor.entriesPerRequest, in: 1...10_000)
        statusIM.serverDoor.messageMemory = section.seconds(
            "message_memory", default: statusIM.serverDoor.messageMemory, in: 3600...(90 * 86400))
        statusIM.registrations.perOwner = section.integer(
            "installations_per_key", default: statusIM.registrations.perOwner, in: 1...10_000)
        statusIM.registrations.installations = section.integer(
            "installations", default: statusIM.registrations.installations, in: 1...100_000_000)
        statusIM.serverDoor.installations = statusIM.registrations.installations
        statusIM.registrations.bytes = section.integer(
            "registration_bytes", default: statusIM.registrations.bytes, in: 65536...(1 << 40))
        statusIM.stream.connections = section.integer(
            "stream_connections", default: statusIM.stream.connections, in: 1...1_000_000)
        statusIM.stream.rate = section.integer("stream_rate", default: statusIM.stream.rate, in: 1...10_000)
        statusIM.stream.idleTimeout = section.seconds(
            "stream_idle_timeout", default: statusIM.stream.idleTimeout, in: 1...86400)
        // What is carried is the same: so are its limits.
        statusIM.stream.messageBytes = statusIM.server.limits.body
        statusIM.stream.totalRate = statusIM.server.limits.rate
        section.refuseUnknownKeys()
    }

    /// Reads the apps that a door may push to, in the order of the list.
    func pushApps(_ section: SettingsReader.Section, _ names: [String], isOn: Bool) -> PushApps {
        var apps = PushApps()
        apps.isSandbox = section.flag("sandbox", default: false)
        guard let wanted = section.words("apps") else {
            section.fault("apps", "must be a list of names of apps: [status-ios, status-android]")
            return apps
        }
        for name in wanted {
            guard names.contains(name) else {
                let hint = nearestName(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
                section.fault("apps", "no app has the name \(SettingsFault.shown(name))\(hint)")
                continue
            }
            // An app whose gateway is missing has a fault already.
            guard let app = self.apps.first(where: { $0.name == name }) else { continue }
            if let topic = app.settings.topic {
                apps.ios.append(PushApps.Apple(name: name, topic: topic))
            } else if app.service.payloadSize(of: .prepared(PreparedPush(.members("")))) == nil {
                section.fault(
                    "apps", "\(name) is of gateway \(app.service.name), which takes no payloads of this door")
            } else if apps.android != nil {
                section.fault("apps", "\(name) is the second one of gateway \(app.service.name)")
            } else {
                apps.android = name
            }
        }
        if isOn, wanted.isEmpty { section.fault("apps", "name the apps that this endpoint may push to") }
        return apps
    }
}
