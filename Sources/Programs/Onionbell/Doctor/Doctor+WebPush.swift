import Gateways
import Node
import Reactor
import Terminal

/// Web Push's own: the key that browsers know the node by, and the page that phones load.
extension Doctor {
    func checkWebPush() async {
        guard let app = settings.webPushApp?.settings as? WebPushApp else { return }
        let path = StateDirectory.vapidKey(in: settings.stateDirectory)
        let key = (try? PrivateFile.read(path, limit: 16_384)).flatMap { try? VAPIDKey(pem: $0) }?.publicText
        tell(Judgement.vapidKey(key, contact: app.contact))
        #if PhonePage
            // Without a key nobody can have paired.
            if let key { await checkPhonePage(key) }
        #endif
    }
}

extension Judgement {
    /// Judges the node's VAPID key.
    ///
    /// - Parameter key: The key's public text; `nil`: there is none yet, or it can't be read.
    static func vapidKey(_ key: String?, contact: String) -> Finding {
        guard let key else {
            return .warn(
                "vapid_key", "the node has no VAPID key yet", "the node creates it at its first start")
        }
        return .pass(
            "vapid_key", "the node's key for push services is \(key.prefix(12))..., its contact \(contact)")
    }
}
