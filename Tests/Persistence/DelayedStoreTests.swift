import Clocks
import Relay
import TestedStores
import Testing

@testable import MailboxEndpoint
@testable import Persistence

/// What publishers want published later.
@Suite(.serialized) struct DelayedStoreTests {
    let directory: Directory
    private let address = Digest(high: 1, low: 1)
    private let cron = Digest(high: 5, low: 1)
    private let other = Digest(high: 5, low: 2)

    init() throws { directory = try Directory() }

    private func store() async throws -> (OutboxStore, StoredMailboxes) {
        let outbox = try await directory.open()
        let store = try await StoredMailboxes(in: outbox)
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        let mailbox = Mailbox(
            name: "me", show: .bell, isOpen: false, topic: Digest(high: 2, low: 1),
            readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: 1))])
        #expect(try file.add(mailbox, address: address, addedAt: 1))
        for (name, token) in [("cron", cron), ("other", other)] {
            #expect(
                try file.add(Mailbox.Publisher(name: name, token: token), to: "me", addedAt: 1) == .added)
        }
        return (outbox, store)
    }

    private func message(
        _ number: Int, due: Int64, by publisher: Digest?, size: Int = 10, replaces: String? = nil
    ) -> MailboxMessage {
        MailboxMessage(
            id: MailboxMessage.id(of: NotificationID(high: UInt64(number), low: 0)),
            acceptedAt: UnixTime(milliseconds: due),
            expiresAt: UnixTime(milliseconds: due + 1000), isUrgent: number.isMultiple(of: 2),
            text: String(repeating: "x", count: size), replaces: replaces, isPublished: true,
            delayedBy: publisher)
    }

    private func times(_ store: StoredMailboxes) async throws -> [Int64] {
        try await store.messages(behind: [MailboxPlace(mailbox: 1, number: 0)], at: 0, limit: 999)
            .map(\.message.acceptedAt.milliseconds)
    }

    /// In the order of their times, each once, also when many are due.
    @Test(arguments: TestedEngine.allCases) func eachComesWhenItIsDue(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let (outbox, store) = try await store()
        var bounds = MailboxBounds()
        bounds.publishedMessages = 1000
        bounds.delayedMessages = 150
        for number in 1...150 {
            let put = try await store.put(
                message(number, due: Int64(1000 - number), by: cron), to: address, keeping: nil,
                within: bounds)
            #expect(put.result == .stored(1))
        }
        #expect(try await times(store) == [])
        #expect(try await store.deliver(dueAt: 849, within: bounds) == .init(mailboxes: [], next: 850))
        #expect(try await store.deliver(dueAt: 850, within: bounds) == .init(mailboxes: [1], next: 851))
        #expect(try await times(store) == [850])
        let first = try await store.deliver(dueAt: 2000, within: bounds)
        #expect(first == .init(mailboxes: [1], next: Int64(851 + MailboxDelayedRows.atOnce)))
        await outbox.close()

        // A node that was killed goes on.
        let again = try await directory.open()
        let reopened = try await StoredMailboxes(in: again)
        #expect(try await reopened.deliver(dueAt: 2000, within: bounds) == .init(mailboxes: [1], next: nil))
        #expect(try await times(reopened) == Array(850...999))
        #expect(try await reopened.deliver(dueAt: 2000, within: bounds) == .init(mailboxes: [], next: nil))
        let messages = try await reopened.messages(
            behind: [MailboxPlace(mailbox: 1, number: 0)], at: 0, limit: 2
        ).map(\.message)
        #expect(messages.map(\.isUrgent) == [true, false] && messages.allSatisfy(\.isPublished))
        await again.close()
    }

    /// Each publisher has room of its own, and what is beyond it is refused.
    @Test(arguments: TestedEngine.allCases) func noPublisherTakesAnothersRoom(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        var bounds = MailboxBounds()
        (bounds.delayedMessages, bounds.delayedBytes) = (2, 100)
        func put(_ message: MailboxMessage) async throws -> MailboxPutResult {
            try await store.put(message, to: address, keeping: nil, within: bounds).result
        }
        #expect(try await put(message(1, due: 10, by: cron, size: 99)) == .stored(1))
        #expect(try await put(message(2, due: 10, by: cron, size: 2)) == .full)
        #expect(try await put(message(3, due: 10, by: cron, size: 1)) == .stored(1))
        #expect(try await put(message(4, due: 10, by: cron, size: 0)) == .full)
        #expect(try await put(message(5, due: 10, by: other, size: 100)) == .stored(1))
        #expect(try await put(message(6, due: 10, by: Digest(high: 9, low: 9))) == .noSuchMailbox)
        #expect(try await times(store) == [])
        await outbox.close()
    }

    /// One of a name goes for the next, and for what is published at once.
    @Test(arguments: TestedEngine.allCases) func theNewestOfANameCounts(on engine: TestedEngine) async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        let bounds = MailboxBounds()
        func put(_ message: MailboxMessage) async throws {
            #expect(
                try await store.put(message, to: address, keeping: nil, within: bounds).result == .stored(1))
        }
        try await put(message(1, due: 1, by: nil, replaces: "a"))
        try await put(message(2, due: 20, by: cron, replaces: "a"))
        try await put(message(3, due: 30, by: cron, replaces: "a"))
        try await put(message(4, due: 40, by: cron, replaces: "b"))
        #expect(try await times(store) == [1])
        #expect(try await store.deliver(dueAt: 30, within: bounds) == .init(mailboxes: [1], next: 40))
        #expect(try await times(store) == [30])
        try await put(message(5, due: 5, by: nil, replaces: "b"))
        #expect(try await store.deliver(dueAt: 99, within: bounds) == .init(mailboxes: [], next: nil))
        #expect(try await times(store) == [30, 5])
        await outbox.close()
    }

    /// Whoever had a token that leaked rings nobody later.
    @Test(arguments: TestedEngine.allCases) func withItsPublisherItGoes(on engine: TestedEngine) async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        for (number, publisher) in [(1, cron), (2, other)] {
            _ = try await store.put(
                message(number, due: Int64(number), by: publisher), to: address, keeping: nil,
                within: MailboxBounds())
        }
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            #expect(try file.removePublisher("cron", from: "me"))
        }
        #expect(
            try await store.deliver(dueAt: 0, within: MailboxBounds()) == .init(mailboxes: [], next: 2))
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            let view = try #require(file.views.first { $0.kind == "mailbox" })
            #expect(try file.remove("me", of: view))
            #expect(try file.connection.firstInteger("SELECT count(*) FROM mailbox_delayed") == 0)
        }
        await outbox.close()
    }

    /// Whoever may write in the database makes no text of it, and holds up none behind it.
    @Test func whatWasChangedGoes() async throws {
        try directory.use(.database)
        let (outbox, store) = try await store()
        for number in 1...2 {
            _ = try await store.put(
                message(number, due: Int64(number), by: cron), to: address, keeping: nil,
                within: MailboxBounds())
        }
        _ = try directory.psql("UPDATE onionbell.mailbox_delayed SET id = 'zzzzzzzzzzzz' WHERE due_at = 1")
        #expect(
            try await store.deliver(dueAt: 9, within: MailboxBounds()) == .init(mailboxes: [1], next: nil))
        #expect(try await times(store) == [2])
        await outbox.close()
    }
}
