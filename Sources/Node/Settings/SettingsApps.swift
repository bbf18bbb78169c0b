import Doors
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
                section.fault("name", "each app needs a name, 1 to 64 characters")
            } else if names.contains(name) {
                section.fault("name", "\(name) is there twice")
            }
            names.append(name)
            return App(name: name, section)
        }
        let defaults = root.section("defaults")
        defaultIOS = app("ios", of: .apns, names, in: defaults)
        defaultAndroid = app("android", of: .fcm, names, in: defaults)
        defaults.refuseUnknownKeys()
        return names
    }

    /// The apps that serve one generation of phones.
    func apps(of section: SettingsReader.Section, _ names: [String]) -> PhoneApps {
        var apps = PhoneApps()
        apps.ios = app("ios", of: .apns, names, in: section)
        apps.android = app("android", of: .fcm, names, in: section)
        section.refuseUnknownKeys()
        return apps
    }

    /// The name of an app with this gateway, or nothing.
    func app(
        _ key: String, of gateway: GatewayKind, _ names: [String], in section: SettingsReader.Section
    ) -> String {
        let name = section.identifier(key)
        guard !name.isEmpty else { return "" }
        guard names.contains(name) else {
            let hint = nearestName(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
            section.fault(key, "no app has the name \(name)\(hint)")
            return ""
        }
        // An app whose gateway is missing has a fault already.
        if let app = apps.first(where: { $0.name == name }), app.gateway != gateway {
            section.fault(key, "\(name) is no app of gateway \(gateway)")
        }
        return name
    }
}

extension Settings.App {
    var gateway: GatewayKind {
        switch credentials {
        case .apns: .apns
        case .fcm: .fcm
        }
    }

    /// `nil` when the gateway is not one of ours, which is a fault.
    fileprivate init?(name: String, _ section: SettingsReader.Section) {
        let gateways = "each app needs a gateway: apns or fcm"
        switch section.text("gateway") {
        case GatewayKind.apns.rawValue: self.init(name: name, credentials: .apns(Settings.APNs(section)))
        case GatewayKind.fcm.rawValue: self.init(name: name, credentials: .fcm(Settings.FCM(section)))
        case "":
            section.fault("gateway", gateways)
            return nil
        case let other:
            section.fault("gateway", "\"\(SettingsFault.shown(other))\" is not allowed; \(gateways)")
            return nil
        }
        section.refuseUnknownKeys()
    }
}

extension Settings.APNs {
    fileprivate init(_ section: SettingsReader.Section) {
        self.init()
        topic = section.identifier("topic")
        keyFile = section.credential("key_file")
        keyID = section.identifier("key_id")
        teamID = section.identifier("team_id")
        certificateFile = section.credential("certificate_file")
        certificatePasswordFile = section.credential("certificate_password_file")
        productionURL = section.origin("production_url", default: productionURL)
        sandboxURL = section.origin("sandbox_url", default: sandboxURL)
        caFile = section.path("ca_file")
        if topic.isEmpty { section.fault("topic", "the app's bundle id is missing") }
        if !keyFile.isEmpty && !certificateFile.isEmpty {
            section.fault("certificate_file", "give key_file or certificate_file, not both")
        }
        for (key, value) in [("key_id", keyID), ("team_id", teamID)] where keyFile.isEmpty != value.isEmpty {
            section.fault(
                key,
                value.isEmpty
                    ? "is needed with key_file (Apple's 10 characters)" : "is of no use without key_file")
        }
        if certificateFile.isEmpty && !certificatePasswordFile.isEmpty {
            section.fault("certificate_password_file", "is of no use without certificate_file")
        }
    }
}

extension Settings.FCM {
    fileprivate init(_ section: SettingsReader.Section) {
        self.init()
        serviceAccountFile = section.credential("service_account_file")
        baseURL = section.origin("base_url", default: baseURL)
        tokenURL = section.url("token_url")
        caFile = section.path("ca_file")
        hasNotificationBlock = section.flag("notification_block", default: hasNotificationBlock)
    }
}
