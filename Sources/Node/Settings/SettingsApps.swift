import Doors
import Gateways
import Relay

extension Settings {
    /// Reads the apps, and which of them serves a request that names none.
    ///
    /// - Returns: Their names, also of those that are faulty themselves.
    mutating func readApps(_ root: SettingsReader.Section) -> [String] {
        let sections = root.list("apps")
        var names: [String] = []
        apps = sections.compactMap { section in
            let name = section.identifier("name")
            if name.isEmpty || name.utf8.count > 64 {
                section.fault("name", "each app needs a name of 1 to 64 characters")
            } else if names.contains(name) {
                section.fault("name", "\(name) is used twice")
            }
            names.append(name)
            return App(name: name, section)
        }
        let defaults = root.section("defaults")
        defaultIOS = app("ios", of: .ios, names, in: defaults)
        defaultAndroid = app("android", of: .android, names, in: defaults)
        defaults.refuseUnknownKeys()
        return names
    }

    /// The apps that serve one generation of phones.
    func apps(of section: SettingsReader.Section, _ names: [String]) -> PhoneApps {
        var apps = PhoneApps()
        apps.ios = app("ios", of: .ios, names, in: section)
        apps.android = app("android", of: .android, names, in: section)
        section.refuseUnknownKeys()
        return apps
    }

    /// The name of an app for phones of this platform, or nothing.
    func app(
        _ key: String, of platform: Platform, _ names: [String], in section: SettingsReader.Section
    ) -> String {
        let name = section.identifier(key)
        guard !name.isEmpty else { return "" }
        guard names.contains(name) else {
            let hint = nearestName(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
            section.fault(key, "no app has the name \(name)\(hint)")
            return ""
        }
        // An app whose gateway is missing has a fault already.
        if let app = apps.first(where: { $0.name == name }), !app.service.serves(platform) {
            section.fault(
                key, "\(name) is of gateway \(app.service.name), which serves no \(platform) phones")
        }
        return name
    }
}

extension Settings.App {
    /// `nil` when the gateway is not one of ours, which is a fault.
    fileprivate init?(name: String, _ section: SettingsReader.Section) {
        let gateways = PushServices.all.map { $0.gateway }
        let wanted = section.text("gateway")
        guard let service = PushServices.all.first(where: { $0.gateway == wanted }) else {
            let rule = "each app needs a gateway: \(gateways.joined(separator: " or "))"
            section.fault(
                "gateway",
                wanted.isEmpty ? rule : "\"\(SettingsFault.shown(wanted))\" is not allowed; \(rule)")
            return nil
        }
        self.init(name: name, settings: service.init(section))
        section.refuseUnknownKeys()
    }
}

extension SettingsReader.Section: SettingsSection {}
