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

    func callAsFunction(_ submission: Submission, to recipient: Recipient) -> SubmissionDigests {
        // Out of the object for the time being, whose every access is checked.
        var text: [UInt8] = []
        swap(&text, &self.text)
        defer { swap(&text, &self.text) }
        // Each kind of digest begins with a byte of its own; the parts are separated by a byte that none can hold.
        text.begin(UInt8(ascii: "t"))
        text.add(recipient.lane.app)
        // As it was written when there were two hosts only: digests on disk stay the same.
        text.add(recipient.lane.host == .production ? "" : recipient.lane.host.name)
        text.add(recipient.deviceToken.text)
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
    fileprivate mutating func begin(_ kind: UInt8) {
        removeAll(keepingCapacity: true)
        append(kind)
    }

    fileprivate mutating func add(_ part: String) {
        append(contentsOf: part.utf8)
        append(0)
    }
}
