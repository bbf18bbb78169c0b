import Persistence
import Relay

/// The replies on the way back, in the tables of the mailboxes.
final class MailboxReplyRows {
    private typealias Column = StoreTable.Column
    /// End to end encrypted already.
    static let table = StoreTable(
        "mailbox_reply",
        [
            Column("number", .number, .numbered(.neverReused)), Column("mailbox"), Column("channel", .bytes),
            Column("digest", .bytes, .unique), Column("accepted_at"), Column("sealed", .bytes),
        ],
        indices: [
            "mailbox_reply_of": "(mailbox, channel, number)", "mailbox_reply_age": "(accepted_at)",
        ])

    private let turn: MailboxTurn
    private let selectMailbox: Statement
    private let deleteOld: Statement
    private let selectKnown: Statement
    private let selectHeld: Statement
    private let insert: Statement
    private let selectAcknowledged: Statement
    private let deleteAcknowledged: Statement
    private let select: Statement
    private let selectNews: Statement

    init(_ connection: borrowing Connection, after turn: MailboxTurn) throws(StoreError) {
        self.turn = turn
        selectMailbox = try Statement(
            "SELECT number FROM mailbox WHERE address = ? AND is_push = 0", on: connection)
        deleteOld = try Statement(
            "DELETE FROM mailbox_reply WHERE accepted_at <= ? AND accepted_at <= \(OverTimes.time(for: "accepted_at"))",
            on: connection)
        selectKnown = try Statement("SELECT 1 FROM mailbox_reply WHERE digest = ?", on: connection)
        selectHeld = try Statement(
            """
            SELECT (SELECT count(*) FROM mailbox_reply WHERE mailbox = ?1 AND channel = ?2),
                (SELECT count(*) FROM mailbox_reply WHERE mailbox = ?1), (SELECT count(*) FROM mailbox_reply)
            """, on: connection)
        insert = try Statement(
            """
            INSERT INTO mailbox_reply (mailbox, channel, digest, accepted_at, sealed) VALUES (?, ?, ?, ?, ?)
            """, on: connection)
        selectAcknowledged = try Statement(
            "SELECT 1 FROM mailbox_reply WHERE mailbox = ? AND channel = ? AND number = ?", on: connection)
        deleteAcknowledged = try Statement(
            "DELETE FROM mailbox_reply WHERE mailbox = ? AND channel = ? AND number <= ?", on: connection)
        select = try Statement(
            """
            SELECT number, sealed FROM mailbox_reply 
            WHERE mailbox = ? AND channel = ? AND accepted_at > \(OverTimes.time(for: "accepted_at"))
            ORDER BY number LIMIT ?
            """, on: connection)
        selectNews = try Statement(
            "SELECT channel, max(number) FROM mailbox_reply WHERE number > ? GROUP BY channel", on: connection
        )
    }

    func post(
        _ sealed: [UInt8], digest: Digest, in channel: Digest, by address: Digest, at now: Int64,
        _ over: OverTimes, within bounds: MailboxReplyBounds
    ) throws(StoreError) -> MailboxReplyResult {
        guard let mailbox = try mailbox(of: address) else { return .noSuchMailbox }
        try turn.wait()
        try forget(at: over)
        guard try !isKnown(digest) else { return .stored }
        let held = try held(in: channel, of: mailbox)
        guard held.channel < bounds.ofChannel, held.mailbox < bounds.ofMailbox, held.all < bounds.inAll else {
            return .full
        }
        try insert.bind(1, mailbox)
        try insert.bind(2, channel)
        try insert.bind(3, digest)
        try insert.bind(4, now)
        try insert.bind(5, bytes: sealed)
        try insert.run()
        return .stored
    }

    /// Whether a reply of this number lies in a channel. An acknowledgement of another number says nothing: it was made
    /// before the store was lost, and the numbers began anew.
    func holds(
        _ number: Int64, in channel: Digest, of address: Digest
    ) throws(StoreError) -> Bool {
        guard let mailbox = try mailbox(of: address) else { return false }
        try selectAcknowledged.bind(1, mailbox)
        try selectAcknowledged.bind(2, channel)
        try selectAcknowledged.bind(3, number)
        defer { selectAcknowledged.reset() }
        return try selectAcknowledged.step()
    }

    func acknowledge(
        _ number: Int64, in channel: Digest, of address: Digest
    ) throws(StoreError) {
        guard let mailbox = try mailbox(of: address) else { return }
        try deleteAcknowledged.bind(1, mailbox)
        try deleteAcknowledged.bind(2, channel)
        try deleteAcknowledged.bind(3, number)
        try deleteAcknowledged.run()
    }

    func replies(
        in channel: Digest, of address: Digest, at now: OverTimes, limit: Int
    ) throws(StoreError) -> [MailboxReply]? {
        guard let mailbox = try mailbox(of: address) else { return nil }
        try select.bind(1, mailbox)
        try select.bind(2, channel)
        try now.bind(to: select, from: 3, less: MailboxReply.life)
        try select.bind(6, Int64(limit))
        defer { select.reset() }
        var replies: [MailboxReply] = []
        while try select.step() {
            replies.append(MailboxReply(number: select.integer(0), sealed: select.bytes(1)))
        }
        return replies
    }

    /// Returns the last replies of channels that have got any behind that number.
    func news(behind number: Int64) throws(StoreError) -> [MailboxReplyPlace] {
        try selectNews.bind(1, number)
        defer { selectNews.reset() }
        var news: [MailboxReplyPlace] = []
        while try selectNews.step() {
            news.append(
                MailboxReplyPlace(channel: Digest(selectNews.pair(0)), number: selectNews.integer(1)))
        }
        return news
    }

    /// Deletes what is good for nothing any more.
    func forget(at now: OverTimes) throws(StoreError) {
        try deleteOld.bind(1, now.latest - MailboxReply.life)
        try now.bind(to: deleteOld, from: 2, less: MailboxReply.life)
        try deleteOld.run()
    }

    func mailbox(of address: Digest) throws(StoreError) -> Int64? {
        try selectMailbox.bind(1, address)
        defer { selectMailbox.reset() }
        return try selectMailbox.step() ? selectMailbox.integer(0) : nil
    }

    private func isKnown(_ digest: Digest) throws(StoreError) -> Bool {
        try selectKnown.bind(1, digest)
        defer { selectKnown.reset() }
        return try selectKnown.step()
    }

    private func held(
        in channel: Digest, of mailbox: Int64
    ) throws(StoreError) -> (channel: Int, mailbox: Int, all: Int) {
        try selectHeld.bind(1, mailbox)
        try selectHeld.bind(2, channel)
        defer { selectHeld.reset() }
        guard try selectHeld.step() else { return (0, 0, 0) }
        return (Int(selectHeld.integer(0)), Int(selectHeld.integer(1)), Int(selectHeld.integer(2)))
    }
}

/// The way back: replies in mailboxes.
extension StoredMailboxes {
    /// Keeps a reply, once. Durable when it returns.
    ///
    /// - Parameters:
    ///   - address: The mailbox's.
    ///   - digest: Of the channel and what is sealed.
    ///   - now: Milliseconds since 1970.
    package func post(
        _ sealed: [UInt8], digest: Digest, in channel: Digest, by address: Digest, at now: Int64,
        within bounds: MailboxReplyBounds
    ) async throws(OutboxError) -> MailboxReplyResult {
        // Whoever knows no mailbox gets as far as a look, and into no commit.
        let isKnown = try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.replies.mailbox(of: address) != nil
        }
        guard isKnown else { return .noSuchMailbox }
        let dates = await dates()
        let (now, over) = (dates.stored(now), dates.over(at: now))
        return try await file.write(MailboxTables.self) { tables throws(StoreError) in
            try tables.replies.post(
                sealed, digest: digest, in: channel, by: address, at: now, over, within: bounds)
        }
    }

    /// Returns the replies in a channel of a mailbox, the oldest first.
    ///
    /// - Parameter acknowledged: Up to this number they are deleted before.
    /// - Returns: `nil`: there is no such mailbox.
    package func replies(
        in channel: Digest, of address: Digest, acknowledging acknowledged: Int64, at now: Int64
    ) async throws(OutboxError) -> [MailboxReply]? {
        let now = await dates().over(at: now)
        // What acknowledges nothing needs no commit.
        let holds = try await file.read(MailboxTables.self) { tables throws(StoreError) in
            acknowledged > 0
                ? try tables.replies.holds(acknowledged, in: channel, of: address) : false
        }
        if holds {
            try await file.write(MailboxTables.self) { tables throws(StoreError) in
                try tables.replies.acknowledge(acknowledged, in: channel, of: address)
            }
        }
        return try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.replies.replies(
                in: channel, of: address, at: now, limit: MailboxReplyBounds().ofChannel)
        }
    }

    /// Returns the last replies of channels that have got any behind that number, whichever node took them.
    package func replyNews(behind number: Int64) async throws(OutboxError) -> [MailboxReplyPlace] {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.replies.news(behind: number)
        }
    }
}
