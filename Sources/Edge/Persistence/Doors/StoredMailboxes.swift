import Registrations
import Relay

/// ``Registrations/Mailboxes`` in the outbox's store.
package struct StoredMailboxes: Mailboxes {
    let file: OutboxStore

    /// Makes the tables if they are not there.
    package init(in file: OutboxStore) async throws(OutboxError) {
        try await file.open(MailboxTables.self)
        self.file = file
    }

    package func all(
        unless known: Int64?
    ) async throws(OutboxError) -> (version: Int64, mailboxes: [Mailbox])? {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in
            let version = try tables.version()
            return version == known ? nil : (version, try tables.mailboxes())
        }
    }

    package func add(
        pushTopic mailbox: Mailbox, address: Digest, at time: Int64, sparing read: Set<Int64>
    ) async throws(OutboxError) -> [Mailbox] {
        try await file.write(MailboxTables.self) { tables throws(StoreError) in
            try tables.makeRoom(forTopicOf: mailbox, sparing: read)
            _ = try tables.add(mailbox, address: address, addedAt: time)
            try tables.tellOthers()
            return try tables.mailboxes()
        }
    }

    package func touch(_ mailboxes: Set<Int64>, at time: Int64) async throws(OutboxError) {
        try await file.write(MailboxTables.self) { tables throws(StoreError) in
            for mailbox in mailboxes { try tables.touch(mailbox, at: time) }
        }
    }

    package func held() async throws(OutboxError) -> (messages: Int, bytes: Int) {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in try tables.messages.held() }
    }

    package func put(
        _ message: MailboxMessage, to address: Digest, keeping identity: Digest?,
        within bounds: MailboxBounds
    ) async throws(OutboxError) -> MailboxPut {
        try await file.write { store throws(StoreError) in
            try store.tables(MailboxTables.self).messages.put(
                message, to: address, keeping: identity, within: bounds, in: store)
        }
    }

    package func deliver(
        dueAt time: Int64, within bounds: MailboxBounds
    ) async throws(OutboxError) -> MailboxDelivery {
        // Where nothing is due no commit is needed.
        let next = try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.delayed.next()
        }
        guard let next, next <= time else { return MailboxDelivery(mailboxes: [], next: next) }
        return try await file.write { store throws(StoreError) in
            try store.tables(MailboxTables.self).messages.deliver(dueAt: time, within: bounds, in: store)
        }
    }

    package func begin(
        _ since: MailboxSince, of mailboxes: [(mailbox: Int64, reader: Int64?)]
    ) async throws(OutboxError) -> (places: [MailboxPlace], ends: [KeptEnd]) {
        // What acknowledges nothing needs no commit.
        guard case .message = since, mailboxes.contains(where: { $0.reader != nil }) else {
            return try await file.look { store throws(StoreError) in
                try store.tables(MailboxTables.self).messages.begin(since, of: mailboxes, in: store)
            }
        }
        return try await file.write { store throws(StoreError) in
            try store.tables(MailboxTables.self).messages.begin(since, of: mailboxes, in: store)
        }
    }

    package func messages(
        behind places: [MailboxPlace], at now: Int64, limit: Int
    ) async throws(OutboxError) -> [(mailbox: Int64, message: MailboxMessage)] {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.messages(behind: places, at: now, limit: limit)
        }
    }

    package func acknowledge(
        _ number: Int64, by readers: [Int64]
    ) async throws(OutboxError) -> [KeptEnd] {
        try await file.write { store throws(StoreError) in
            try store.tables(MailboxTables.self).messages.acknowledge(number, by: readers, in: store)
        }
    }

    package func news(behind number: Int64) async throws(OutboxError) -> [MailboxPlace] {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.turn.news(behind: number)
        }
    }

    package func forget(expiredBefore time: Int64) async throws(OutboxError) -> [KeptEnd] {
        try await file.write { store throws(StoreError) in
            let tables = store.tables(MailboxTables.self)
            try tables.replies.forget(at: time)
            return try tables.messages.forget(expiredBefore: time, in: store)
        }
    }
}

/// Mailboxes in the hands of the operator's commands, also beside the node that runs, which notices each change.
extension RegistrationFile {
    package func mailboxes() throws(StoreError) -> [Mailbox] {
        guard try DoorSchema.steps(of: MailboxTables.self, on: connection) > 0 else { return [] }
        try DoorSchema.prepare(MailboxTables.self, on: connection)
        return try MailboxTables(connection).mailboxes()
    }

    /// Adds a mailbox; its number and those of its readers are the store's.
    ///
    /// - Returns: `false`: there is one of this name, or there are too many.
    package func add(
        _ mailbox: Mailbox, address: Digest, addedAt: Int64
    ) throws(StoreError) -> Bool {
        try DoorSchema.prepare(MailboxTables.self, on: connection)
        return try connection.transaction { () throws(StoreError) in
            try MailboxTables(connection).add(mailbox, address: address, addedAt: addedAt)
        }
    }
}
