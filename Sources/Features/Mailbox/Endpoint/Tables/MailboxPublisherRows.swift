import Persistence
import Relay

/// The publishers of mailboxes. The operator's commands make the rows.
final class MailboxPublisherRows {
    private typealias Column = StoreTable.Column
    /// The table of publishers: with a mailbox its publishers go.
    static let table = StoreTable(
        "mailbox_publisher",
        [
            Column("number", .number, .numbered(.neverReused)),
            Column(
                "mailbox", .number,
                .goesWith(table: "mailbox", column: "number", trigger: "mailbox_publishers_go")),
            Column("name", .text), Column("token", .bytes, .unique), Column("added_at"), .proof(),
        ], rule: "UNIQUE (mailbox, name)")

    private let select: Statement
    private let insert: Statement
    private let remove: Statement
    private let isSealed: Bool

    init(_ connection: borrowing Connection) throws(StoreError) {
        isSealed = connection.isSealed
        let (proof, value) = isSealed ? (", proof", ", ?") : ("", "")
        select = try Statement(
            "SELECT name, token\(proof) FROM mailbox_publisher WHERE mailbox = ? ORDER BY number",
            on: connection
        )
        insert = try Statement(
            "INSERT INTO mailbox_publisher (mailbox, name, token, added_at\(proof)) VALUES (?, ?, ?, ?\(value))",
            on: connection)
        remove = try Statement(
            "DELETE FROM mailbox_publisher WHERE mailbox = ? AND name = ?", on: connection)
    }

    func all(of mailbox: Int64, at address: Digest) throws(StoreError) -> [Mailbox.Publisher] {
        try select.bind(1, mailbox)
        defer { select.reset() }
        var publishers: [Mailbox.Publisher] = []
        while try select.step() {
            let publisher = Mailbox.Publisher(name: select.text(0), token: Digest(select.pair(1)))
            guard !isSealed || select.isProven(2, publisher.row(at: address)) else { continue }
            publishers.append(publisher)
        }
        return publishers
    }

    func add(
        _ publisher: Mailbox.Publisher, to mailbox: Int64, at address: Digest, addedAt: Int64
    ) throws(StoreError) {
        try insert.bind(1, mailbox)
        try insert.bind(2, publisher.name)
        try insert.bind(3, publisher.token)
        try insert.bind(4, addedAt)
        if isSealed { try insert.bind(5, sealed: "", as: Sealed.proof, of: publisher.row(at: address)) }
        try insert.run()
    }

    func remove(_ name: String, from mailbox: Int64) throws(StoreError) {
        try remove.bind(1, mailbox)
        try remove.bind(2, name)
        try remove.run()
    }

    /// Proves rows that were copied from a file.
    static func complete(
        _ mailbox: Int64, at address: Digest, _ connection: borrowing Connection
    ) throws(StoreError) {
        let rows = try Statement(
            "SELECT number, name, token FROM mailbox_publisher WHERE mailbox = ?", on: connection)
        let prove = try Statement("UPDATE mailbox_publisher SET proof = ? WHERE number = ?", on: connection)
        try rows.bind(1, mailbox)
        while try rows.step() {
            let publisher = Mailbox.Publisher(name: rows.text(1), token: Digest(rows.pair(2)))
            try prove.bind(1, sealed: "", as: Sealed.proof, of: publisher.row(at: address))
            try prove.bind(2, rows.integer(0))
            try prove.run()
        }
    }
}

extension Mailbox.Publisher {
    fileprivate func row(at address: Digest) -> Sealed.Owner {
        .publisher(name: name, token: token, mailbox: address)
    }
}

/// The result of adding a publisher.
package enum PublisherAddition: Equatable, Sendable {
    case added, nameIsTaken, tooMany, noSuchMailbox
    /// The mailbox is open: its topic is enough to read it, and a publisher has the topic.
    case isOpen
}

extension RegistrationFile {
    package func add(
        _ publisher: Mailbox.Publisher, to name: String, addedAt: Int64
    ) throws(StoreError) -> PublisherAddition {
        try DoorSchema.prepare(MailboxTables.self, on: connection)
        return try connection.transaction { () throws(StoreError) in
            let tables = try MailboxTables(connection)
            guard let mailbox = try tables.mailbox(named: name), let address = mailbox.address else {
                return .noSuchMailbox
            }
            guard !mailbox.isOpen else { return .isOpen }
            guard !mailbox.publishers.contains(where: { $0.name.hasSameBytes(as: publisher.name) }) else {
                return .nameIsTaken
            }
            guard mailbox.publishers.count < Mailbox.mostPublishers else { return .tooMany }
            try tables.publishers.add(publisher, to: mailbox.number, at: address, addedAt: addedAt)
            return .added
        }
    }

    /// Removes a publisher; returns whether it was there.
    package func removePublisher(_ name: String, from mailbox: String) throws(StoreError) -> Bool {
        try DoorSchema.prepare(MailboxTables.self, on: connection)
        return try connection.transaction { () throws(StoreError) in
            let tables = try MailboxTables(connection)
            guard let mailbox = try tables.mailbox(named: mailbox) else { return false }
            // Also one that is not proven: its name is taken.
            try tables.publishers.remove(name, from: mailbox.number)
            return mailbox.publishers.contains { $0.name.hasSameBytes(as: name) }
        }
    }
}
