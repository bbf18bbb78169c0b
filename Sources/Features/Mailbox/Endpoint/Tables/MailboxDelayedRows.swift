import Persistence
import Relay

/// Messages that publishers want published later. None is a message of its mailbox before its time, when it gets a number
/// as any other.
final class MailboxDelayedRows {
    private typealias Column = StoreTable.Column
    /// The table of delayed messages. Each goes with its publisher: a token that leaked rings nobody later.
    static let table = StoreTable(
        "mailbox_delayed",
        [
            Column("number", .number, .numbered(.neverReused)), Column("mailbox"), Column("id", .text),
            Column("due_at"), Column("expires_at"), Column("is_urgent"), Column("size"),
            Column("text", .sealedText(Sealed.message)),
            Column("replaces", .sealedText(Sealed.collapse), .optional),
            Column(
                "publisher", .bytes,
                .goesWith(table: "mailbox_publisher", column: "token", trigger: "mailbox_delayed_goes")),
        ], indices: ["mailbox_delayed_due": "(due_at)", "mailbox_delayed_of": "(publisher, size)"])

    private let selectPublisher: Statement
    private let selectHeld: Statement
    private let insert: Statement
    private let selectReplaced: Statement
    private let deleteReplaced: Statement
    private let selectNext: Statement
    private let selectDue: Statement
    private let delete: Statement

    /// The most rows that become messages in one commit.
    static let atOnce = 100

    init(_ connection: borrowing Connection) throws(StoreError) {
        selectPublisher = try Statement(
            "SELECT 1 FROM mailbox_publisher WHERE token = ? AND mailbox = ?", on: connection)
        selectHeld = try Statement(
            """
            SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM mailbox_delayed WHERE publisher = ?
            """, on: connection)
        insert = try Statement(
            """
            INSERT INTO mailbox_delayed (mailbox, id, due_at, expires_at, is_urgent, size, text, replaces, publisher)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection, room: 8192)
        selectReplaced = try Statement(
            """
            SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM mailbox_delayed
            WHERE publisher = ? AND mailbox = ? AND replaces = ?
            """, on: connection)
        deleteReplaced = try Statement(
            "DELETE FROM mailbox_delayed WHERE mailbox = ? AND replaces = ?", on: connection)
        selectNext = try Statement(
            """
            SELECT (SELECT min(due_at) FROM mailbox_delayed WHERE due_at < ?1),
                (SELECT min(due_at) FROM mailbox_delayed WHERE due_at >= ?1)
            """, on: connection)
        selectDue = try Statement(
            """
            SELECT number, id, due_at, expires_at, is_urgent, text, replaces,
                (SELECT address FROM mailbox WHERE mailbox.number = mailbox_delayed.mailbox)
            FROM mailbox_delayed WHERE due_at <= ? AND due_at <= \(OverTimes.time(for: "due_at"))
            ORDER BY due_at, number LIMIT ?
            """, on: connection)
        delete = try Statement("DELETE FROM mailbox_delayed WHERE number = ?", on: connection)
    }

    func hold(
        _ message: MailboxMessage, for publisher: Digest, in mailbox: Int64, at address: Digest,
        within bounds: MailboxBounds
    ) throws(StoreError) -> MailboxPutResult {
        // It may have been removed since the request came.
        guard try isPublisher(publisher, of: mailbox) else { return .noSuchMailbox }
        let size = message.text.utf8.count
        let held = try held(by: publisher)
        let replaced = try replaced(by: message, of: publisher, in: mailbox, at: address)
        guard held.messages - replaced.messages < bounds.delayedMessages,
            held.bytes - replaced.bytes + size <= bounds.delayedBytes
        else { return .full }
        if let name = message.replaces { try forget(name, in: mailbox, at: address) }
        try insert.bind(1, mailbox)
        try insert.bind(2, message.id)
        try insert.bind(3, time: message.acceptedAt)
        try insert.bind(4, time: message.expiresAt)
        try insert.bind(5, message.isUrgent ? 1 : 0)
        try insert.bind(6, Int64(size))
        try insert.bind(
            7, sealed: message.text, as: Sealed.message, of: .message(id: message.id, mailbox: address))
        try insert.bind(8, sealed: message.replaces, as: Sealed.collapse, of: .mailboxReplaces(address))
        try insert.bind(9, publisher)
        try insert.run()
        return .stored(mailbox)
    }

    private func isPublisher(_ token: Digest, of mailbox: Int64) throws(StoreError) -> Bool {
        try selectPublisher.bind(1, token)
        try selectPublisher.bind(2, mailbox)
        defer { selectPublisher.reset() }
        return try selectPublisher.step()
    }

    private func held(by publisher: Digest) throws(StoreError) -> (messages: Int, bytes: Int) {
        try selectHeld.bind(1, publisher)
        defer { selectHeld.reset() }
        guard try selectHeld.step() else { return (0, 0) }
        return (Int(selectHeld.integer(0)), Int(selectHeld.integer(1)))
    }

    /// Returns what a new message of a publisher would replace of what the publisher has waiting.
    private func replaced(
        by message: MailboxMessage, of publisher: Digest, in mailbox: Int64, at address: Digest
    ) throws(StoreError) -> (messages: Int, bytes: Int) {
        guard let name = message.replaces else { return (0, 0) }
        try selectReplaced.bind(1, publisher)
        try selectReplaced.bind(2, mailbox)
        try selectReplaced.bind(3, sealed: name, as: Sealed.collapse, of: .mailboxReplaces(address))
        defer { selectReplaced.reset() }
        guard try selectReplaced.step() else { return (0, 0) }
        return (Int(selectReplaced.integer(0)), Int(selectReplaced.integer(1)))
    }

    /// Removes the messages that a new one replaces.
    func forget(_ replaced: String, in mailbox: Int64, at address: Digest) throws(StoreError) {
        try deleteReplaced.bind(1, mailbox)
        try deleteReplaced.bind(2, sealed: replaced, as: Sealed.collapse, of: .mailboxReplaces(address))
        try deleteReplaced.run()
    }

    /// Returns the milliseconds until the first message is due, 0 or less if one is; `nil`: there is none.
    func wait(at now: OverTimes) throws(StoreError) -> Int64? {
        try selectNext.bind(1, now.since)
        defer { selectNext.reset() }
        guard try selectNext.step() else { return nil }
        let before = selectNext.isNull(0) ? nil : selectNext.integer(0) - now.before
        let own = selectNext.isNull(1) ? nil : selectNext.integer(1) - now.own
        guard let before, let own else { return before ?? own }
        return min(before, own)
    }

    /// Returns the messages that are due, without their publishers: they wait no more. A message is `nil` if
    /// somebody has changed it in the database.
    func due(
        at now: OverTimes
    ) throws(StoreError) -> [(number: Int64, address: Digest, message: MailboxMessage?)] {
        try selectDue.bind(1, now.latest)
        try now.bind(to: selectDue, from: 2)
        try selectDue.bind(5, Int64(MailboxDelayedRows.atOnce))
        defer { selectDue.reset() }
        var due: [(number: Int64, address: Digest, message: MailboxMessage?)] = []
        while try selectDue.step() {
            let address = Digest(selectDue.pair(7))
            due.append((selectDue.integer(0), address, try? message(at: address)))
        }
        return due
    }

    /// Returns the message of the row at which ``due(at:)`` is.
    private func message(at address: Digest) throws(StoreError) -> MailboxMessage {
        let id = selectDue.text(1)
        let text = try selectDue.sealedText(5, as: Sealed.message, of: .message(id: id, mailbox: address))
        let replaces: String? =
            if selectDue.isNull(6) {
                nil
            } else {
                try selectDue.sealedText(6, as: Sealed.collapse, of: .mailboxReplaces(address))
            }
        return MailboxMessage(
            id: id, acceptedAt: selectDue.time(2), expiresAt: selectDue.time(3),
            isUrgent: selectDue.integer(4) != 0, text: text, replaces: replaces, isPublished: true)
    }

    func remove(_ number: Int64) throws(StoreError) {
        try delete.bind(1, number)
        try delete.run()
    }
}

extension MailboxMessages {
    /// Makes messages of what is due: whichever node comes first.
    func deliver(
        at now: OverTimes, within bounds: MailboxBounds, in store: StoreStatements
    ) throws(StoreError) -> (mailboxes: Set<Int64>, wait: Int64?) {
        try turn.wait()
        var mailboxes: Set<Int64> = []
        for (number, address, message) in try delayed.due(at: now) {
            try delayed.remove(number)
            guard let message else { continue }
            let put = try put(message, to: address, keeping: nil, within: bounds, in: store)
            if case .stored(let mailbox) = put.result { mailboxes.insert(mailbox) }
        }
        return (mailboxes, try delayed.wait(at: now))
    }
}
