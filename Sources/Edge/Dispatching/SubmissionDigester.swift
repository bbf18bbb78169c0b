import Crypto
import Reactor
import Relay

/// Makes the keyed digests that stand for tokens, uids and messages. The key is the node's, kept in its state
/// directory: without it the digests on disk say nothing.
@EventLoop
package final class SubmissionDigester {
    private let digest: KeyedDigest
    private var text: [UInt8] = []

    /// Makes a digester with a key.
    ///
    /// - Parameter key: 32 random bytes.
    package init(key: Secret) { digest = KeyedDigest(key: key.bytes) }

    /// Returns the digest that stands for the device of a recipient.
    func token(of recipient: Recipient) -> Digest {
        var text: [UInt8] = []
        text.begin(of: recipient)
        let token = digest(text)
        return Digest(high: token.high, low: token.low)
    }

    func callAsFunction(_ submission: Submission, to recipient: Recipient) -> SubmissionDigests {
        // Out of the object for the time being, whose every access is checked.
        var text: [UInt8] = []
        swap(&text, &self.text)
        defer { swap(&text, &self.text) }
        text.begin(of: recipient)
        let token = digest(text)
        let device = text.count
        var ownIdentity: (high: UInt64, low: UInt64)?
        if let uid = submission.uid {
            // Of this device: two senders that count from 1 don't take each other's for their own.
            text[0] = UInt8(ascii: "u")
            text.add(uid)
            if recipient.isOfAlias {
                text.add(recipient.lane.app)
                text.add(recipient.deviceToken.text)
            }
            ownIdentity = digest(text)
            text.removeSubrange(device...)
        }
        text[0] = UInt8(ascii: "c")
        switch submission.content {
        case .bisq(let content): text.add(content.message)
        case .prepared(let push): text.add(push.body)
        }
        let content = digest(text)
        let identity = ownIdentity ?? content
        return SubmissionDigests(
            token: Digest(high: token.high, low: token.low),
            identity: Digest(high: identity.high, low: identity.low),
            content: Digest(high: content.high, low: content.low))
    }
}

extension [UInt8] {
    /// Begins the text of a digest with a recipient. Each kind of digest has a first byte of its own; a byte that no part
    /// can hold stands between the parts.
    fileprivate mutating func begin(of recipient: Recipient) {
        removeAll(keepingCapacity: true)
        append(UInt8(ascii: "t"))
        add(recipient.lane.app)
        // As it was written when there were two hosts only: digests on disk stay the same.
        add(recipient.lane.host == .production ? "" : recipient.lane.host.name)
        add(recipient.deviceToken.text)
    }

    fileprivate mutating func add(_ part: String) {
        append(contentsOf: part.utf8)
        append(0)
    }
}
