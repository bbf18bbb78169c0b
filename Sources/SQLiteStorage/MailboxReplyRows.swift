import CSQLite
import Registrations
import Relay

/// What lies on the way back, in the tables of the mailboxes.
final class MailboxReplyRows {
    static let step = """
        CREATE TABLE mailbox_reply (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            mailbox INTEGER NOT NULL,
            channel BLOB NOT NULL,
            digest BLOB NOT NULL UNIQUE,
            accepted_at INTEGER NOT NULL,
            sealed BLOB NOT NULL
        ) STRICT;
        CREATE INDEX mailbox_reply_of ON mailbox_reply (mailbox, channel, number);
        CREATE INDEX mailbox_reply_age ON mailbox_reply (accepted_at)
        """

    private let selectMailbox: Statement
    private let deleteOld: Statement
    private let selectKnown: Statement
    private let selectHeld: Statement
    private let insert: Statement
    private let deleteAcknowledged: Statement
    private let select: Statement

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        selectMailbox = try Statement("SELECT number FROM mailbox WHERE address = ?", on: connection)
        deleteOld = try Statement("DELETE FROM mailbox_reply WHERE accepted_at <= ?", on: connection)
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
        deleteAcknowledged = try Statement(
            "DELETE FROM mailbox_reply WHERE mailbox = ? AND channel = ? AND number <= ?", on: connection)
        select = try Statement(
            """
            SELECT number, sealed FROM mailbox_reply WHERE mailbox = ? AND channel = ? AND accepted_at > ?
            ORDER BY number LIMIT ?
            """, on: connection)
    }

    func post(
        _ sealed: [UInt8], digest: Digest, in channel: Digest, by address: Digest, at now: Int64,
        within bounds: MailboxReplyBounds
    ) throws(SQLiteError) -> MailboxReplyResult {
        guard let mailbox = try mailbox(of: address) else { return .noSuchMailbox }
        try forget(at: now)
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

    func acknowledge(
        _ number: Int64, in channel: Digest, of address: Digest
    ) throws(SQLiteError) {
        guard let mailbox = try mailbox(of: address) else { return }
        try deleteAcknowledged.bind(1, mailbox)
        try deleteAcknowledged.bind(2, channel)
        try deleteAcknowledged.bind(3, number)
        try deleteAcknowledged.run()
    }

    func replies(
        in channel: Digest, of address: Digest, at now: Int64, limit: Int
    ) throws(SQLiteError) -> [MailboxReply]? {
        guard let mailbox = try mailbox(of: address) else { return nil }
        try select.bind(1, mailbox)
        try select.bind(2, channel)
        try select.bind(3, now - MailboxReply.life)
        try select.bind(4, Int64(limit))
        defer { select.reset() }
        var replies: [MailboxReply] = []
        while try select.step() {
            replies.append(MailboxReply(number: select.integer(0), sealed: select.bytes(1)))
        }
        return replies
    }

    /// Deletes what is good for nothing any more.
    func forget(at now: Int64) throws(SQLiteError) {
        try deleteOld.bind(1, now - MailboxReply.life)
        try deleteOld.run()
    }

    private func mailbox(of address: Digest) throws(SQLiteError) -> Int64? {
        try selectMailbox.bind(1, address)
        defer { selectMailbox.reset() }
        return try selectMailbox.step() ? selectMailbox.integer(0) : nil
    }

    private func isKnown(_ digest: Digest) throws(SQLiteError) -> Bool {
        try selectKnown.bind(1, digest)
        defer { selectKnown.reset() }
        return try selectKnown.step()
    }

    private func held(
        in channel: Digest, of mailbox: Int64
    ) throws(SQLiteError) -> (channel: Int, mailbox: Int, all: Int) {
        try selectHeld.bind(1, mailbox)
        try selectHeld.bind(2, channel)
        defer { selectHeld.reset() }
        guard try selectHeld.step() else { return (0, 0, 0) }
        return (Int(selectHeld.integer(0)), Int(selectHeld.integer(1)), Int(selectHeld.integer(2)))
    }
}

extension SQLiteMailboxes: MailboxReplies {
    package func post(
        _ sealed: [UInt8], digest: Digest, in channel: Digest, by address: Digest, at now: Int64,
        within bounds: MailboxReplyBounds
    ) async throws(OutboxError) -> MailboxReplyResult {
        try await file.write(MailboxTables.self) { tables throws(SQLiteError) in
            try tables.replies.post(
                sealed, digest: digest, in: channel, by: address, at: now, within: bounds)
        }
    }

    package func replies(
        in channel: Digest, of address: Digest, acknowledging acknowledged: Int64, at now: Int64
    ) async throws(OutboxError) -> [MailboxReply]? {
        // What acknowledges nothing needs no commit.
        if acknowledged > 0 {
            try await file.write(MailboxTables.self) { tables throws(SQLiteError) in
                try tables.replies.acknowledge(acknowledged, in: channel, of: address)
            }
        }
        return try await file.read(MailboxTables.self) { tables throws(SQLiteError) in
            try tables.replies.replies(
                in: channel, of: address, at: now, limit: MailboxReplyBounds().ofChannel)
        }
    }
}
