import Crypto
import Encodings
import Relay

/// Names the capabilities of a mailbox and its channels without keeping them, and makes new ones. One owner, one isolation.
package final class MailboxDigests {
    private let digest: KeyedDigest

    /// - Parameter key: The node's, 32 random bytes.
    package init(key: Secret) { digest = KeyedDigest(key: key.bytes) }

    package func address(_ text: String) -> Relay.Digest { make("address", text) }
    package func topic(_ text: String) -> Relay.Digest { make("topic", text) }
    package func token(_ text: String) -> Relay.Digest { make("token", text) }

    package func channel(_ text: String) -> Relay.Digest { make("channel", text) }

    /// - Parameter channel: 32 bytes.
    package func reply(_ sealed: [UInt8], in channel: String) -> Relay.Digest {
        let digest = digest(Array("mailbox reply\0\(channel)".utf8) + sealed)
        return Relay.Digest(high: digest.high, low: digest.low)
    }

    private func make(_ kind: String, _ text: String) -> Relay.Digest {
        let digest = digest("mailbox \(kind)\0\(text)")
        return Relay.Digest(high: digest.high, low: digest.low)
    }

    /// 192 random bits each. ntfy's tokens begin so, and topics that begin with `up` are others'.
    package static func newTopic() -> String { "mb" + Base64.encodeForURL(randomBytes(24)) }
    package static func newToken() -> String { "tk_" + Base64.encodeForURL(randomBytes(24)) }
}
