import Persistence
import Reactor
import Relay

/// The books of what readers were sent, and what they acknowledge.
extension MailboxDoor {
    /// Finds the points from which a client begins, and notes what it acknowledges by that.
    package func begin(
        _ since: MailboxSince, of granted: [MailboxDirectory.Granted], filtered isFiltered: Bool
    ) async throws(OutboxError) -> [MailboxStart] {
        let clients = granted.map { mailbox, reader in
            MailboxClient(
                mailbox.number, reader: reader?.number,
                sent: reader.flatMap { books.sent(to: $0.number, filtered: isFiltered) })
        }
        let begun = try await store.begin(
            since, of: clients, filtered: isFiltered, at: EventLoop.unixMilliseconds)
        if !isFiltered { for receipt in begun.starts.compactMap(\.receipt) { books.note(receipt) } }
        tell(begun.ends)
        return begun.starts
    }

    /// Acknowledges what readers have; returns whether it is written down.
    func acknowledge(_ receipts: [MailboxReceipt]) async -> Bool {
        guard let ends = try? await store.acknowledge(receipts, at: EventLoop.unixMilliseconds) else {
            return false
        }
        for receipt in receipts { books.note(receipt) }
        tell(ends)
        return true
    }

    /// Writes down what a connection is about to bring. What can't be written is acknowledged only while this node runs.
    func note(_ stream: MailboxStream) async {
        books.note(stream)
        try? await store.note(books.takeUnwritten())
    }

    /// Writes down that a poll comes to its end.
    func noteEnd(of poll: MailboxStream) async {
        books.end(poll)
        try? await store.note(books.takeUnwritten())
    }
}
