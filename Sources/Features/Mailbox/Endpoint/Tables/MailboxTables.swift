import Encodings
import Persistence
import Relay

/// The statements of the mailboxes. The operator's commands make them; the node fills them, and deletes what was fetched.
final class MailboxTables: DoorTables {
    static let name = "mailboxes"
    static let format: PerDialect<Int64> = 6
    private typealias Column = StoreTable.Column
    static let tables =
        [
            StoreTable(
                "mailbox",
                [
                    Column("number", .number, .numbered(.neverReused)), Column("name", .text, .unique),
                    Column("address", .bytes, .unique), Column("topic", .bytes, .unique),
                    Column("show", .text),
                    Column("is_open"), Column("is_push", .number, .initially(0)), Column("added_at"),
                    .proof(),
                ]),
            StoreTable(
                "mailbox_reader",
                [
                    Column("number", .number, .numbered(.neverReused)), Column("mailbox"),
                    Column("name", .text),
                    Column("token", .bytes), Column("acknowledged", .number, .initially(0)), .proof(),
                ], rule: "UNIQUE (mailbox, name)", indices: ["mailbox_of": "(token)"]),
            StoreTable(
                "mailbox_message",
                [
                    Column("number", .number, .numbered(.neverReused)), Column("mailbox"),
                    Column("id", .text),
                    Column("accepted_at"), Column("expires_at"), Column("is_urgent"), Column("size"),
                    Column("text", .sealedText(Sealed.message)), Column("sequence", .number, .optional),
                    Column("replaces", .sealedText(Sealed.collapse), .optional),
                ], rule: "UNIQUE (mailbox, id)",
                // Whoever counts what lies in one counts what was published apart.
                indices: [
                    "mailbox_holds": "(mailbox, number, size, is_urgent)", "mailbox_end": "(expires_at)",
                ]),
            MailboxReplyRows.table,
            // Messages of mailboxes that were removed, until the node has answered those who listen.
            StoreTable("mailbox_gone", [Column("sequence", .number, .key)]),
            MailboxPublisherRows.table, MailboxDelayedRows.table,
        ] + MailboxReaderRows.tables
    static let dates = [
        MovedDates("mailbox_message", "accepted_at", "expires_at"),
        MovedDates("mailbox_reply", "accepted_at"),
        MovedDates("mailbox_delayed", "due_at", "expires_at"),
    ]
    private static let ofOwners = "mailbox IN (SELECT number FROM mailbox WHERE is_push = 0)"
    static let backedUp = [
        BackedUpTable("mailbox", most: Mailbox.most, where: "is_push = 0"),
        BackedUpTable("mailbox_reader", most: Mailbox.most * Mailbox.mostReaders, where: ofOwners),
        BackedUpTable("mailbox_publisher", most: Mailbox.most * Mailbox.mostPublishers, where: ofOwners),
    ]

    static func owners(
        of table: StoreTable, in source: borrowing Connection
    ) throws(StoreError) -> RowOwners {
        guard table.name == "mailbox_message" || table.name == "mailbox_delayed" else {
            return { _, _ in .all }
        }
        let mailboxes = try addresses(of: source)
        return { column, row in
            let address = mailboxes[row.integer(1)] ?? Digest(high: 0, low: 0)
            return column.name == "text"
                ? .message(id: row.text(2), mailbox: address) : .mailboxReplaces(address)
        }
    }

    /// Returns the addresses of mailboxes by their numbers.
    private static func addresses(of source: borrowing Connection) throws(StoreError) -> [Int64: Digest] {
        let rows = try Statement("SELECT number, address FROM mailbox", on: source)
        var found: [Int64: Digest] = [:]
        while try rows.step() { found[rows.integer(0)] = Digest(rows.pair(1)) }
        return found
    }

    static func take(
        _ backup: BackupRows, into file: borrowing RegistrationFile
    ) throws(StoreError) -> [BackupConflict] {
        try file.takeMailboxes(
            backup["mailbox"], readers: backup["mailbox_reader"], publishers: backup["mailbox_publisher"])
    }

    static let views = [
        RegistrationView(
            kind: "mailbox",
            query: """
                SELECT name AS id, show, iif(is_open, 'yes', 'no') AS open,
                    (SELECT count(*) FROM mailbox_reader WHERE mailbox = mailbox.number) AS readers,
                    (SELECT count(*) FROM mailbox_message WHERE mailbox = mailbox.number) AS messages,
                    datetime(added_at / 1000, 'unixepoch') AS added
                FROM mailbox ORDER BY number
                """,
            removal: [
                """
                INSERT INTO mailbox_gone
                    SELECT sequence FROM identity WHERE ending = \(Identities.kept)
                        AND sequence IN (SELECT sequence FROM mailbox_message
                            WHERE mailbox = (SELECT number FROM mailbox WHERE name = ?1))
                    ON CONFLICT DO NOTHING
                """,
                """
                UPDATE identity SET ending = 2, reason = '\(Reason.noSuchMailbox)' WHERE ending = \(Identities.kept)
                    AND sequence IN (SELECT sequence FROM mailbox_message
                        WHERE mailbox = (SELECT number FROM mailbox WHERE name = ?1))
                """,
                "DELETE FROM mailbox_message WHERE mailbox = (SELECT number FROM mailbox WHERE name = ?1)",
                "DELETE FROM mailbox_reply WHERE mailbox = (SELECT number FROM mailbox WHERE name = ?1)",
                "DELETE FROM mailbox_reader WHERE mailbox = (SELECT number FROM mailbox WHERE name = ?1)",
                "DELETE FROM mailbox WHERE name = ?1",
            ])
    ]

    private let selectVersion: Statement
    private let selectMailboxes: Statement
    private let selectReaders: Statement
    private let insertMailbox: Statement
    private let insertReader: Statement
    private let selectTopics: Statement
    private let noteChange: Statement?
    private let deleteTopic: Statement
    private let deleteTopicReaders: Statement
    private let deleteTopicMessages: Statement
    private let touch: Statement
    /// Whether each row bears a proof against changes. Rows without it are left out then.
    private let isSealed: Bool
    let messages: MailboxMessages
    let replies: MailboxReplyRows
    let publishers: MailboxPublisherRows

    init(_ connection: borrowing Connection) throws(StoreError) {
        selectVersion = try Statement(connection.dialect.version, on: connection)
        isSealed = connection.isSealed
        let (proof, value) = isSealed ? (", proof", ", ?") : ("", "")
        selectMailboxes = try Statement(
            "SELECT number, name, topic, show, is_open, is_push, address\(proof) FROM mailbox ORDER BY number",
            on: connection)
        selectReaders = try Statement(
            "SELECT number, name, token\(proof) FROM mailbox_reader WHERE mailbox = ? ORDER BY number",
            on: connection)
        insertMailbox = try Statement(
            """
            INSERT INTO mailbox (name, address, topic, show, is_open, added_at, is_push\(proof))
            VALUES (?, ?, ?, ?, ?, ?, ?\(value))
            """, on: connection)
        insertReader = try Statement(
            """
            INSERT INTO mailbox_reader (mailbox, name, token\(proof))
            VALUES ((SELECT number FROM mailbox WHERE address = ?), ?, ?\(value))
            """, on: connection)
        selectTopics = try Statement(
            """
            SELECT mailbox.number FROM mailbox_reader JOIN mailbox ON mailbox.number = mailbox_reader.mailbox
            WHERE token = ? AND is_push <> 0 ORDER BY added_at
            """, on: connection)
        noteChange =
            if let text = connection.dialect.noteChange { try Statement(text, on: connection) } else { nil }
        deleteTopic = try Statement("DELETE FROM mailbox WHERE number = ?", on: connection)
        deleteTopicReaders = try Statement("DELETE FROM mailbox_reader WHERE mailbox = ?", on: connection)
        deleteTopicMessages = try Statement("DELETE FROM mailbox_message WHERE mailbox = ?", on: connection)
        // Once an hour is enough to know the oldest.
        touch = try Statement(
            "UPDATE mailbox SET added_at = ?2 WHERE number = ?1 AND added_at < ?2 - 3600000", on: connection)
        messages = try MailboxMessages(connection)
        replies = try MailboxReplyRows(connection, after: messages.turn)
        publishers = try MailboxPublisherRows(connection)
    }

    func version() throws(StoreError) -> Int64 {
        defer { selectVersion.reset() }
        return try selectVersion.step() ? selectVersion.integer(0) : 0
    }

    // MARK: Mailboxes

    /// Returns the mailboxes, without those that a later version shows otherwise.
    func mailboxes() throws(StoreError) -> [Mailbox] {
        defer { selectMailboxes.reset() }
        var mailboxes: [Mailbox] = []
        while try selectMailboxes.step() {
            guard let show = Mailbox.Show(rawValue: selectMailboxes.text(3)) else { continue }
            let number = selectMailboxes.integer(0)
            let address = Digest(selectMailboxes.pair(6))
            let mailbox = Mailbox(
                number: number, name: selectMailboxes.text(1), show: show,
                isOpen: selectMailboxes.integer(4) != 0, isPush: selectMailboxes.integer(5) != 0,
                topic: Digest(selectMailboxes.pair(2)), address: address,
                readers: try readers(of: number, at: address),
                publishers: try publishers.all(of: number, at: address))
            guard !isSealed || selectMailboxes.isProven(7, mailbox.row(at: address)) else { continue }
            mailboxes.append(mailbox)
        }
        return mailboxes
    }

    func mailbox(named name: String) throws(StoreError) -> Mailbox? {
        try mailboxes().first { $0.name.hasSameBytes(as: name) }
    }

    private func readers(of mailbox: Int64, at address: Digest) throws(StoreError) -> [Mailbox.Reader] {
        try selectReaders.bind(1, mailbox)
        defer { selectReaders.reset() }
        var readers: [Mailbox.Reader] = []
        while try selectReaders.step() {
            let reader = Mailbox.Reader(
                number: selectReaders.integer(0), name: selectReaders.text(1),
                token: Digest(selectReaders.pair(2)))
            guard !isSealed || selectReaders.isProven(3, reader.row(at: address)) else { continue }
            readers.append(reader)
        }
        return readers
    }

    /// Adds a mailbox; returns `false` if there is one of this name, or there are too many.
    func add(_ mailbox: Mailbox, address: Digest, addedAt: Int64) throws(StoreError) -> Bool {
        guard try hasRoom(for: mailbox) else { return false }
        try insert(mailbox, at: address, addedAt: addedAt)
        for reader in mailbox.readers { try insert(reader, at: address) }
        return true
    }

    private func hasRoom(for mailbox: Mailbox, withoutTopics count: Int = 0) throws(StoreError) -> Bool {
        let known = try mailboxes()
        return known.count(where: { $0.isPush == mailbox.isPush }) - count < Mailbox.most
            && !known.contains(where: { $0.name.hasSameBytes(as: mailbox.name) })
    }

    /// Inserts a mailbox without its readers and publishers.
    func insert(_ mailbox: Mailbox, at address: Digest, addedAt: Int64) throws(StoreError) {
        try insertMailbox.bind(1, mailbox.name)
        try insertMailbox.bind(2, address)
        try insertMailbox.bind(3, mailbox.topic)
        try insertMailbox.bind(4, mailbox.show.rawValue)
        try insertMailbox.bind(5, mailbox.isOpen ? 1 : 0)
        try insertMailbox.bind(6, addedAt)
        try insertMailbox.bind(7, mailbox.isPush ? 1 : 0)
        if isSealed {
            try insertMailbox.bind(8, sealed: "", as: Sealed.proof, of: mailbox.row(at: address))
        }
        try insertMailbox.run()
    }

    func insert(_ reader: Mailbox.Reader, at address: Digest) throws(StoreError) {
        try insertReader.bind(1, address)
        try insertReader.bind(2, reader.name)
        try insertReader.bind(3, reader.token)
        if isSealed {
            try insertReader.bind(4, sealed: "", as: Sealed.proof, of: reader.row(at: address))
        }
        try insertReader.run()
    }

    /// Proves rows that were copied from a file.
    static func complete(_ connection: borrowing Connection) throws(StoreError) {
        let select = try Statement(
            "SELECT number, name, topic, show, is_open, is_push, address FROM mailbox", on: connection)
        let readers = try Statement(
            "SELECT number, name, token FROM mailbox_reader WHERE mailbox = ?", on: connection)
        let proveMailbox = try Statement("UPDATE mailbox SET proof = ? WHERE number = ?", on: connection)
        let proveReader = try Statement(
            "UPDATE mailbox_reader SET proof = ? WHERE number = ?", on: connection)
        while try select.step() {
            let address = Digest(select.pair(6))
            let row = Sealed.Owner.Mailbox(
                name: select.text(1), address: address, topic: Digest(select.pair(2)), show: select.text(3),
                isOpen: select.integer(4) != 0, isPush: select.integer(5) != 0)
            try proveMailbox.bind(1, sealed: "", as: Sealed.proof, of: .mailbox(row))
            try proveMailbox.bind(2, select.integer(0))
            try proveMailbox.run()
            try readers.bind(1, select.integer(0))
            while try readers.step() {
                let reader = Mailbox.Reader(name: readers.text(1), token: Digest(readers.pair(2)))
                try proveReader.bind(1, sealed: "", as: Sealed.proof, of: reader.row(at: address))
                try proveReader.bind(2, readers.integer(0))
                try proveReader.run()
            }
            readers.reset()
            try MailboxPublisherRows.complete(select.integer(0), at: address, connection)
        }
    }

    // MARK: Topics of UnifiedPush

    /// Adds a topic, unless it is there or there are too many. A reader that has as many as may be gives up the one that it
    /// read the longest ago.
    func add(
        pushTopic mailbox: Mailbox, address: Digest, at time: Int64, sparing read: Set<Int64>
    ) throws(StoreError) {
        let oldest = try topicToGiveUp(for: mailbox, sparing: read)
        guard try hasRoom(for: mailbox, withoutTopics: oldest == nil ? 0 : 1) else { return }
        if let oldest {
            try run(deleteTopic, oldest)
            try run(deleteTopicReaders, oldest)
            try run(deleteTopicMessages, oldest)
        }
        try insert(mailbox, at: address, addedAt: time)
        for reader in mailbox.readers { try insert(reader, at: address) }
    }

    private func topicToGiveUp(
        for mailbox: Mailbox, sparing read: Set<Int64>
    ) throws(StoreError) -> Int64? {
        guard let token = mailbox.readers.first?.token else { return nil }
        try selectTopics.bind(1, token)
        defer { selectTopics.reset() }
        var topics: [Int64] = []
        while try selectTopics.step() { topics.append(selectTopics.integer(0)) }
        guard topics.count >= Mailbox.mostPushTopics else { return nil }
        return topics.first { !read.contains($0) } ?? topics.first
    }

    /// Notes a change, so that the other nodes read all mailboxes anew.
    func tellOthers() throws(StoreError) { try noteChange?.run() }

    private func run(_ statement: borrowing Statement, _ mailbox: Int64) throws(StoreError) {
        try statement.bind(1, mailbox)
        try statement.run()
    }

    func touch(_ mailbox: Int64, at time: Int64) throws(StoreError) {
        try touch.bind(1, mailbox)
        try touch.bind(2, time)
        try touch.run()
    }
}

extension Mailbox {
    fileprivate func row(at address: Digest) -> Sealed.Owner {
        .mailbox(
            Sealed.Owner.Mailbox(
                name: name, address: address, topic: topic, show: show.rawValue, isOpen: isOpen,
                isPush: isPush))
    }
}

extension Mailbox.Reader {
    fileprivate func row(at address: Digest) -> Sealed.Owner {
        .reader(name: name, token: token, mailbox: address)
    }
}
