import Clocks
import Relay

/// Topics that Matrix servers push to and that nobody has subscribed to: an app is given its endpoint before its
/// distributor's subscription has come, so a topic has to stay unknown for half a day before its pushes are rejected for
/// good.
///
/// The table has a bound, and each sender a share of it. What has no room is not remembered, and so never rejected: its
/// server tries for longer than it need.
struct UnknownTopics {
    private struct Entry {
        /// The time of the first push.
        let since: MonotonicTime
        /// The circuit, address or connection by which the push came.
        let sender: Int
    }

    static let most = 4096
    static let mostOfOneSender = 64
    /// The time for which a topic may be unknown, as in ntfy.
    static let patience = Duration.seconds(12 * 3600)

    private var entries: [Digest: Entry] = [:]
    private var counts: [Int: Int] = [:]

    var count: Int { entries.count }

    /// Notes a push to a topic that there is none of.
    ///
    /// - Returns: Whether the topic has been unknown for so long that no subscriber is to be expected.
    mutating func noteMissing(_ topic: Digest, by sender: Int, at now: MonotonicTime) -> Bool {
        if let entry = entries[topic] { return now - entry.since >= UnknownTopics.patience }
        guard entries.count < UnknownTopics.most, counts[sender, default: 0] < UnknownTopics.mostOfOneSender
        else { return false }
        entries[topic] = Entry(since: now, sender: sender)
        counts[sender, default: 0] += 1
        return false
    }

    /// Keeps those that are still unknown, for twice the time after which they are gone.
    mutating func clean(at now: MonotonicTime, isKnown: (Digest) -> Bool) {
        entries = entries.filter { topic, entry in
            now - entry.since < UnknownTopics.patience * 2 && !isKnown(topic)
        }
        counts = entries.values.reduce(into: [:]) { $0[$1.sender, default: 0] += 1 }
    }
}
