import Encodings
import Tor

/// The front before the node: an onionbalance, by whose address clients come.
extension Settings {
    /// The address that clients call, where it is not the node's own; `nil`: it is.
    package var front: OnionAddress? {
        guard let address = OnionAddress(onion.publicAddress) else { return nil }
        let key = try? OnionKeyFile(path: StateDirectory.onionKey(in: stateDirectory)).load()
        return key?.address == address ? nil : address
    }

    /// A private node has none: onionbalance can't read the descriptor of a service with authorized clients, and its own
    /// lets everybody in.
    package var frontFaults: [SettingsFault] {
        let invitations = Invitations(path: StateDirectory.peers(in: stateDirectory))
        guard let front, (try? invitations.load()) ?? nil != nil else { return [] }
        return [SettingsFault(key: "onion.public_address", problem: Settings.refusal(of: front))]
    }

    package static func refusal(of front: OnionAddress) -> String {
        "\(front) is not the node's own address, and onionbalance cannot pass clients on to a private node: leave public_address empty, or let everybody in (onionbell peers --let-everybody-in)"
    }
}

extension Settings {
    /// Whether a text is `https://HOST[:PORT]` or `http://HOST[:PORT]`: ntfy's app takes no path.
    package static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return false }
        let rest = text.dropFirst(scheme.count)
        return !rest.isEmpty
            && rest.consists {
                ASCII.letter($0) | ASCII.digit($0) | ASCII.equal($0, ".") | ASCII.equal($0, "-")
                    | ASCII.equal($0, ":")
            }
    }
}
