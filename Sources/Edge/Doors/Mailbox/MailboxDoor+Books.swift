import Persistence
import Reactor
import Relay

/// The books of what readers were sent, and what they acknowledge.
extension MailboxDoor {
    /// Finds the points from which a client begins, and notes what it acknowledges by that.
    func begin(
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

    /// The time until the store knows what readers were sent. Most have acknowledged it by then.
    private static let bookDelay: Duration = .seconds(5)

    func note(_ stream: MailboxStream) {
        books.note(stream)
        if !books.isWritten, !bookTimer.isRunning { bookTimer.start(after: MailboxDoor.bookDelay) }
    }

    /// Writes down at once what a connection that has ended has brought: its reader may come back to another node.
    func noteEnd() {
        if !books.isWritten { Task { await writeBooks() } }
    }

    /// Writes down what the store does not know yet. What can't be written is acknowledged only while this node runs.
    func writeBooks() async { try? await store.note(books.takeUnwritten()) }
}
