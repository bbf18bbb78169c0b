import Clocks
import Relay
import TestedStores
import Testing

@testable import MailboxEndpoint
@testable import Persistence

/// Publishers of mailboxes, and what they put there.
@Suite(.serialized) struct PublisherStoreTests {
    let directory: Directory
    private let address = Digest(high: 1, low: 1)

    init() throws { directory = try Directory() }

    private func publisher(_ number: UInt64) -> Mailbox.Publisher {
        Mailbox.Publisher(name: "p\(number)", token: Digest(high: 5, low: number))
    }

    private func store() async throws -> (OutboxStore, StoredMailboxes) {
        let outbox = try await directory.open()
        let store = try await StoredMailboxes(in: outbox)
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        for (name, isOpen, low) in [("me", false, 1), ("open", true, 2)] as [(String, Bool, UInt64)] {
            let mailbox = Mailbox(
                name: name, show: .sealed, isOpen: isOpen, topic: Digest(high: 2, low: low),
                readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: low))])
            #expect(try file.add(mailbox, address: Digest(high: 1, low: low), addedAt: 1))
        }
        return (outbox, store)
    }

    private func publishers(_ store: StoredMailboxes) async throws -> [[Mailbox.Publisher]] {
        try #require(try await store.all(unless: nil)).mailboxes.map(\.publishers)
    }

    @Test(arguments: TestedEngine.allCases) func theyComeAndGo(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let (outbox, store) = try await store()
        let before = try #require(try await store.all(unless: nil)).version
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            #expect(try file.add(publisher(1), to: "me", addedAt: 1) == .added)
            #expect(try file.add(publisher(1), to: "me", addedAt: 1) == .nameIsTaken)
            #expect(try file.add(publisher(1), to: "nobody", addedAt: 1) == .noSuchMailbox)
            #expect(try file.add(publisher(1), to: "open", addedAt: 1) == .isOpen)
            for number in 2...UInt64(Mailbox.mostPublishers) {
                #expect(try file.add(publisher(number), to: "me", addedAt: 1) == .added)
            }
            #expect(try file.add(publisher(99), to: "me", addedAt: 1) == .tooMany)
        }
        #expect(try await store.all(unless: before) != nil, "a running node notices it")
        #expect(
            try await publishers(store) == [(1...UInt64(Mailbox.mostPublishers)).map { publisher($0) }, []])
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            #expect(try file.removePublisher("p1", from: "me"))
            #expect(try !file.removePublisher("p1", from: "me") && !file.removePublisher("p2", from: "open"))
            #expect(try file.mailboxes()[0].publishers.first == publisher(2))
            let view = try #require(file.views.first { $0.kind == "mailbox" })
            #expect(try file.remove("me", of: view))
            #expect(try file.mailboxes().flatMap(\.publishers).isEmpty)
            #expect(try file.connection.firstInteger("SELECT count(*) FROM mailbox_publisher") == 0)
        }
        await outbox.close()
    }

    /// Whoever may write in the database makes no publisher of another mailbox, and no new token.
    @Test(arguments: [
        "mailbox = 2", "name = 'other'", "token = decode(repeat('07', 16), 'hex')",
    ]) func aPublisherThatWasChangedIsNone(_ change: String) async throws {
        try directory.use(.database)
        let (outbox, store) = try await store()
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            #expect(try file.add(publisher(1), to: "me", addedAt: 1) == .added)
        }
        #expect(try await publishers(store) == [[publisher(1)], []])
        _ = try directory.psql("UPDATE onionbell.mailbox_publisher SET \(change)")
        #expect(try await publishers(store) == [[], []])
        await outbox.close()
    }

    private func message(_ number: Int, isPublished: Bool, size: Int = 10) -> MailboxMessage {
        MailboxMessage(
            id: MailboxMessage.id(of: NotificationID(high: UInt64(number), low: 0)),
            acceptedAt: UnixTime(milliseconds: Int64(number)), expiresAt: .max,
            isUrgent: number.isMultiple(of: 2),
            text: String(repeating: "x", count: size), isPublished: isPublished)
    }

    /// Neither takes the other's: of what is published the oldest goes, and Bisq's stays, though the mailbox refuses more.
    @Test(arguments: TestedEngine.allCases) func bothHaveRoomOfTheirOwn(on engine: TestedEngine) async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        var bounds = MailboxBounds()
        (bounds.messages, bounds.publishedMessages, bounds.publishedBytes) = (3, 2, 100)
        func put(_ message: MailboxMessage) async throws -> MailboxPutResult {
            try await store.put(message, to: address, keeping: nil, within: bounds).result
        }
        func content() async throws -> [(Int64, Bool)] {
            try await store.messages(behind: [MailboxPlace(mailbox: 1, number: 0)], at: 0, limit: 99)
                .map { ($0.message.acceptedAt.milliseconds, $0.message.isPublished) }
        }
        for number in 1...5 {
            #expect(try await put(message(number, isPublished: true)) == .stored(1))
        }
        for number in 11...13 {
            #expect(try await put(message(number, isPublished: false)) == .stored(1))
        }
        #expect(try await put(message(14, isPublished: false)) == .full)
        #expect(try await put(message(6, isPublished: true, size: 91)) == .stored(1))
        #expect(try await content().map(\.0) == [11, 12, 13, 6])
        #expect(try await content().map(\.1) == [false, false, false, true])
        #expect(try await put(message(7, isPublished: true, size: 101)) == .full)
        #expect(try await content().map(\.0) == [11, 12, 13, 6])
        await outbox.close()
    }
}
