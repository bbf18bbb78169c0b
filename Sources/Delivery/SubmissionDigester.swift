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
        let host = recipient.isSandbox ? "sandbox" : ""
        write(UInt8(ascii: "t"), recipient.app, host, recipient.deviceToken)
        let token = digest(text)
        write(UInt8(ascii: "c"), recipient.app, host, recipient.deviceToken)
        switch submission.content {
        case .bisq(let content): append(content.message)
        case .prepared(let push): append(push.body)
        }
        let content = digest(text)
        var identity = content
        if let uid = submission.uid {
            write(UInt8(ascii: "u"), uid)
            identity = digest(text)
        }
        return SubmissionDigests(
            token: Digest(high: token.high, low: token.low),
            identity: Digest(high: identity.high, low: identity.low),
            content: Digest(high: content.high, low: content.low))
    }

    private func write(_ kind: UInt8, _ parts: String...) {
        text.removeAll(keepingCapacity: true)
        text.append(kind)
        for part in parts { append(part) }
    }

    private func append(_ part: String) {
        text.append(contentsOf: part.utf8)
        text.append(0)
    }
}
