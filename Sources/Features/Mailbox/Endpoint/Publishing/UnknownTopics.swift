import Clocks
import Relay

/// Topics without a subscriber to which Matrix servers push. An app is given its endpoint before its distributor has
/// subscribed, so a topic must stay unknown for half a day before its pushes are rejected for good.
///
/// The table has a bound, and each sender a share of it. A topic without room in the table is never rejected: its server goes
/// on trying in vain.
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

    /// Notes a push to a topic without a subscriber.
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

    /// Forgets topics that have got a subscriber, or were noted more than twice ``patience`` ago.
    mutating func clean(at now: MonotonicTime, isKnown: (Digest) -> Bool) {
        entries = entries.filter { topic, entry in
            now - entry.since < UnknownTopics.patience * 2 && !isKnown(topic)
        }
        counts = entries.values.reduce(into: [:]) { $0[$1.sender, default: 0] += 1 }
    }
}
