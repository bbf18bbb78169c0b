import Crypto
import Gateways
import Glibc
import Reactor

extension StateDirectory {
    /// Reads the key by which push services know the node, which its start makes.
    package static func keptVAPIDKey(in stateDirectory: String) throws(CallRefusal) -> VAPIDKey {
        let path = vapidKey(in: stateDirectory)
        guard access(path, F_OK) == 0 else {
            throw CallRefusal(
                .unavailable, "no_key",
                "there is no \(path) yet: the node creates it at its first start with an app of gateway web_push"
            )
        }
        do {
            return try VAPIDKey(pem: PrivateFile.read(path, limit: 16_384))
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(path): \(error)")
        }
    }
}
