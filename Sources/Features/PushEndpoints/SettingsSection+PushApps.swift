import Doors
import Encodings
import Gateways
import Node
import Relay

extension SettingsReader.Section {
    /// Reads the apps that a door may push to, in the order of the list.
    package func apps(_ apps: inout PushApps, isOn: Bool) {
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
