import Persistence
import Relay

/// Nodes of one database put messages into mailboxes one after the other, and tell their readers.
final class MailboxTurn {
    /// The statement that waits for the turn; `nil`: no other node is in the way.
    private let turn: Statement?
    private let selectNews: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        turn =
            if let lock = connection.dialect.forUpdate {
                try Statement(
                    "SELECT 1 FROM door WHERE name = '\(MailboxTables.name)' \(lock)", on: connection)
            } else { nil }
        selectNews = try Statement(
            "SELECT mailbox, max(number) FROM mailbox_message WHERE number > ? GROUP BY mailbox",
            on: connection)
    }

    /// Waits for the turn: until this commit has ended no other node gets a number, since readers go on
    /// behind the highest number that they have seen.
    func wait() throws(StoreError) { try turn?.run() }

    /// Returns the last messages of mailboxes that have got any behind that number.
    func news(behind number: Int64) throws(StoreError) -> [MailboxPlace] {
        try selectNews.bind(1, number)
        defer { selectNews.reset() }
        var news: [MailboxPlace] = []
        while try selectNews.step() {
            news.append(MailboxPlace(mailbox: selectNews.integer(0), number: selectNews.integer(1)))
        }
        return news
    }
}
