import Persistence
import Relay

/// A mailbox that a client reads, with what this node knows of the client.
package struct MailboxClient: Sendable {
    package let mailbox: Int64
    /// The client's number among the registered readers; `nil`: it is none of them.
    package let reader: Int64?
    /// The entries of this node's books.
    package let sent: MailboxSent?

    package init(_ mailbox: Int64, reader: Int64?, sent: MailboxSent? = nil) {
        (self.mailbox, self.reader, self.sent) = (mailbox, reader, sent)
    }
}

/// The rows of registered readers: what they were sent, and what they have acknowledged.
///
/// A reader has acknowledged a message if its number is not above `acknowledged`, and it is not among the skipped ones:
/// those were never sent to the reader, which began behind them.
final class MailboxReaderRows {
    private typealias Column = StoreTable.Column
    static let tables = [
        StoreTable(
            "mailbox_skipped",
            [
                Column(
                    "reader", .number,
                    .goesWith(
                        table: "mailbox_reader", column: "number", trigger: "mailbox_skipped_goes")),
                Column("message"),
            ], key: ["reader", "message"]),
        StoreTable(
            "mailbox_sent",
            [
                Column(
                    "reader", .number,
                    .goesWith(table: "mailbox_reader", column: "number", trigger: "mailbox_sent_goes")),
                Column("sent_after"), Column("sent_to"), Column("id", .text), Column("earliest"),
                Column("alone"), Column("readers"),
            ], key: ["reader"]),
    ]

    /// SQL that is true for a message that any reader has acknowledged.
    static let isSeen = """
        EXISTS (SELECT 1 FROM mailbox_reader WHERE mailbox_reader.mailbox = mailbox_message.mailbox
            AND acknowledged >= mailbox_message.number AND NOT \(isSkipped))
        """
    /// SQL that is true for a message that any reader has still to acknowledge.
    private static let isAwaited = """
        EXISTS (SELECT 1 FROM mailbox_reader WHERE mailbox_reader.mailbox = mailbox_message.mailbox
            AND (acknowledged < mailbox_message.number OR \(isSkipped)))
        """
    private static let isSkipped = """
        EXISTS (SELECT 1 FROM mailbox_skipped
            WHERE reader = mailbox_reader.number AND message = mailbox_message.number)
        """

    private let select: Statement
    private let selectSent: Statement
    private let insertSent: Statement
    private let selectUnseen: Statement
    private let forgetSkipped: Statement
    private let insertSkipped: Statement
    private let deleteSkipped: Statement
    private let update: Statement
    private let deleteSeen: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        select = try Statement(
            "SELECT mailbox, acknowledged FROM mailbox_reader WHERE number = ?", on: connection)
        selectSent = try Statement(
            "SELECT sent_after, sent_to, id, earliest, alone, readers FROM mailbox_sent WHERE reader = ?",
            on: connection)
        // The reader may be gone.
        insertSent = try Statement(
            """
            INSERT INTO mailbox_sent (reader, sent_after, sent_to, id, earliest, alone, readers)
                SELECT number, CAST(?2 AS BIGINT), CAST(?3 AS BIGINT), CAST(?4 AS TEXT), CAST(?5 AS BIGINT),
                    CAST(?6 AS BIGINT), CAST(?7 AS BIGINT)
                FROM mailbox_reader WHERE number = ?1
            ON CONFLICT (reader) DO UPDATE SET sent_after = excluded.sent_after, sent_to = excluded.sent_to,
                id = excluded.id, earliest = excluded.earliest, alone = excluded.alone,
                readers = excluded.readers
            """, on: connection)
        selectUnseen = try Statement(
            """
            SELECT sequence, expires_at, accepted_at FROM mailbox_message
            WHERE mailbox = ? AND number > ? AND number <= ? AND sequence IS NOT NULL
                AND NOT \(MailboxReaderRows.isSeen)
            """, on: connection)
        forgetSkipped = try Statement(
            """
            DELETE FROM mailbox_skipped
            WHERE reader = ? AND NOT EXISTS (SELECT 1 FROM mailbox_message WHERE number = message)
            """, on: connection)
        insertSkipped = try Statement(
            """
            INSERT INTO mailbox_skipped (reader, message)
                SELECT CAST(?1 AS BIGINT), number FROM mailbox_message
                WHERE mailbox = ?2 AND number > ?3 AND number <= ?4
            """, on: connection)
        deleteSkipped = try Statement(
            "DELETE FROM mailbox_skipped WHERE reader = ? AND message > ? AND message <= ?", on: connection)
        update = try Statement(
            "UPDATE mailbox_reader SET acknowledged = ?2 WHERE number = ?1 AND acknowledged < ?2",
            on: connection)
        deleteSeen = try Statement(
            """
            DELETE FROM mailbox_message
            WHERE mailbox = ? AND number > ? AND number <= ?
                AND (expires_at <= \(OverTimes.time(for: "accepted_at")) OR NOT \(MailboxReaderRows.isAwaited))
            """, on: connection)
    }

    /// Returns a reader's mailbox, and the number up to which it has acknowledged.
    func place(of reader: Int64) throws(StoreError) -> MailboxPlace? {
        try select.bind(1, reader)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return MailboxPlace(mailbox: select.integer(0), number: select.integer(1))
    }

    /// Returns what a registered reader was sent last, by this node or another one.
    func sent(to client: MailboxClient) throws(StoreError) -> MailboxSent? {
        guard let reader = client.reader else { return client.sent }
        try selectSent.bind(1, reader)
        defer { selectSent.reset() }
        guard try selectSent.step(), selectSent.integer(1) > client.sent?.upTo ?? 0 else {
            return client.sent
        }
        return MailboxSent(
            after: selectSent.integer(0), upTo: selectSent.integer(1), id: selectSent.text(2),
            earliest: selectSent.integer(3), alone: selectSent.integer(4), readers: selectSent.integer(5))
    }

    func note(_ sent: MailboxSent, to reader: Int64) throws(StoreError) {
        try insertSent.bind(1, reader)
        try insertSent.bind(2, sent.after)
        try insertSent.bind(3, sent.upTo)
        try insertSent.bind(4, sent.id)
        try insertSent.bind(5, sent.earliest)
        try insertSent.bind(6, sent.alone)
        try insertSent.bind(7, sent.readers)
        try insertSent.run()
    }

    /// Notes what a reader has acknowledged. The first acknowledgement delivers a message; one that all have acknowledged
    /// goes. One that had expired by then goes as expired: nobody may have been sent it.
    ///
    /// - Returns: What has come to its end by that.
    func acknowledge(
        _ receipt: MailboxReceipt, at now: OverTimes, in store: StoreStatements
    ) throws(StoreError) -> [KeptEnd] {
        guard let place = try place(of: receipt.reader), receipt.after < receipt.upTo else { return [] }
        let ends = try unseen(in: receipt, of: place.mailbox, at: now)
        for end in ends { try store.keptEnded(end) }
        if receipt.after > place.number {
            try skip(behind: place, upTo: receipt.after, for: receipt.reader)
        } else if receipt.after < place.number {
            try deleteSkipped.bind(1, receipt.reader)
            try deleteSkipped.bind(2, receipt.after)
            try deleteSkipped.bind(3, receipt.upTo)
            try deleteSkipped.run()
        }
        try update.bind(1, receipt.reader)
        try update.bind(2, receipt.upTo)
        try update.run()
        try deleteSeen.bind(1, place.mailbox)
        try deleteSeen.bind(2, receipt.after)
        try deleteSeen.bind(3, receipt.upTo)
        try now.bind(to: deleteSeen, from: 4)
        try deleteSeen.run()
        return ends
    }

    /// Returns the ends of the messages that nobody has acknowledged before.
    private func unseen(
        in receipt: MailboxReceipt, of mailbox: Int64, at now: OverTimes
    ) throws(StoreError) -> [KeptEnd] {
        try selectUnseen.bind(1, mailbox)
        try selectUnseen.bind(2, receipt.after)
        try selectUnseen.bind(3, receipt.upTo)
        defer { selectUnseen.reset() }
        var ends: [KeptEnd] = []
        while try selectUnseen.step() {
            let isOver = selectUnseen.integer(1) <= now.time(for: selectUnseen.integer(2))
            let ending: Ending = isOver ? .expired : .delivered
            ends.append(KeptEnd(sequence: selectUnseen.integer(0), ending: ending))
        }
        return ends
    }

    /// Notes which messages a reader has not been sent, though it has acknowledged later ones.
    private func skip(
        behind place: MailboxPlace, upTo number: Int64, for reader: Int64
    ) throws(StoreError) {
        try forgetSkipped.bind(1, reader)
        try forgetSkipped.run()
        try insertSkipped.bind(1, reader)
        try insertSkipped.bind(2, place.mailbox)
        try insertSkipped.bind(3, place.number)
        try insertSkipped.bind(4, number)
        try insertSkipped.run()
    }
}
