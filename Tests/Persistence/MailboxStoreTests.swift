import Clocks
import Relay
import TestedStores
import Testing

@testable import MailboxEndpoint
@testable import Persistence

/// Mailboxes in the outbox's file: commands make them, the node fills them.
@Suite(.serialized) struct MailboxStoreTests {
    let directory: Directory
    private let address = Digest(high: 1, low: 1)
    private static let end: UnixTime = 2_000_000

    init() throws { directory = try Directory() }

    private func message(_ number: Int, expires: UnixTime = end, size: Int = 10) -> MailboxMessage {
        MailboxMessage(
            id: MailboxMessage.id(of: NotificationID(high: UInt64(number), low: 0)),
            acceptedAt: UnixTime(milliseconds: Int64(number) * 1000), expiresAt: expires, isUrgent: true,
            text: String(repeating: "x", count: size))
    }

    /// A mailbox, made beside the open file.
    private func store(
        _ show: Mailbox.Show = .bell, readers: [String] = ["phone", "desk"]
    ) async throws -> (OutboxStore, StoredMailboxes, Mailbox) {
        let outbox = try await directory.open()
        let store = try await StoredMailboxes(in: outbox)
        let before = try #require(try await store.all(unless: nil))
        #expect(before.mailboxes.isEmpty)
        let mailbox = Mailbox(
            name: "me", show: show, isOpen: false, topic: Digest(high: 2, low: 2),
            readers: readers.enumerated().map {
                Mailbox.Reader(name: $0.element, token: Digest(high: 3, low: UInt64($0.offset)))
            })
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            #expect(try file.add(mailbox, address: address, addedAt: 1))
            #expect(try !file.add(mailbox, address: Digest(high: 9, low: 9), addedAt: 1), "the name is taken")
        }
        let after = try #require(try await store.all(unless: before.version))
        #expect(try await store.all(unless: after.version) == nil)
        return (outbox, store, try #require(after.mailboxes.first))
    }

    private func texts(
        _ store: StoredMailboxes, _ mailbox: Mailbox, after number: Int64 = 0, at now: Int64 = 0
    ) async throws -> [Int64] {
        let place = MailboxPlace(mailbox: mailbox.number, number: number)
        return try await store.messages(behind: [place], at: now, limit: 1000).map(
            \.message.acceptedAt.milliseconds)
    }

    private func put(
        _ store: StoredMailboxes, _ message: MailboxMessage, to address: Digest, _ bounds: MailboxBounds
    ) async throws -> MailboxPutResult {
        try await store.put(message, to: address, keeping: nil, within: bounds).result
    }

    private func begin(
        _ store: StoredMailboxes, _ since: MailboxSince, _ mailbox: Mailbox, for reader: Int64?,
        sent: MailboxSent? = nil
    ) async throws -> Int64? {
        try await store.begin(
            since, of: [MailboxClient(mailbox.number, reader: reader, sent: sent)], at: 0
        ).starts.first?.place.number
    }

    /// Acknowledges all up to a number.
    private func acknowledge(
        _ number: Int64, by reader: Int64, in store: StoredMailboxes
    ) async throws -> [KeptEnd] {
        try await store.acknowledge([MailboxReceipt(reader: reader, after: 0, upTo: number)], at: 0)
    }

    @Test(arguments: TestedEngine.allCases) func aMessageLiesThereOnceAndSurvivesARestart(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        #expect(try await put(store, message(1), to: address, MailboxBounds()) == .stored(1))
        #expect(try await put(store, message(1), to: address, MailboxBounds()) == .stored(1))
        #expect(try await put(store, message(2), to: address, MailboxBounds()) == .stored(1))
        let nobody = Digest(high: 7, low: 7)
        #expect(try await put(store, message(3), to: nobody, MailboxBounds()) == .noSuchMailbox)
        await outbox.close()
        let again = try await directory.open()
        let reopened = try await StoredMailboxes(in: again)
        #expect(try await texts(reopened, mailbox) == [1000, 2000])
        await again.close()
    }

    @Test(arguments: TestedEngine.allCases) func whatEveryRegisteredReaderHasAcknowledgedGoes(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        for number in 1...3 {
            _ = try await put(store, message(number), to: address, MailboxBounds())
        }
        let (phone, desk) = (mailbox.readers[0].number, mailbox.readers[1].number)
        let second = message(2).id
        let sent = MailboxSent(after: 0, upTo: 2, id: second)
        #expect(try await begin(store, .message(second), mailbox, for: phone, sent: sent) == 2)
        #expect(try await texts(store, mailbox).count == 3, "the other one has not seen them")
        #expect(try await begin(store, .message(second), mailbox, for: nil) == 2)
        #expect(try await texts(store, mailbox).count == 3, "it was nobody's acknowledgement")
        _ = try await acknowledge(2, by: desk, in: store)
        #expect(try await texts(store, mailbox) == [3000])
        // Its message is gone: it goes on where it was.
        #expect(try await begin(store, .message(second), mailbox, for: phone) == 2)
        #expect(
            try await begin(store, .message("neverwasthis"), mailbox, for: desk) == 2)
        _ = try await acknowledge(1, by: phone, in: store)
        #expect(try await texts(store, mailbox) == [3000], "an older one takes nothing back")
        // A number is never given again.
        _ = try await acknowledge(3, by: phone, in: store)
        _ = try await acknowledge(3, by: desk, in: store)
        _ = try await put(store, message(4), to: address, MailboxBounds())
        #expect(try await texts(store, mailbox, after: 3) == [4000])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aReaderBeginsWhereItSays(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        for number in 1...3 {
            _ = try await put(store, message(number), to: address, MailboxBounds())
        }
        func begin(_ since: MailboxSince) async throws -> Int64 {
            try #require(
                try await self.begin(store, since, mailbox, for: mailbox.readers[0].number))
        }
        #expect(try await begin(.all) == 0)
        #expect(try await begin(.none) == 3)
        #expect(try await begin(.latest) == 2)
        #expect(try await begin(.time(2000)) == 1)
        #expect(try await begin(.time(9000)) == 3)
        #expect(try await begin(.message("neverwasthis")) == 0)
        await outbox.close()
    }

    @Test(arguments: [
        (3, 1000, 3, [1000, 2000, 3000]), (2, 1000, 3, [2000, 3000]), (3, 25, 3, [2000, 3000]),
    ]) func ofAFullMailboxOfBellsTheOldestGoes(
        messages: Int, bytes: Int, count: Int, left: [Int64]
    ) async throws {
        let (outbox, store, mailbox) = try await store()
        var bounds = MailboxBounds()
        (bounds.messages, bounds.bytes) = (messages, bytes)
        for number in 1...count {
            #expect(try await put(store, message(number), to: address, bounds) == .stored(1))
        }
        #expect(try await texts(store, mailbox) == left)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aFullMailboxOfSealedMessagesTakesNoMore(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store(.sealed, readers: ["phone"])
        var bounds = MailboxBounds()
        bounds.messages = 2
        for number in 1...2 { _ = try await put(store, message(number), to: address, bounds) }
        #expect(try await put(store, message(3), to: address, bounds) == .full)
        #expect(try await texts(store, mailbox) == [1000, 2000])
        _ = try await acknowledge(1, by: mailbox.readers[0].number, in: store)
        #expect(try await put(store, message(3), to: address, bounds) == .stored(1))
        bounds.bytes = 5
        #expect(try await put(store, message(4), to: address, bounds) == .full)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func whatHasExpiredIsShownToNobodyAndDeleted(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        _ = try await put(store, message(1, expires: 5000), to: address, MailboxBounds())
        _ = try await put(store, message(2), to: address, MailboxBounds())
        #expect(try await texts(store, mailbox, at: 4999) == [1000, 2000])
        #expect(try await texts(store, mailbox, at: 5000) == [2000])
        _ = try await store.forget(expiredBefore: 5001)
        #expect(try await texts(store, mailbox, at: 0) == [2000])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func whatIsRemovedGoesWithAllThatLiesInIt(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        _ = try await put(store, message(1), to: address, MailboxBounds())
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            let view = try #require(file.views.first { $0.kind == "mailbox" })
            #expect(try file.row("me", of: view)?.values.prefix(5) == ["me", "bell", "no", "2", "1"])
            #expect(try file.remove("me", of: view))
            #expect(try file.mailboxes().isEmpty)
        }
        #expect(try await texts(store, mailbox).isEmpty)
        #expect(try await put(store, message(2), to: address, MailboxBounds()) == .noSuchMailbox)
        await outbox.close()
    }

    // MARK: From the outbox

    private func notification(_ number: UInt64) -> Notification {
        Notification(
            id: NotificationID(high: number, low: 1), lane: LaneID(app: "mailboxes", host: .production),
            deviceToken: DeviceToken("mb1:x"), message: "text", isUrgent: true, hasSound: false,
            isMutableContent: false, isContentAvailable: true, expiresAt: Self.end, acceptedAt: 1000)
    }

    private func request(_ number: UInt64) -> StoreRequest {
        StoreRequest(
            notification: notification(number),
            digests: SubmissionDigests(
                token: Digest(high: 5, low: 5), identity: Digest(high: number, low: 1),
                content: Digest(high: 6, low: number)))
    }

    /// Stores one and puts it into the mailbox.
    @discardableResult
    private func keep(
        _ number: UInt64, _ outbox: OutboxStore, _ store: StoredMailboxes, _ bounds: MailboxBounds = .init()
    ) async throws -> MailboxPut {
        #expect(try await outbox.commit([.store(request(number))]) == [.stored(sequence: Int64(number))])
        return try await store.put(
            message(Int(number)), to: address, keeping: Digest(high: number, low: 1), within: bounds)
    }

    private func again(_ number: UInt64, _ outbox: OutboxStore) async throws -> StoreResult? {
        try await outbox.commit([.lookUp(request(number).digests)]).first
    }

    @Test(arguments: TestedEngine.allCases) func whatIsKeptLeavesTheOutboxAndEndsWithItsFirstAcknowledgement(
        on engine: TestedEngine
    ) async throws {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        for number: UInt64 in 1...2 { try await keep(number, outbox, store) }
        #expect(try await outbox.content().waiting.isEmpty)
        #expect(try await again(1, outbox) == .alreadyKept(sequence: 1))
        #expect(try await outbox.state(of: Digest(high: 1, low: 1)) == .waiting)
        let (phone, desk) = (mailbox.readers[0].number, mailbox.readers[1].number)
        let first = KeptEnd(sequence: 1, ending: .delivered)
        #expect(try await acknowledge(1, by: phone, in: store) == [first])
        #expect(try await acknowledge(1, by: desk, in: store) == [], "the first one has delivered it")
        #expect(try await again(1, outbox) == .alreadyEnded(.delivered))
        #expect(try await again(2, outbox) == .alreadyKept(sequence: 2))
        await outbox.close()
        let reopened = try await directory.open()
        #expect(try await again(2, reopened) == .alreadyKept(sequence: 2))
        await reopened.close()
    }

    @Test(arguments: TestedEngine.allCases) func whatIsKeptIsRememberedForAsLongAsItLies(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        try await keep(1, outbox, store)
        _ = try await outbox.commit([.forget(acceptedBefore: .max, buriedBefore: 0)])
        #expect(try await again(1, outbox) == .alreadyKept(sequence: 1))
        let sent = MailboxSent(after: 0, upTo: 1, id: message(1).id)
        let ends = try await store.begin(
            .message(message(1).id),
            of: [MailboxClient(mailbox.number, reader: mailbox.readers[0].number, sent: sent)], at: 0
        ).ends
        #expect(ends == [KeptEnd(sequence: 1, ending: .delivered)])
        #expect(try await again(1, outbox) == .unknown, "its time was over")
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func whatGoesUnreadEndsOtherwise(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        var bounds = MailboxBounds()
        bounds.messages = 1
        try await keep(1, outbox, store, bounds)
        let full = Ending.refused(reason: .gateway(Reason.mailboxFull, .full))
        #expect(try await keep(2, outbox, store, bounds).ends == [KeptEnd(sequence: 1, ending: full)])
        #expect(try await again(1, outbox) == .unknown, "it may come again")
        #expect(
            try await store.forget(expiredBefore: Self.end.milliseconds + 1) == [
                KeptEnd(sequence: 2, ending: .expired)
            ])
        #expect(try await again(2, outbox) == .unknown)
        #expect(try await texts(store, mailbox).isEmpty)
        try await keep(3, outbox, store)
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            let view = try #require(file.views.first { $0.kind == "mailbox" })
            #expect(try file.remove("me", of: view))
        }
        #expect(
            try await again(3, outbox) == .alreadyEnded(.refused(reason: .gateway("NoSuchMailbox"))))
        await outbox.close()
    }

    /// Of two mailboxes an id says where to go on in both, and acknowledges in its own.
    @Test(arguments: TestedEngine.allCases) func anotherMailboxsIDAcknowledgesNothing(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, mailbox) = try await store()
        let other = Mailbox(
            name: "other", show: .bell, isOpen: false, topic: Digest(high: 12, low: 2),
            readers: [Mailbox.Reader(name: "phone", token: mailbox.readers[0].token)])
        let there = Digest(high: 11, low: 1)
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            #expect(try file.add(other, address: there, addedAt: 1))
        }
        let second = try #require(try await store.all(unless: nil)?.mailboxes.last)
        _ = try await put(store, message(1), to: there, MailboxBounds())
        _ = try await put(store, message(2), to: address, MailboxBounds())
        _ = try await put(store, message(3), to: there, MailboxBounds())
        let sent = MailboxSent(after: 0, upTo: 2, id: message(2).id)
        let begun = try await store.begin(
            .message(message(2).id),
            of: [
                MailboxClient(mailbox.number, reader: mailbox.readers[0].number, sent: sent),
                MailboxClient(second.number, reader: second.readers[0].number),
            ], at: 0
        ).starts.map(\.place)
        #expect(begun.map(\.number) == [2, 2])
        let rest = try await store.messages(behind: begun, at: 0, limit: 10)
        #expect(rest.map(\.message.number) == [3])
        #expect(try await texts(store, second) == [1000, 3000])
        // Known in none: all, but what its reader has acknowledged.
        let unknown = try await store.begin(
            .message("neverwasthis"),
            of: [
                MailboxClient(mailbox.number, reader: mailbox.readers[0].number),
                MailboxClient(second.number, reader: nil),
            ], at: 0)
        #expect(unknown.starts.map(\.place.number) == [2, 0])
        await outbox.close()
    }
}
