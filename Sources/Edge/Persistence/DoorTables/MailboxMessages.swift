import Relay

/// The messages in the mailboxes, and how far their readers have come.
final class MailboxMessages {
    let turn: MailboxTurn
    let delayed: MailboxDelayedRows
    private let selectByAddress: Statement
    private let selectByID: Statement
    private let selectHeld: Statement
    private let selectAllHeld: Statement
    private let insert: Statement
    private let selectOldest: Statement
    let delete: Statement
    private let selectLast: Statement
    private let selectByTime: Statement
    private let deleteReplaced: Statement
    private let select: Statement
    private let selectReader: Statement
    private let updateReader: Statement
    private let selectSeen: Statement
    private let selectRange: Statement
    private let deleteSeen: Statement
    let selectExpired: Statement
    let selectGone: Statement
    let deleteGone: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        turn = try MailboxTurn(connection)
        delayed = try MailboxDelayedRows(connection)
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
            SELECT number, sequence FROM mailbox_message WHERE mailbox = ? AND is_urgent BETWEEN ? AND ?
            ORDER BY number LIMIT 1
            """, on: connection)
        delete = try Statement("DELETE FROM mailbox_message WHERE number = ?", on: connection)
        selectLast = try Statement(
            "SELECT coalesce(max(number), 0) FROM mailbox_message WHERE mailbox = ?", on: connection)
        selectByTime = try Statement(
            "SELECT coalesce(min(number), 0) FROM mailbox_message WHERE mailbox = ? AND accepted_at >= ?",
            on: connection)
        deleteReplaced = try Statement(
            "DELETE FROM mailbox_message WHERE mailbox = ? AND replaces = ?", on: connection)
        select = try Statement(
            """
            SELECT number, id, accepted_at, expires_at, is_urgent, text, \(connection.dialect.address(of: "mailbox_message"))
            FROM mailbox_message
            WHERE mailbox = ? AND number > ? AND expires_at > ? ORDER BY number LIMIT ?
            """, on: connection)
        selectReader = try Statement(
            "SELECT mailbox, acknowledged FROM mailbox_reader WHERE number = ?", on: connection)
        updateReader = try Statement(
            "UPDATE mailbox_reader SET acknowledged = ?2 WHERE number = ?1 AND acknowledged < ?2",
            on: connection)
        selectSeen = try Statement(
            """
            SELECT coalesce(max(acknowledged), 0), coalesce(min(acknowledged), 0) FROM mailbox_reader
            WHERE mailbox = ?
            """, on: connection)
        selectRange = try Statement(
            "SELECT sequence FROM mailbox_message WHERE mailbox = ? AND number > ? AND number <= ?",
            on: connection)
        deleteSeen = try Statement(
            "DELETE FROM mailbox_message WHERE mailbox = ? AND number <= ?", on: connection)
        selectExpired = try Statement(
            "SELECT number, sequence, mailbox FROM mailbox_message WHERE expires_at < ? LIMIT ?",
            on: connection)
        selectGone = try Statement("SELECT sequence FROM mailbox_gone LIMIT ?", on: connection)
        deleteGone = try Statement("DELETE FROM mailbox_gone WHERE sequence = ?", on: connection)
    }

    // MARK: In

    /// Puts a message into a mailbox.
    ///
    /// - Parameter identity: What the outbox knows it by; `nil`: it does not come from there.
    func put(
        _ message: MailboxMessage, to address: Digest, keeping identity: Digest?,
        within bounds: MailboxBounds, in store: Store
    ) throws(StoreError) -> MailboxPut {
        guard let (mailbox, show) = try mailbox(of: address) else { return MailboxPut(.noSuchMailbox) }
        try turn.wait()
        var ends: [KeptEnd] = []
        guard try number(of: message.id, in: mailbox) == nil else {
            if let identity { _ = try store.keep(identity) }
            return MailboxPut(.stored(mailbox))
        }
        if let replaced = message.replaces {
            try delayed.forget(replaced, in: mailbox, at: address)
        }
        if let publisher = message.delayedBy {
            return MailboxPut(
                try delayed.hold(message, for: publisher, in: mailbox, at: address, within: bounds))
        }
        if let replaced = message.replaces {
            try deleteReplaced.bind(1, mailbox)
            try deleteReplaced.bind(2, sealed: replaced, as: Sealed.collapse, of: .mailboxReplaces(address))
            try deleteReplaced.run()
        }
        let size = message.text.utf8.count
        while true {
            let held = try held(in: mailbox, published: message.isPublished)
            switch bounds.room(
                for: size, besides: held.messages, bytes: held.bytes, showing: show,
                isPublished: message.isPublished)
            {
            case .none: return MailboxPut(.full)
            case .oldestGoes:
                let end = try deleteOldest(of: mailbox, published: message.isPublished, in: store)
                if let end { ends.append(end) }
            case .enough:
                let sequence = if let identity { try store.keep(identity) } else { nil as Int64? }
                try insert(message, size: size, into: mailbox, at: address, sequence)
                return MailboxPut(.stored(mailbox), ends)
            }
        }
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
        of mailbox: Int64, published: Bool, in store: Store
    ) throws(StoreError) -> KeptEnd? {
        try selectOldest.bind(1, mailbox)
        try bind(published: published, to: selectOldest)
        defer { selectOldest.reset() }
        guard try selectOldest.step() else { return nil }
        let number = selectOldest.integer(0)
        let sequence = selectOldest.isNull(1) ? nil : selectOldest.integer(1)
        selectOldest.reset()
        try delete.bind(1, number)
        try delete.run()
        guard let sequence, try seen(in: mailbox).first < number else { return nil }
        return try end(sequence, .refused(reason: .gateway(Reason.mailboxFull, .full)), in: store)
    }

    func end(_ sequence: Int64, _ ending: Ending, in store: Store) throws(StoreError) -> KeptEnd {
        let end = KeptEnd(sequence: sequence, ending: ending)
        try store.keptEnded(end)
        return end
    }

    // MARK: Out

    /// Returns the next messages of some mailboxes, in the order in which they came.
    ///
    /// - Parameter places: Behind which number, of which mailbox.
    func messages(
        behind places: [MailboxPlace], at now: Int64, limit: Int
    ) throws(StoreError) -> [(mailbox: Int64, message: MailboxMessage)] {
        var found: [(mailbox: Int64, message: MailboxMessage)] = []
        for place in places {
            try select.bind(1, place.mailbox)
            try select.bind(2, place.number)
            try select.bind(3, now)
            try select.bind(4, Int64(limit))
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
        return Array(found.sorted { $0.message.number < $1.message.number }.prefix(limit))
    }

    // MARK: Readers

    /// Finds the point from which a reader begins, and notes what it acknowledges by that.
    func begin(
        _ since: MailboxSince, of mailboxes: [(mailbox: Int64, reader: Int64?)], in store: Store
    ) throws(StoreError) -> (places: [MailboxPlace], ends: [KeptEnd]) {
        var places: [MailboxPlace] = []
        guard case .message(let id) = since else {
            for (mailbox, _) in mailboxes {
                places.append(MailboxPlace(mailbox: mailbox, number: try start(since, of: mailbox)))
            }
            return (places, [])
        }
        // All mailboxes number their messages in one series: what came after that one came after it in each of them.
        var numbers: [Int64?] = []
        for (mailbox, _) in mailboxes { numbers.append(try number(of: id, in: mailbox)) }
        let known = numbers.compactMap(\.self).max()
        var ends: [KeptEnd] = []
        for ((mailbox, reader), number) in zip(mailboxes, numbers) {
            // It says only of its own mailbox that its reader has seen what came before.
            if let number, let reader { ends += try acknowledge(number, by: [reader], in: store) }
            var start = known
            // One that is gone was acknowledged before, or has expired.
            if start == nil, let reader { start = try place(of: reader)?.number }
            places.append(MailboxPlace(mailbox: mailbox, number: start ?? 0))
        }
        return (places, ends)
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

    /// Returns a reader's mailbox, and what it has acknowledged there.
    private func place(of reader: Int64) throws(StoreError) -> MailboxPlace? {
        try selectReader.bind(1, reader)
        defer { selectReader.reset() }
        guard try selectReader.step() else { return nil }
        return MailboxPlace(mailbox: selectReader.integer(0), number: selectReader.integer(1))
    }

    /// Returns the highest numbers that the first and the last of its readers has acknowledged.
    func seen(in mailbox: Int64) throws(StoreError) -> (first: Int64, last: Int64) {
        try selectSeen.bind(1, mailbox)
        defer { selectSeen.reset() }
        guard try selectSeen.step() else { return (0, 0) }
        return (selectSeen.integer(0), selectSeen.integer(1))
    }

    /// Notes what readers have acknowledged. The first acknowledgement delivers; what all have acknowledged
    /// goes.
    ///
    /// - Returns: What is delivered by it.
    func acknowledge(_ number: Int64, by readers: [Int64], in store: Store) throws(StoreError) -> [KeptEnd] {
        var ends: [KeptEnd] = []
        for reader in readers {
            guard let place = try place(of: reader), place.number < number else { continue }
            let before = try seen(in: place.mailbox).first
            try updateReader.bind(1, reader)
            try updateReader.bind(2, number)
            try updateReader.run()
            if number > before {
                for sequence in try sequences(in: place.mailbox, after: before, upTo: number) {
                    ends.append(try end(sequence, .delivered, in: store))
                }
            }
            try deleteSeen.bind(1, place.mailbox)
            try deleteSeen.bind(2, try seen(in: place.mailbox).last)
            try deleteSeen.run()
        }
        return ends
    }

    private func sequences(
        in mailbox: Int64, after first: Int64, upTo last: Int64
    ) throws(StoreError) -> [Int64] {
        try selectRange.bind(1, mailbox)
        try selectRange.bind(2, first)
        try selectRange.bind(3, last)
        defer { selectRange.reset() }
        var found: [Int64] = []
        while try selectRange.step() { if !selectRange.isNull(0) { found.append(selectRange.integer(0)) } }
        return found
    }

    static let forgottenAtOnce: Int64 = 1000
}
