import Clocks
import Encodings
import Relay

/// An account for a door that asks for a name and a key, as the operator made them: what the store keeps of
/// one.
package struct Installation: Equatable, Sendable {
    package let id: String
    /// Keyed: the key itself is not kept.
    package let keyDigest: Digest
    package let isEnabled: Bool
    package let addedAt: UnixTime

    package init(id: String, keyDigest: Digest, isEnabled: Bool = true, addedAt: UnixTime) {
        self.id = id
        self.keyDigest = keyDigest
        self.isEnabled = isEnabled
        self.addedAt = addedAt
    }
}
