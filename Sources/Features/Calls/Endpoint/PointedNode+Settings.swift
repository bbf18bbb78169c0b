import Node
import Pointing
import Tor

extension PointedNode {
    /// Returns the node of these settings; `nil`: it has no address yet.
    ///
    /// - Throws: The onion key or the invitations can't be read.
    package static func node(of settings: Settings) throws(CallRefusal) -> PointedNode? {
        let key: OnionKey?
        let isPrivate: Bool
        do {
            key = try OnionKeyFile(path: StateDirectory.onionKey(in: settings.stateDirectory)).load()
            isPrivate =
                try Invitations(path: StateDirectory.peers(in: settings.stateDirectory)).load() != nil
        } catch {
            throw CallRefusal(.unavailable, "unreadable", "\(error)")
        }
        let known = settings.onion.publicAddress
        guard let address = known.isEmpty ? key?.address.description : known else { return nil }
        // Both ports are the same endpoint; Bisq 2's own comes first where it is offered.
        let ports = settings.onion.httpPorts
        return PointedNode(
            address: address, bisq2Port: ports.contains(8021) ? 8021 : ports.first ?? 8021,
            isPrivate: isPrivate)
    }
}
