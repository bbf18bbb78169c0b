import Node

/// The link that a browser phone opens: the page, with the node's key behind the `#`. It is no secret.
enum PhonePageLink {
    /// Returns the link; `nil`: the settings do not say where the page is, or have no app for it.
    static func text(for settings: Settings) throws(CallRefusal) -> String? {
        guard let page = settings.feature(named: WaySwitch.phonePage.rawValue), !page.url.isEmpty,
            settings.webPushApp != nil
        else { return nil }
        let key = try StateDirectory.keptVAPIDKey(in: settings.stateDirectory).publicText
        return "\(page.url)#k=\(key)"
    }
}
