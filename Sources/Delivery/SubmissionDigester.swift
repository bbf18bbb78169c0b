import Crypto
import Reactor
import Relay

/// Makes the keyed digests that stand for tokens, uids and messages. The key is the node's, kept in its state
/// directory: without it the digests on disk say nothing.
@EventLoop
package final class SubmissionDigester {
    private let digest: KeyedDigest
    private var text: [UInt8] = []

    /// - Parameter key: 32 random bytes.
    package init(key: Secret) { digest = KeyedDigest(key: key.bytes) }

    func callAsFunction(_ submission: Submission, to recipient: Recipient) -> SubmissionDigests {
        // Each kind of digest begins with a byte of its own; the parts are told apart by a byte that none can hold.
        begin(UInt8(ascii: "t"))
        append(recipient.app)
        append(recipient.isSandbox ? "sandbox" : "")
        append(recipient.deviceToken)
        let token = digest(text)
        // The same with the message behind it.
        text[0] = UInt8(ascii: "c")
        switch submission.content {
        case .bisq(let content): append(content.message)
        case .prepared(let push): append(push.body)
        }
        let content = digest(text)
        var identity = content
        if let uid = submission.uid {
            begin(UInt8(ascii: "u"))
            append(uid)
            identity = digest(text)
        }
        return SubmissionDigests(
            token: Digest(high: token.high, low: token.low),
            identity: Digest(high: identity.high, low: identity.low),
            content: Digest(high: content.high, low: content.low))
    }

    private func begin(_ kind: UInt8) {
        text.removeAll(keepingCapacity: true)
        text.append(kind)
    }

    private func append(_ part: String) {
        text.append(contentsOf: part.utf8)
        text.append(0)
    }
}
