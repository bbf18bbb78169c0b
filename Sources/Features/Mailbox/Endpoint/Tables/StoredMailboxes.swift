import Persistence
import Reactor
import Relay

/// The mailboxes and what lies in them, in the store. Each call is a transaction. Times come and go by the wall clock.
package struct StoredMailboxes: Sendable {
    let file: OutboxStore
    let dates: @Sendable @EventLoop () -> StoreDates

    /// Makes the tables if they are not there.
    package init(
        in file: OutboxStore, dates: @escaping @Sendable @EventLoop () -> StoreDates = { StoreDates() }
    ) async throws(OutboxError) {
        try await file.open(MailboxTables.self)
        self.file = file
        self.dates = dates
    }

    /// Returns all mailboxes and the version of their tables, which changes when another process changes them; `nil` if
    /// the version is still `known`.
    nonisolated(nonsending) package func all(
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
        let time = await dates().stored(time)
        return try await file.write(MailboxTables.self) { tables throws(StoreError) in
            try tables.add(pushTopic: mailbox, address: address, at: time, sparing: read)
            try tables.tellOthers()
            return try tables.mailboxes()
        }
    }

    /// Notes that these topics are read.
    package func touch(_ mailboxes: Set<Int64>, at time: Int64) async throws(OutboxError) {
        let time = await dates().stored(time)
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
        let message = message.later(by: .zero - (await dates().ahead))
        return try await file.write { store throws(StoreError) in
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
        let over = await dates().due(at: time)
        // Where nothing is due no commit is needed.
        let wait = try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.delayed.wait(at: over)
        }
        guard let wait, wait <= 0 else {
            return MailboxDelivery(mailboxes: [], next: wait.map { time + $0 })
        }
        let delivery = try await file.write { store throws(StoreError) in
            try store.tables(MailboxTables.self).messages.deliver(at: over, within: bounds, in: store)
        }
        return MailboxDelivery(mailboxes: delivery.mailboxes, next: delivery.wait.map { time + $0 })
    }

    /// Returns the points from which a client begins to read, and carries out the acknowledgements in its question. The first
    /// acknowledgement of a message delivers it; the last one, of all readers of the mailbox, deletes it.
    ///
    /// - Parameters:
    ///   - isFiltered: Whether the client leaves messages out. Then it acknowledges nothing.
    ///   - now: Milliseconds since 1970.
    /// - Returns: Also what has come to its end by that.
    package func begin(
        _ since: MailboxSince, of clients: [MailboxClient], filtered isFiltered: Bool = false, at now: Int64
    ) async throws(OutboxError) -> (starts: [MailboxStart], ends: [KeptEnd]) {
        let dates = await dates()
        let since = if case .time(let time) = since { MailboxSince.time(dates.stored(time)) } else { since }
        let starts = try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.starts(since, of: clients)
        }
        guard !isFiltered else { return (starts, []) }
        return (starts, try await acknowledge(starts.compactMap(\.receipt), at: now))
    }

    /// Returns the next messages of some mailboxes, in the order in which they came.
    ///
    /// - Parameter now: Milliseconds since 1970: what has expired is left out.
    package func messages(
        behind places: [MailboxPlace], at now: Int64, limit: Int
    ) async throws(OutboxError) -> [(mailbox: Int64, message: MailboxMessage)] {
        let dates = await dates()
        let now = dates.over(at: now)
        let found = try await file.read(MailboxTables.self) { tables throws(StoreError) in
            try tables.messages.messages(behind: places, at: now, limit: limit)
        }
        guard dates.ahead != .zero else { return found }
        return found.map {
            (
                $0.mailbox,
                dates.isOwn($0.message.acceptedAt.milliseconds)
                    ? $0.message.later(by: dates.ahead) : $0.message
            )
        }
    }

    /// Acknowledges messages.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: What has come to its end by that.
    package func acknowledge(
        _ receipts: [MailboxReceipt], at now: Int64
    ) async throws(OutboxError) -> [KeptEnd] {
        // What acknowledges nothing needs no commit.
        guard receipts.contains(where: { $0.after < $0.upTo }) else { return [] }
        let now = await dates().over(at: now)
        return try await file.write { store throws(StoreError) in
            let messages = store.tables(MailboxTables.self).messages
            // Readers of one mailbox may be at two nodes: the first one delivers, and the last one deletes.
            try messages.turn.wait()
            var ends: [KeptEnd] = []
            for receipt in receipts {
                ends += try messages.readers.acknowledge(receipt, at: now, in: store)
            }
            return ends
        }
    }

    /// Notes what readers were sent, so that it is known after a restart and at other nodes.
    package func note(_ sent: [(reader: Int64, sent: MailboxSent)]) async throws(OutboxError) {
        guard !sent.isEmpty else { return }
        try await file.write(MailboxTables.self) { tables throws(StoreError) in
            for (reader, sent) in sent { try tables.messages.readers.note(sent, to: reader) }
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
        let over = await dates().over(at: time)
        return try await file.write { store throws(StoreError) in
            let tables = store.tables(MailboxTables.self)
            try tables.replies.forget(at: over)
            return try tables.messages.forget(expiredAt: over, in: store)
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
