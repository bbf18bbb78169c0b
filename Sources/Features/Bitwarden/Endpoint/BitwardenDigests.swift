import Crypto
import Encodings
import Relay

/// Digests that stand for installations, users, organizations and devices, so that their ids are not kept. Made under the
/// node's key and the installation's id: the same user of another installation is somebody else. One owner, one isolation.
package final class BitwardenDigests {
    private let digest: KeyedDigest

    /// Makes digests under the node's key, 32 random bytes.
    package init(key: Secret) { digest = KeyedDigest(key: key.bytes) }

    func device(_ id: String, in installation: String) -> Relay.Digest { make("device", id, installation) }
    func user(_ id: String, in installation: String) -> Relay.Digest { make("user", id, installation) }
    func organization(_ id: String, in installation: String) -> Relay.Digest {
        make("organization", id, installation)
    }
    func app(_ identifier: String, in installation: String) -> Relay.Digest {
        make("app", identifier, installation)
    }

    /// Returns the digest of the key that an installation shows.
    package func key(_ key: String, of installation: String) -> Relay.Digest {
        make("key", key, installation, cased: true)
    }

    /// Makes the digest of an id. Some clients send ids in lower case, others as they were given.
    private func make(_ kind: String, _ id: String, _ installation: String, cased: Bool = false)
        -> Relay.Digest
    {
        let digest = digest("bitwarden \(kind)\0\(installation)\0\(cased ? id : id.lowercasedASCII)")
        return Relay.Digest(high: digest.high, low: digest.low)
    }
}
