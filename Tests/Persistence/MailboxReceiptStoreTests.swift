import Clocks
import Relay
import TestedStores
import Testing

@testable import MailboxEndpoint
@testable import Persistence

/// What readers acknowledge, and what goes for a message that comes.
@Suite(.serialized) struct MailboxReceiptStoreTests {
    let directory: Directory
    private let address = Digest(high: 1, low: 1)
    private let cron = Digest(high: 5, low: 1)

    init() throws { directory = try Directory() }

    private func message(
        _ number: Int, size: Int = 10, replaces: String? = nil, isPublished: Bool = false,
        expires: Int64 = 9000,
        by publisher: Digest? = nil
    ) -> MailboxMessage {
        MailboxMessage(
            id: MailboxMessage.id(of: NotificationID(high: UInt64(number), low: 0)),
            acceptedAt: UnixTime(milliseconds: Int64(number)), expiresAt: UnixTime(milliseconds: expires),
            isUrgent: true, text: String(repeating: "x", count: size), replaces: replaces,
            isPublished: isPublished, delayedBy: publisher)
    }

    private func store(
        _ show: Mailbox.Show = .bell
    ) async throws -> (OutboxStore, StoredMailboxes, phone: Int64, desk: Int64) {
        let outbox = try await directory.open()
        let store = try await StoredMailboxes(in: outbox)
        let mailbox = Mailbox(
            name: "me", show: show, isOpen: false, topic: Digest(high: 2, low: 2),
            readers: ["phone", "desk"].enumerated().map {
                Mailbox.Reader(name: $0.element, token: Digest(high: 3, low: UInt64($0.offset)))
            })
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        #expect(try file.add(mailbox, address: address, addedAt: 1))
        #expect(try file.add(Mailbox.Publisher(name: "cron", token: cron), to: "me", addedAt: 1) == .added)
        let readers = try #require(try await store.all(unless: nil)?.mailboxes.first?.readers)
        return (outbox, store, readers[0].number, readers[1].number)
    }

    /// Puts a message there that comes from the outbox.
    private func keep(_ number: Int, _ outbox: OutboxStore, _ store: StoredMailboxes) async throws {
        let identity = Digest(high: UInt64(number), low: 1)
        let notification = Relay.Notification(
            id: NotificationID(high: UInt64(number), low: 1),
            lane: LaneID(app: "mailboxes", host: .production), deviceToken: DeviceToken("mb1:x"),
            message: "text", isUrgent: true, hasSound: false, isMutableContent: false,
            isContentAvailable: true, expiresAt: 9000, acceptedAt: 1)
        _ = try await outbox.commit([
            .store(
                StoreRequest(
                    notification: notification,
                    digests: SubmissionDigests(
                        token: Digest(high: 5, low: 5), identity: identity,
                        content: Digest(high: 6, low: UInt64(number)))))
        ])
        let put = try await store.put(
            message(number), to: address, keeping: identity, within: MailboxBounds())
        #expect(put.result == .stored(1))
    }

    private func put(
        _ store: StoredMailboxes, _ message: MailboxMessage, _ bounds: MailboxBounds
    ) async throws -> MailboxPutResult {
        try await store.put(message, to: address, keeping: nil, within: bounds).result
    }

    private func left(_ store: StoredMailboxes, at now: Int64 = 0) async throws -> [Int64] {
        try await store.messages(behind: [MailboxPlace(mailbox: 1, number: 0)], at: now, limit: 99)
            .map(\.message.number)
    }

    // MARK: Receipts

    /// A reader that began behind some messages has not seen them, whatever it acknowledges of what came later.
    @Test(arguments: TestedEngine.allCases) func whatWasSkippedStaysUntilItIsRead(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, phone, desk) = try await store()
        for number in 1...4 { try await keep(number, outbox, store) }
        func acknowledge(_ reader: Int64, _ range: Range<Int64>) async throws -> [Int64] {
            let receipt = MailboxReceipt(reader: reader, after: range.lowerBound, upTo: range.upperBound)
            return try await store.acknowledge([receipt], at: 0).map {
                #expect($0.ending == .delivered)
                return $0.sequence
            }
        }
        #expect(try await acknowledge(phone, 2..<3) == [3])
        #expect(try await acknowledge(desk, 0..<4) == [1, 2, 4], "what the phone has had is told once")
        #expect(try await left(store) == [1, 2, 4])
        #expect(try await acknowledge(phone, 3..<4) == [])
        #expect(try await left(store) == [1, 2])
        await outbox.close()
        let again = try await directory.open()
        let reopened = try await StoredMailboxes(in: again)
        #expect(
            try await reopened.acknowledge([MailboxReceipt(reader: phone, after: 4, upTo: 4)], at: 0) == [])
        #expect(try await left(reopened) == [1, 2])
        let first = MailboxReceipt(reader: phone, after: 0, upTo: 1)
        #expect(try await reopened.acknowledge([first], at: 0) == [])
        #expect(try await left(reopened) == [2])
        let rest = MailboxReceipt(reader: phone, after: 0, upTo: 4)
        #expect(try await reopened.acknowledge([rest], at: 0) == [])
        #expect(try await left(reopened) == [])
        await again.close()
    }

    /// It may not have been sent to anybody.
    @Test(arguments: TestedEngine.allCases) func whatHadExpiredIsNotDelivered(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, phone, _) = try await store()
        for number in 1...2 { try await keep(number, outbox, store) }
        let ends = try await store.acknowledge([MailboxReceipt(reader: phone, after: 0, upTo: 2)], at: 9000)
        #expect(ends == [1, 2].map { KeptEnd(sequence: $0, ending: .expired) })
        #expect(try await left(store) == [])
        #expect(try await store.forget(expiredBefore: 9001) == [])
        await outbox.close()
    }

    /// A node that was killed, and another one, know what a reader has.
    @Test(arguments: TestedEngine.allCases) func whatAReaderWasSentIsKnownAfterARestart(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, store, phone, _) = try await store()
        for number in 1...3 { try await keep(number, outbox, store) }
        let id = message(2).id
        try await store.note([
            (phone, MailboxSent(after: 0, upTo: 1, id: message(1).id)),
            (77, MailboxSent(after: 0, upTo: 1, id: "x")),
        ])
        try await store.note([(phone, MailboxSent(after: 0, upTo: 2, id: id))])
        await outbox.close()
        let again = try await directory.open()
        let reopened = try await StoredMailboxes(in: again)
        func begin(_ id: String) async throws -> ([Int64], [Int64]) {
            let begun = try await reopened.begin(
                .message(id), of: [MailboxClient(1, reader: phone)], at: 0)
            return (begun.starts.map(\.place.number), begun.ends.map(\.sequence))
        }
        #expect(try await begin(message(1).id) == ([1], []), "it was not the last one")
        #expect(try await begin(message(3).id) == ([3], []), "nobody knows that it was sent")
        #expect(try await begin(id) == ([2], [1, 2]))
        await again.close()
    }

    // MARK: What goes for a new one

    /// A text that is refused leaves the one that it was to replace, and what waits under its name.
    @Test(arguments: TestedEngine.allCases) func whatIsRefusedReplacesNothing(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, _, _) = try await store()
        var bounds = MailboxBounds()
        (bounds.publishedBytes, bounds.delayedBytes, bounds.delayedMessages, bounds.bytes) = (100, 50, 1, 100)
        func put(_ message: MailboxMessage) async throws -> MailboxPutResult {
            try await self.put(store, message, bounds)
        }
        #expect(try await put(message(1, replaces: "a", isPublished: true)) == .stored(1))
        #expect(
            try await put(message(2, replaces: "a", isPublished: true, by: cron)) == .stored(1))
        #expect(try await put(message(3, size: 101, replaces: "a", isPublished: true)) == .full)
        #expect(try await put(message(4, size: 51, replaces: "a", isPublished: true, by: cron)) == .full)
        let nobody = Digest(high: 9, low: 9)
        #expect(try await put(message(5, replaces: "a", isPublished: true, by: nobody)) == .noSuchMailbox)
        #expect(try await left(store) == [1])
        #expect(try await store.deliver(dueAt: 0, within: bounds).next == 2)
        // In its place there is room.
        #expect(try await put(message(6, size: 50, replaces: "a", isPublished: true, by: cron)) == .stored(1))
        #expect(try await put(message(7, size: 100, replaces: "a", isPublished: true)) == .stored(1))
        #expect(try await left(store) == [2])
        #expect(try await store.deliver(dueAt: 0, within: bounds).next == nil)
        // A push stands for the one before in the same way.
        #expect(try await put(message(8, replaces: "b")) == .stored(1))
        #expect(try await put(message(9, size: 101, replaces: "b")) == .full)
        #expect(try await left(store) == [2, 3])
        #expect(try await put(message(10, size: 100, replaces: "b")) == .stored(1))
        #expect(try await left(store) == [2, 4])
        await outbox.close()
    }

    /// However many bells went, it would not fit.
    @Test(arguments: TestedEngine.allCases) func whatNeverFitsCostsNoBell(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store, _, _) = try await store()
        var bounds = MailboxBounds()
        bounds.bytes = 30
        for number in 1...3 { #expect(try await put(store, message(number), bounds) == .stored(1)) }
        #expect(try await put(store, message(4, size: 31), bounds) == .full)
        #expect(try await left(store) == [1, 2, 3])
        #expect(try await put(store, message(5, size: 30), bounds) == .stored(1))
        #expect(try await left(store).count == 1)
        await outbox.close()
    }

    /// Two requests may make one topic.
    @Test(arguments: TestedEngine.allCases) func aTopicThatIsThereCostsNoOther(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        let store = try await StoredMailboxes(in: outbox)
        func add(_ number: UInt64) async throws -> [String] {
            let topic = Mailbox(
                name: "up-\(number)", show: .bell, isOpen: false, isPush: true,
                topic: Digest(high: 2, low: number),
                readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: 3))])
            return try await store.add(
                pushTopic: topic, address: Digest(high: 1, low: number), at: Int64(number), sparing: []
            ).map(\.name)
        }
        var made: [String] = []
        for number in 1...UInt64(Mailbox.mostPushTopics) { made = try await add(number) }
        #expect(try await add(UInt64(Mailbox.mostPushTopics)) == made)
        #expect(try await add(99) == made.dropFirst() + ["up-99"])
        await outbox.close()
    }
}
