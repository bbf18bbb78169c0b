import Crypto
import Gateways
import Glibc
import Reactor

/// The link that a browser phone opens: the page, with the node's key behind the `#`. It is no secret.
package enum PhonePageLink {
    /// Bytes of PEM texts: a key on P-256 has some 240.
    private static let limit = 16_384

    /// Returns the link; `nil`: the settings do not say where the page is, or have no app for it.
    static func text(for settings: Settings) throws(CallRefusal) -> String? {
        guard let page = settings.feature(named: WaySwitch.phonePage.rawValue), !page.url.isEmpty,
            settings.webPushApp != nil
        else { return nil }
        let key = try key(in: settings.stateDirectory).publicText
        return "\(page.url)#k=\(key)"
    }

    /// Reads the key by which push services know the node.
    package static func key(in stateDirectory: String) throws(CallRefusal) -> VAPIDKey {
        let path = StateDirectory.vapidKey(in: stateDirectory)
        guard access(path, F_OK) == 0 else {
            throw CallRefusal(
                .unavailable, "no_key",
                "there is no \(path) yet: the node creates it at its first start with an app of gateway web_push"
            )
        }
        do {
            return try VAPIDKey(pem: PrivateFile.read(path, limit: limit))
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(path): \(error)")
        }
    }
}
