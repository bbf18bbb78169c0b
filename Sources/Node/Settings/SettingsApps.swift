import Doors
import Encodings
import Gateways
import Relay
import Tor

extension Settings {
    /// Reads the apps, and which of them serves a request that names none.
    mutating func readApps(_ root: SettingsReader.Section) {
        let sections = root.list("apps")
        var names: [String] = []
        apps = sections.compactMap { section in
            var name = ""
            section.identifier("name", &name)
            if name.isEmpty || name.utf8.count > 64 {
                section.fault("name", "each app needs a name of 1 to 64 characters")
            } else if names.contains(name) {
                section.fault("name", "\(name) is used twice")
            }
            names.append(name)
            let app = App(name: name, section)
            for url in app?.settings.upstreams ?? []
            where url.isOnion && OnionAddress(url.host)?.description == onion.publicAddress {
                // It would go round in circles.
                section.fault("url", "\(url.host) is this node's own address (onion.public_address)")
            }
            return app
        }
        var prefixed: [(service: String, server: String?)] = []
        for (index, app) in apps.enumerated() where app.service.prefix != nil {
            let (service, server) = (app.service.name, app.settings.server)
            if prefixed.contains(where: { $0 == (service, server) }) {
                sections[index].fault(
                    server == nil ? "gateway" : "url",
                    server.map { "one app of gateway \(service) is enough for \($0)" }
                        ?? "one app of gateway \(service) is enough: it serves all addresses of its form")
            }
            prefixed.append((service, server))
        }
        root.reader.apps = apps
        root.reader.appNames = names
        let defaults = root.section("defaults")
        defaults.app("ios", &defaultIOS, of: .ios)
        defaults.app("android", &defaultAndroid, of: .android)
    }

    /// Makes an app of gateway relay serve the phones of its form for which no other app has credentials.
    mutating func addStandIns() {
        bisqRelay.bisq1 = withStandIn(bisqRelay.bisq1, of: .bisq1)
        bisqRelay.bisq2 = withStandIn(bisqRelay.bisq2, of: .bisq2)
        guard let standIn = standIn(of: .bisq1) ?? standIn(of: .bisq2) else { return }
        if !isServed(by: defaultIOS) { defaultIOS = standIn }
        if !isServed(by: defaultAndroid) { defaultAndroid = standIn }
    }

    private func withStandIn(_ phones: PhoneApps, of form: RelayForm) -> PhoneApps {
        guard let standIn = standIn(of: form) else { return phones }
        var phones = phones
        phones.standIn = standIn
        /// Whether an app serves the phones of this form. A default may be another generation's relay.
        func isServed(by name: String, else fallback: String) -> Bool {
            guard name.isEmpty else { return self.isServed(by: name) }
            let app = apps.first { $0.name == fallback }
            return self.isServed(by: fallback) && app.map { $0.settings.onlyForm ?? form } == form
        }
        if !isServed(by: phones.ios, else: defaultIOS) { phones.ios = standIn }
        if !isServed(by: phones.android, else: defaultAndroid) { phones.android = standIn }
        return phones
    }

    /// The app for browsers.
    package var webPushApp: App? { apps.first { $0.service.name == WebPushApp.gateway } }

    private func standIn(of form: RelayForm) -> String? { apps.first { $0.settings.onlyForm == form }?.name }

    private func isServed(by name: String) -> Bool {
        apps.first { $0.name == name }?.hasCredentials ?? false
    }
}

extension SettingsReader.Section {
    /// Reads the apps that serve one generation of phones.
    func apps(_ apps: inout PhoneApps) {
        app("ios", &apps.ios, of: .ios)
        app("android", &apps.android, of: .android)
    }
}

extension Settings.App {
    /// Reads an app; `nil` when the gateway is not one of ours, which is a fault.
    fileprivate init?(name: String, _ section: SettingsReader.Section) {
        let features = section.features
        let gateways = features.pushServices.map { $0.gateway }
        var wanted = ""
        section.text("gateway", &wanted, .choice(gateways))
        guard let service = features.pushServices.first(where: { $0.gateway == wanted }) else {
            section.takesAllKeys = true
            let misspelt = wanted.isEmpty ? section.keyLike("gateway") : nil
            if features.leftOut.contains(where: { $0.name == wanted }) {
                section.fault("gateway", "this onionbelld was built without \(wanted)")
                return nil
            }
            let rule =
                "each app needs a gateway: \(gateways.joined(separator: " or "))"
                + (misspelt.map { "; did you mean gateway by \(SettingsFault.shown($0))?" } ?? "")
            section.fault(
                "gateway",
                wanted.isEmpty ? rule : "\"\(SettingsFault.shown(wanted))\" is not allowed; \(rule)")
            return nil
        }
        var targets = service.ringsStrangers ? App.Targets.any : .phoneBook
        section.value(
            "targets", &targets, .choice(App.Targets.allCases.map(\.rawValue)), usual: targets.rawValue,
            expecting: service.ringsStrangers ? "any or phone_book" : "phone_book, for gateway \(wanted)"
        ) { word in
            App.Targets(rawValue: word).flatMap { service.ringsStrangers || $0 == .phoneBook ? $0 : nil }
        }
        self.init(name: name, settings: service.init(section), targets: targets)
    }
}
