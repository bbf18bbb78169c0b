import CSQLite
import Registrations
import Relay

/// The statements of the mailboxes. The operator's commands make them; the node fills them, and deletes what was fetched.
final class MailboxTables: DoorTables {
    static let name = "mailboxes"
    static let steps = [
        """
        CREATE TABLE mailbox (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            address BLOB NOT NULL UNIQUE,
            topic BLOB NOT NULL UNIQUE,
            show TEXT NOT NULL,
            is_open INTEGER NOT NULL,
            is_push INTEGER NOT NULL DEFAULT 0,
            added_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE mailbox_reader (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            mailbox INTEGER NOT NULL,
            name TEXT NOT NULL,
            token BLOB NOT NULL,
            acknowledged INTEGER NOT NULL DEFAULT 0,
            UNIQUE (mailbox, name)
        ) STRICT;
        CREATE TABLE mailbox_message (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            mailbox INTEGER NOT NULL,
            id TEXT NOT NULL,
            accepted_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            is_urgent INTEGER NOT NULL,
            size INTEGER NOT NULL,
            text TEXT NOT NULL,
            sequence INTEGER,
            replaces TEXT,
            UNIQUE (mailbox, id)
        ) STRICT;
        CREATE INDEX mailbox_of ON mailbox_reader (token);
        CREATE INDEX mailbox_holds ON mailbox_message (mailbox, number, size);
        CREATE INDEX mailbox_end ON mailbox_message (expires_at)
        """, MailboxReplyRows.step,
    ]
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
                UPDATE identity SET ending = 2, reason = 'NoSuchMailbox' WHERE ending = \(Identities.kept)
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
    private let deleteTopic: Statement
    private let deleteTopicReaders: Statement
    private let deleteTopicMessages: Statement
    private let touch: Statement
    let messages: MailboxMessages
    let replies: MailboxReplyRows

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        selectVersion = try Statement("PRAGMA data_version", on: connection)
        selectMailboxes = try Statement(
            "SELECT number, name, topic, show, is_open, is_push FROM mailbox ORDER BY number",
            on: connection)
        selectReaders = try Statement(
            "SELECT number, name, token FROM mailbox_reader WHERE mailbox = ? ORDER BY number", on: connection
        )
        insertMailbox = try Statement(
            """
            INSERT INTO mailbox (name, address, topic, show, is_open, added_at, is_push)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, on: connection)
        insertReader = try Statement(
            """
            INSERT INTO mailbox_reader (mailbox, name, token)
            VALUES ((SELECT number FROM mailbox WHERE address = ?), ?, ?)
            """, on: connection)
        selectTopics = try Statement(
            """
            SELECT mailbox.number FROM mailbox_reader JOIN mailbox ON mailbox.number = mailbox_reader.mailbox
            WHERE token = ? AND is_push ORDER BY added_at
            """, on: connection)
        deleteTopic = try Statement("DELETE FROM mailbox WHERE number = ?", on: connection)
        deleteTopicReaders = try Statement("DELETE FROM mailbox_reader WHERE mailbox = ?", on: connection)
        deleteTopicMessages = try Statement("DELETE FROM mailbox_message WHERE mailbox = ?", on: connection)
        // Once an hour is enough to know the oldest.
        touch = try Statement(
            "UPDATE mailbox SET added_at = ?2 WHERE number = ?1 AND added_at < ?2 - 3600000", on: connection)
        messages = try MailboxMessages(connection)
        replies = try MailboxReplyRows(connection)
    }

    func version() throws(SQLiteError) -> Int64 {
        defer { selectVersion.reset() }
        return try selectVersion.step() ? selectVersion.integer(0) : 0
    }

    // MARK: Mailboxes

    /// One that a later version shows otherwise is left out.
    func mailboxes() throws(SQLiteError) -> [Mailbox] {
        defer { selectMailboxes.reset() }
        var mailboxes: [Mailbox] = []
        while try selectMailboxes.step() {
            guard let show = Mailbox.Show(rawValue: selectMailboxes.text(3)) else { continue }
            let number = selectMailboxes.integer(0)
            mailboxes.append(
                Mailbox(
                    number: number, name: selectMailboxes.text(1), show: show,
                    isOpen: selectMailboxes.integer(4) != 0, isPush: selectMailboxes.integer(5) != 0,
                    topic: Digest(selectMailboxes.pair(2)),
                    readers: try readers(of: number)))
        }
        return mailboxes
    }

    private func readers(of mailbox: Int64) throws(SQLiteError) -> [Mailbox.Reader] {
        try selectReaders.bind(1, mailbox)
        defer { selectReaders.reset() }
        var readers: [Mailbox.Reader] = []
        while try selectReaders.step() {
            readers.append(
                Mailbox.Reader(
                    number: selectReaders.integer(0), name: selectReaders.text(1),
                    token: Digest(selectReaders.pair(2))))
        }
        return readers
    }

    /// - Returns: `false`: there is one of this name, or there are too many.
    func add(_ mailbox: Mailbox, address: Digest, addedAt: Int64) throws(SQLiteError) -> Bool {
        let known = try mailboxes()
        guard known.count(where: { $0.isPush == mailbox.isPush }) < Mailbox.most,
            !known.contains(where: { $0.name == mailbox.name })
        else {
            return false
        }
        try insertMailbox.bind(1, mailbox.name)
        try insertMailbox.bind(2, address)
        try insertMailbox.bind(3, mailbox.topic)
        try insertMailbox.bind(4, mailbox.show.rawValue)
        try insertMailbox.bind(5, mailbox.isOpen ? 1 : 0)
        try insertMailbox.bind(6, addedAt)
        try insertMailbox.bind(7, mailbox.isPush ? 1 : 0)
        try insertMailbox.run()
        for reader in mailbox.readers {
            try insertReader.bind(1, address)
            try insertReader.bind(2, reader.name)
            try insertReader.bind(3, reader.token)
            try insertReader.run()
        }
        return true
    }

    // MARK: Topics of UnifiedPush

    /// The reader of a new one gives up the one that it read the longest ago.
    func makeRoom(forTopicOf mailbox: Mailbox, sparing read: Set<Int64>) throws(SQLiteError) {
        guard let token = mailbox.readers.first?.token else { return }
        try selectTopics.bind(1, token)
        var topics: [Int64] = []
        do {
            defer { selectTopics.reset() }
            while try selectTopics.step() { topics.append(selectTopics.integer(0)) }
        }
        guard topics.count >= Mailbox.mostPushTopics,
            let oldest = topics.first(where: { !read.contains($0) }) ?? topics.first
        else { return }
        try run(deleteTopic, oldest)
        try run(deleteTopicReaders, oldest)
        try run(deleteTopicMessages, oldest)
    }

    private func run(_ statement: borrowing Statement, _ mailbox: Int64) throws(SQLiteError) {
        try statement.bind(1, mailbox)
        try statement.run()
    }

    func touch(_ mailbox: Int64, at time: Int64) throws(SQLiteError) {
        try touch.bind(1, mailbox)
        try touch.bind(2, time)
        try touch.run()
    }
}
