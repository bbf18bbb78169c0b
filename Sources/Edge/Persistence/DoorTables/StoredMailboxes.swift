import Relay

/// The mailboxes and what lies in them, in the store. Each call is a transaction.
package struct StoredMailboxes: Sendable {
    let file: OutboxStore

    /// Makes the tables if they are not there.
    package init(in file: OutboxStore) async throws(OutboxError) {
        try await file.open(MailboxTables.self)
        self.file = file
    }

    /// Returns all mailboxes and the version of their tables, which changes when another process changes them; `nil` if
    /// the version is still `known`.
    package func all(
        unless known: Int64?
    ) async throws(OutboxError) -> (version: Int64, mailboxes: [Mailbox])? {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in
            let version = try tables.version()
            return version == known ? nil : (version, try tables.mailboxes())
        }
    }

    /// Makes a topic of UnifiedPush. If its reader has as many as may be, the one that was read the longest ago goes, but
    /// none of those that are read now.
    ///
    /// - Returns: All mailboxes.
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

    /// Notes that these topics are read.
    package func touch(_ mailboxes: Set<Int64>, at time: Int64) async throws(OutboxError) {
        try await file.write(MailboxTables.self) { tables throws(StoreError) in
            for mailbox in mailboxes { try tables.touch(mailbox, at: time) }
        }
    }

    /// Returns what lies in all mailboxes together.
    package func held() async throws(OutboxError) -> (messages: Int, bytes: Int) {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in try tables.messages.held() }
    }

    /// Puts a message into the mailbox of an address, once. Durable when it returns.
    ///
    /// - Parameter identity: The outbox's notification that leaves it with this commit; `nil`: none.
    package func put(
        _ message: MailboxMessage, to address: Digest, keeping identity: Digest?,
        within bounds: MailboxBounds
    ) async throws(OutboxError) -> MailboxPut {
        try await file.write { store throws(StoreError) in
            try store.tables(MailboxTables.self).messages.put(
                message, to: address, keeping: identity, within: bounds, in: store)
        }
    }

    /// Puts messages that have waited for their time into their mailboxes, the first ones in one commit.
    ///
    /// - Parameter time: Milliseconds since 1970.
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

    /// Returns the point from which a reader of these mailboxes begins.
    ///
    /// - Parameter mailboxes: With its number among their registered readers, as far as what it says is an acknowledgement:
    ///   the first one delivers a message, and what all of them have acknowledged is deleted.
    /// - Returns: Also what has come to its end by that.
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

    /// Returns the next messages of some mailboxes, in the order in which they came.
    ///
    /// - Parameter now: Milliseconds since 1970: what has expired is left out.
    package func messages(
        behind places: [MailboxPlace], at now: Int64, limit: Int
    ) async throws(OutboxError) -> [(mailbox: Int64, message: MailboxMessage)] {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.messages(behind: places, at: now, limit: limit)
        }
    }

    /// Acknowledges all messages up to this number, which a client that is these registered readers has
    /// shown.
    ///
    /// - Returns: What has come to its end by that.
    package func acknowledge(
        _ number: Int64, by readers: [Int64]
    ) async throws(OutboxError) -> [KeptEnd] {
        try await file.write { store throws(StoreError) in
            try store.tables(MailboxTables.self).messages.acknowledge(number, by: readers, in: store)
        }
    }

    /// Returns the last messages of mailboxes that have got any behind that number, whichever node put them
    /// there.
    package func news(behind number: Int64) async throws(OutboxError) -> [MailboxPlace] {
        try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.turn.news(behind: number)
        }
    }

    /// Deletes what expired before a time (milliseconds since 1970).
    ///
    /// - Returns: What nobody has acknowledged of it, or of what went with its mailbox.
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
        guard try DoorSchema.isThere(MailboxTables.self, on: connection) else { return [] }
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
