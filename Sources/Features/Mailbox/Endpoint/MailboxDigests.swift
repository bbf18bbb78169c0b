import Crypto
import Encodings
import JSONCoding
import Relay

/// Names the capabilities of a mailbox and its channels without keeping them, makes new ones, and seals what is published.
/// One owner, one isolation.
package final class MailboxDigests {
    private let digest: KeyedDigest
    private let published: AES256SIV

    /// Makes digests under the node's key, 32 random bytes.
    package init(key: Secret) {
        digest = KeyedDigest(key: key.bytes)
        published = AES256SIV(derivedFrom: key, for: "published text")
    }

    package func address(_ text: String) -> Relay.Digest { make("address", text) }
    package func topic(_ text: String) -> Relay.Digest { make("topic", text) }
    package func token(_ text: String) -> Relay.Digest { make("token", text) }

    package func channel(_ text: String) -> Relay.Digest { make("channel", text) }

    /// Returns the digest of a sealed reply in a channel of 32 bytes.
    package func reply(_ sealed: [UInt8], in channel: String) -> Relay.Digest {
        let digest = digest(Array("mailbox reply\0\(channel)".utf8) + sealed)
        return Relay.Digest(high: digest.high, low: digest.low)
    }

    // MARK: What is published

    /// Returns a text as it lies in the store, good for this message of this topic only. What Bisq sends is
    /// encrypted; this is not.
    func seal(_ text: PublishedText, id: String, topic: String) -> String? {
        let sealed = try? published.seal(text.json.text.utf8, as: "published", of: owner(id, topic))
        return sealed.map { Base64.encode($0) }
    }

    /// Opens a published text; `nil`: somebody has changed it.
    func open(_ sealed: String, id: String, topic: String) -> PublishedText? {
        guard let bytes = Base64.decode(sealed),
            let text = try? published.open(bytes, as: "published", of: owner(id, topic)),
            let json = try? JSON(text)
        else { return nil }
        return PublishedText(kept: json)
    }

    /// Returns the id that one text of a publisher's has in common with those that follow it under the same name.
    func sequence(_ name: String, of publisher: String, in topic: String) -> String {
        let digest = make("sequence", "\(topic)\0\(publisher)\0\(name)")
        return "\(String(digest.high, radix: 16))-\(String(digest.low, radix: 16))"
    }

    private func owner(_ id: String, _ topic: String) -> [UInt8] { Array("\(id)\0\(topic)".utf8) }

    private func make(_ kind: String, _ text: String) -> Relay.Digest {
        let digest = digest("mailbox \(kind)\0\(text)")
        return Relay.Digest(high: digest.high, low: digest.low)
    }

    /// Makes a topic with 192 random bits. Topics that begin with `up` are not mailboxes'.
    package static func newTopic() -> String { "mb" + Base64.encodeForURL(randomBytes(24)) }
    /// Makes a token with 192 random bits. ntfy's tokens begin so.
    package static func newToken() -> String { "tk_" + Base64.encodeForURL(randomBytes(24)) }
}
