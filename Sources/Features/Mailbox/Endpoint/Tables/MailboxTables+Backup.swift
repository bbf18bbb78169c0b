import Encodings
import Persistence
import Relay

extension BackupConflict.Kind {
    static let mailbox = BackupConflict.Kind("mailbox")
    static let reader = BackupConflict.Kind("reader")
    static let publisher = BackupConflict.Kind("publisher")
}

/// The mailboxes of a backup come into a store that may have some of its own.
extension RegistrationFile {
    func takeMailboxes(
        _ mailboxes: [BackupRow], readers: [BackupRow], publishers: [BackupRow]
    ) throws(StoreError) -> [BackupConflict] {
        guard !mailboxes.isEmpty else { return [] }
        let tables = try MailboxTables(connection)
        var known = try tables.mailboxes()
        var conflicts: [BackupConflict] = []
        for row in mailboxes {
            guard let show = Mailbox.Show(rawValue: row.text("show")) else {
                conflicts.append(row.conflict(.mailbox, .unfit))
                continue
            }
            let address = row.digest("address")
            let mailbox = Mailbox(
                name: row.text("name"), show: show, isOpen: row.integer("is_open") != 0,
                topic: row.digest("topic"), address: address, readers: [])
            let present = known.first {
                $0.name.hasSameBytes(as: mailbox.name) || $0.address == address || $0.topic == mailbox.topic
            }
            guard present.map({ $0.isSame(as: mailbox) }) ?? true else {
                conflicts.append(row.conflict(.mailbox, .taken))
                continue
            }
            if present == nil {
                guard known.count(where: { !$0.isPush }) < Mailbox.most else {
                    conflicts.append(row.conflict(.mailbox, .full))
                    continue
                }
                try tables.insert(mailbox, at: address, addedAt: row.integer("added_at"))
                known.append(mailbox)
            }
            let (there, number) = (present ?? mailbox, row.integer("number"))
            conflicts += try take(readers.of(number), into: there, tables)
            conflicts += try take(publishers: publishers.of(number), into: there, besides: known, tables)
        }
        return conflicts
    }

    private func take(
        _ readers: [BackupRow], into mailbox: Mailbox, _ tables: MailboxTables
    ) throws(StoreError) -> [BackupConflict] {
        guard let address = mailbox.address else { return [] }
        var (known, conflicts) = (mailbox.readers, [BackupConflict]())
        for row in readers {
            let reader = Mailbox.Reader(name: row.text("name"), token: row.digest("token"))
            if let present = known.first(where: { $0.name.hasSameBytes(as: reader.name) }) {
                guard present.token != reader.token else { continue }
                conflicts.append(row.conflict(.reader, .taken, of: mailbox.name))
            } else if known.count >= Mailbox.mostReaders {
                conflicts.append(row.conflict(.reader, .full, of: mailbox.name))
            } else {
                try tables.insert(reader, at: address)
                known.append(reader)
            }
        }
        return conflicts
    }

    private func take(
        publishers rows: [BackupRow], into mailbox: Mailbox, besides others: [Mailbox],
        _ tables: MailboxTables
    ) throws(StoreError) -> [BackupConflict] {
        guard !rows.isEmpty, let address = mailbox.address,
            let number = try tables.replies.mailbox(of: address)
        else { return [] }
        var (known, conflicts) = (mailbox.publishers, [BackupConflict]())
        for row in rows {
            let publisher = Mailbox.Publisher(name: row.text("name"), token: row.digest("token"))
            if known.contains(publisher) { continue }
            let isTaken =
                known.contains { $0.name.hasSameBytes(as: publisher.name) || $0.token == publisher.token }
                || others.contains { $0.publishers.contains { $0.token == publisher.token } }
            let refusal: BackupConflict.Reason? =
                isTaken
                ? .taken : mailbox.isOpen ? .unfit : known.count >= Mailbox.mostPublishers ? .full : nil
            if let refusal {
                conflicts.append(row.conflict(.publisher, refusal, of: mailbox.name))
            } else {
                try tables.publishers.add(
                    publisher, to: number, at: address, addedAt: row.integer("added_at"))
                known.append(publisher)
            }
        }
        return conflicts
    }
}

extension Mailbox {
    /// Whether both are one mailbox, which may have got other readers since.
    fileprivate func isSame(as other: Mailbox) -> Bool {
        name.hasSameBytes(as: other.name) && address == other.address && topic == other.topic && !isPush
    }
}

extension [BackupRow] {
    /// Returns the rows that belong to a mailbox of the backup.
    fileprivate func of(_ mailbox: Int64) -> [BackupRow] { filter { $0.integer("mailbox") == mailbox } }
}
