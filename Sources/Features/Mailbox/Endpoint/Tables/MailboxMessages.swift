import Persistence
import Relay

/// The messages in the mailboxes, and how far their readers have come.
final class MailboxMessages {
    let turn: MailboxTurn
    let delayed: MailboxDelayedRows
    let readers: MailboxReaderRows
    private let selectByAddress: Statement
    private let selectByID: Statement
    private let selectHeld: Statement
    private let selectAllHeld: Statement
    private let insert: Statement
    private let selectOldest: Statement
    private let delete: Statement
    private let selectLast: Statement
    private let selectByTime: Statement
    private let selectReplaced: Statement
    private let selectNewest: Statement
    private let select: Statement
    let selectExpired: Statement
    let selectGone: Statement
    let deleteGone: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        turn = try MailboxTurn(connection)
        delayed = try MailboxDelayedRows(connection)
        readers = try MailboxReaderRows(connection)
        selectByAddress = try Statement("SELECT number, show FROM mailbox WHERE address = ?", on: connection)
        selectByID = try Statement(
            "SELECT number FROM mailbox_message WHERE mailbox = ? AND id = ?", on: connection)
        selectHeld = try Statement(
            """
            SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM mailbox_message
            WHERE mailbox = ? AND is_urgent BETWEEN ? AND ?
            """, on: connection)
        selectAllHeld = try Statement(
            "SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM mailbox_message", on: connection)
        insert = try Statement(
            """
            INSERT INTO mailbox_message (mailbox, id, accepted_at, expires_at, is_urgent, size, text, sequence,
                replaces)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, on: connection, room: 8192)
        selectOldest = try Statement(
            """
            SELECT number, CASE WHEN \(MailboxReaderRows.isSeen) THEN NULL ELSE sequence END FROM mailbox_message
            WHERE mailbox = ? AND is_urgent BETWEEN ? AND ? ORDER BY number LIMIT 1
            """, on: connection)
        delete = try Statement("DELETE FROM mailbox_message WHERE number = ?", on: connection)
        selectLast = try Statement(
            "SELECT coalesce(max(number), 0) FROM mailbox_message WHERE mailbox = ?", on: connection)
        selectByTime = try Statement(
            "SELECT coalesce(min(number), 0) FROM mailbox_message WHERE mailbox = ? AND accepted_at >= ?",
            on: connection)
        selectReplaced = try Statement(
            "SELECT number, size FROM mailbox_message WHERE mailbox = ? AND replaces = ?", on: connection)
        selectNewest = try Statement(
            "SELECT coalesce(max(number), 0) FROM mailbox_message", on: connection)
        // A sealed text is sealed for its mailbox's address.
        let address =
            connection.isSealed
            ? "(SELECT address FROM mailbox WHERE mailbox.number = mailbox_message.mailbox)" : "NULL"
        select = try Statement(
            """
            SELECT number, id, accepted_at, expires_at, is_urgent, text, \(address)
            FROM mailbox_message
            WHERE mailbox = ? AND number > ? AND expires_at > \(OverTimes.time(for: "accepted_at"))
            ORDER BY number LIMIT ?
            """, on: connection)
        selectExpired = try Statement(
            """
            SELECT number, CASE WHEN \(MailboxReaderRows.isSeen) THEN NULL ELSE sequence END FROM mailbox_message
            WHERE expires_at < ? AND expires_at < \(OverTimes.time(for: "accepted_at")) LIMIT ?
            """, on: connection)
        selectGone = try Statement("SELECT sequence FROM mailbox_gone LIMIT ?", on: connection)
        deleteGone = try Statement("DELETE FROM mailbox_gone WHERE sequence = ?", on: connection)
    }

    // MARK: In

    /// Puts a message into a mailbox.
    ///
    /// - Parameter identity: What the outbox knows it by; `nil`: it does not come from there.
    func put(
        _ message: MailboxMessage, to address: Digest, keeping identity: Digest?,
        within bounds: MailboxBounds, in store: StoreStatements
    ) throws(StoreError) -> MailboxPut {
        guard let (mailbox, show) = try mailbox(of: address) else { return MailboxPut(.noSuchMailbox) }
        try turn.wait()
        var ends: [KeptEnd] = []
        guard try number(of: message.id, in: mailbox) == nil else {
            if let identity { _ = try store.keep(identity) }
            return MailboxPut(.stored(mailbox))
        }
        if let publisher = message.delayedBy {
            return MailboxPut(
                try delayed.hold(message, for: publisher, in: mailbox, at: address, within: bounds))
        }
        let size = message.text.utf8.count
        let replaced = try replaced(by: message, in: mailbox, at: address)
        var room = try room(for: message, besides: replaced, in: mailbox, showing: show, within: bounds)
        // Nothing goes for a message that is refused.
        guard room != .none else { return MailboxPut(.full) }
        if let name = message.replaces { try delayed.forget(name, in: mailbox, at: address) }
        for (number, _) in replaced { try delete(number) }
        while room == .oldestGoes {
            let end = try deleteOldest(of: mailbox, published: message.isPublished, in: store)
            if let end { ends.append(end) }
            room = try self.room(for: message, besides: [], in: mailbox, showing: show, within: bounds)
        }
        let sequence = if let identity { try store.keep(identity) } else { nil as Int64? }
        try insert(message, size: size, into: mailbox, at: address, sequence)
        return MailboxPut(.stored(mailbox), ends)
    }

    /// Returns the messages that a message replaces, with their sizes.
    private func replaced(
        by message: MailboxMessage, in mailbox: Int64, at address: Digest
    ) throws(StoreError) -> [(number: Int64, size: Int)] {
        guard let name = message.replaces else { return [] }
        try selectReplaced.bind(1, mailbox)
        try selectReplaced.bind(2, sealed: name, as: Sealed.collapse, of: .mailboxReplaces(address))
        defer { selectReplaced.reset() }
        var found: [(number: Int64, size: Int)] = []
        while try selectReplaced.step() {
            found.append((selectReplaced.integer(0), Int(selectReplaced.integer(1))))
        }
        return found
    }

    /// Returns the room that a mailbox has for a message once those that it replaces are gone.
    private func room(
        for message: MailboxMessage, besides replaced: [(number: Int64, size: Int)], in mailbox: Int64,
        showing show: Mailbox.Show, within bounds: MailboxBounds
    ) throws(StoreError) -> MailboxBounds.Room {
        let held = try held(in: mailbox, published: message.isPublished)
        return bounds.room(
            for: message.text.utf8.count, besides: held.messages - replaced.count,
            bytes: held.bytes - replaced.reduce(0) { $0 + $1.size }, showing: show,
            isPublished: message.isPublished)
    }

    private func mailbox(of address: Digest) throws(StoreError) -> (Int64, Mailbox.Show)? {
        try selectByAddress.bind(1, address)
        defer { selectByAddress.reset() }
        guard try selectByAddress.step(), let show = Mailbox.Show(rawValue: selectByAddress.text(1)) else {
            return nil
        }
        return (selectByAddress.integer(0), show)
    }

    func held() throws(StoreError) -> (messages: Int, bytes: Int) {
        defer { selectAllHeld.reset() }
        guard try selectAllHeld.step() else { return (0, 0) }
        return (Int(selectAllHeld.integer(0)), Int(selectAllHeld.integer(1)))
    }

    private func held(
        in mailbox: Int64, published: Bool
    ) throws(StoreError) -> (messages: Int, bytes: Int) {
        try selectHeld.bind(1, mailbox)
        try bind(published: published, to: selectHeld)
        defer { selectHeld.reset() }
        guard try selectHeld.step() else { return (0, 0) }
        return (Int(selectHeld.integer(0)), Int(selectHeld.integer(1)))
    }

    /// Binds the values of the column `is_urgent`: 1 for what is urgent, and 2 more for what was published.
    private func bind(published: Bool, to statement: borrowing Statement) throws(StoreError) {
        try statement.bind(2, published ? 2 : 0)
        try statement.bind(3, published ? 3 : 1)
    }

    private func insert(
        _ message: MailboxMessage, size: Int, into mailbox: Int64, at address: Digest, _ sequence: Int64?
    ) throws(StoreError) {
        try insert.bind(1, mailbox)
        try insert.bind(2, message.id)
        try insert.bind(3, time: message.acceptedAt)
        try insert.bind(4, time: message.expiresAt)
        try insert.bind(5, (message.isUrgent ? 1 : 0) + (message.isPublished ? 2 : 0))
        try insert.bind(6, Int64(size))
        try insert.bind(
            7, sealed: message.text, as: Sealed.message, of: .message(id: message.id, mailbox: address))
        if let sequence { try insert.bind(8, sequence) } else { try insert.bind(8, nil) }
        try insert.bind(9, sealed: message.replaces, as: Sealed.collapse, of: .mailboxReplaces(address))
        try insert.run()
    }

    /// Deletes the oldest message of a mailbox.
    ///
    /// - Returns: The end of the message, if nobody has acknowledged it.
    private func deleteOldest(
        of mailbox: Int64, published: Bool, in store: StoreStatements
    ) throws(StoreError) -> KeptEnd? {
        try selectOldest.bind(1, mailbox)
        try bind(published: published, to: selectOldest)
        defer { selectOldest.reset() }
        guard try selectOldest.step() else { return nil }
        let number = selectOldest.integer(0)
        let sequence = selectOldest.isNull(1) ? nil : selectOldest.integer(1)
        selectOldest.reset()
        try delete(number)
        guard let sequence else { return nil }
        return try end(sequence, .refused(reason: .gateway(Reason.mailboxFull, .full)), in: store)
    }

    func delete(_ number: Int64) throws(StoreError) {
        try delete.bind(1, number)
        try delete.run()
    }

    func end(_ sequence: Int64, _ ending: Ending, in store: StoreStatements) throws(StoreError) -> KeptEnd {
        let end = KeptEnd(sequence: sequence, ending: ending)
        try store.keptEnded(end)
        return end
    }

    // MARK: Out

    /// Returns the next messages of some mailboxes, in the order in which they came.
    ///
    /// - Parameter places: Behind which number, of which mailbox.
    func messages(
        behind places: [MailboxPlace], at now: OverTimes, limit: Int
    ) throws(StoreError) -> [(mailbox: Int64, message: MailboxMessage)] {
        var found: [(mailbox: Int64, message: MailboxMessage)] = []
        // Another node may put messages there between two statements. They get numbers in the order of their commits: up
        // to this one nothing comes any more.
        let newest = places.count > 1 ? try newest() : 0
        for place in places {
            try select.bind(1, place.mailbox)
            try select.bind(2, place.number)
            try now.bind(to: select, from: 3)
            try select.bind(6, Int64(limit))
            defer { select.reset() }
            while try select.step() {
                found.append(
                    (
                        place.mailbox,
                        MailboxMessage(
                            number: select.integer(0), id: select.text(1), acceptedAt: select.time(2),
                            expiresAt: select.time(3), isUrgent: select.integer(4) & 1 != 0,
                            text: try select.sealedText(
                                5, as: Sealed.message,
                                of: .message(id: select.text(1), mailbox: Digest(select.pair(6)))),
                            isPublished: select.integer(4) & 2 != 0)
                    ))
            }
        }
        guard places.count > 1 else { return found }
        return Array(
            found.filter { $0.message.number <= newest }
                .sorted { $0.message.number < $1.message.number }.prefix(limit))
    }

    private func newest() throws(StoreError) -> Int64 {
        defer { selectNewest.reset() }
        return try selectNewest.step() ? selectNewest.integer(0) : 0
    }

    // MARK: Readers

    /// Finds the points from which a client begins.
    func starts(
        _ since: MailboxSince, of clients: [MailboxClient]
    ) throws(StoreError) -> [MailboxStart] {
        guard case .message(let id) = since else {
            return try clients.map { (client) throws(StoreError) in
                MailboxStart(
                    client.mailbox, behind: try start(since, of: client.mailbox),
                    sent: try readers.sent(to: client))
            }
        }
        return MailboxReturn.starts(
            behind: id,
            in: try clients.map { (client) throws(StoreError) in
                MailboxReturn(
                    client.mailbox, reader: client.reader, number: try number(of: id, in: client.mailbox),
                    acknowledged: try client.reader.flatMap { (reader) throws(StoreError) in
                        try readers.place(of: reader)
                    }?.number ?? 0, sent: try readers.sent(to: client))
            })
    }

    private func number(of id: String, in mailbox: Int64) throws(StoreError) -> Int64? {
        try selectByID.bind(1, mailbox)
        try selectByID.bind(2, id)
        defer { selectByID.reset() }
        return try selectByID.step() ? selectByID.integer(0) : nil
    }

    private func start(_ since: MailboxSince, of mailbox: Int64) throws(StoreError) -> Int64 {
        switch since {
        case .all, .message: return 0
        case .none: return try last(in: mailbox)
        case .latest: return max(0, try last(in: mailbox) - 1)
        case .time(let time):
            try selectByTime.bind(1, mailbox)
            try selectByTime.bind(2, time)
            defer { selectByTime.reset() }
            guard try selectByTime.step(), selectByTime.integer(0) > 0 else { return try last(in: mailbox) }
            return selectByTime.integer(0) - 1
        }
    }

    private func last(in mailbox: Int64) throws(StoreError) -> Int64 {
        try selectLast.bind(1, mailbox)
        defer { selectLast.reset() }
        return try selectLast.step() ? selectLast.integer(0) : 0
    }

    static let forgottenAtOnce: Int64 = 1000
}
