import Relay
import TestedStores
import Testing

@testable import MailboxEndpoint
@testable import Persistence

/// Replies on their way back, in the tables of the mailboxes.
@Suite(.serialized) struct MailboxReplyStoreTests {
    let directory: Directory
    private let channel = Digest(high: 5, low: 5)
    private static let minute: Int64 = 60_000

    init() throws { directory = try Directory() }

    private func address(_ number: UInt64) -> Digest { Digest(high: 1, low: number) }

    /// With two mailboxes, made beside the open file.
    private func store() async throws -> (OutboxStore, StoredMailboxes) {
        let outbox = try await directory.open()
        let store = try await StoredMailboxes(in: outbox)
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        for (number, name) in ["me", "you"].enumerated() {
            let mailbox = Mailbox(
                name: name, show: .bell, isOpen: false, topic: Digest(high: 2, low: UInt64(number)),
                readers: [])
            #expect(try file.add(mailbox, address: address(UInt64(number)), addedAt: 1))
        }
        return (outbox, store)
    }

    private func post(
        _ store: StoredMailboxes, _ number: UInt8, in channel: Digest? = nil, by mailbox: UInt64 = 0,
        at now: Int64 = 1, _ bounds: MailboxReplyBounds = MailboxReplyBounds()
    ) async throws -> MailboxReplyResult {
        try await store.post(
            [number], digest: Digest(high: 6, low: UInt64(number)), in: channel ?? self.channel,
            by: address(mailbox), at: now, within: bounds)
    }

    private func replies(
        _ store: StoredMailboxes, of mailbox: UInt64 = 0, acknowledging number: Int64 = 0, at now: Int64 = 1
    ) async throws -> [UInt8]? {
        try await store.replies(
            in: channel, of: address(mailbox), acknowledging: number, at: now
        )?.flatMap(\.sealed)
    }

    @Test(arguments: TestedEngine.allCases) func aReplyLiesThereOnceUntilItIsAcknowledged(
        on engine: TestedEngine
    )
        async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        #expect(try await post(store, 1) == .stored)
        #expect(try await post(store, 1) == .stored, "a repetition")
        #expect(try await post(store, 2) == .stored)
        #expect(try await post(store, 3, in: Digest(high: 9, low: 9)) == .stored)
        await outbox.close()
        let again = try await directory.open()
        let reopened = try await StoredMailboxes(in: again)
        #expect(try await replies(reopened) == [1, 2])
        let found = try #require(
            try await reopened.replies(in: channel, of: address(0), acknowledging: 0, at: 1))
        #expect(try await replies(reopened, of: 1, acknowledging: found[1].number) == [], "another's")
        #expect(try await replies(reopened) == [1, 2], "nobody else's acknowledgement counts")
        #expect(try await replies(reopened, acknowledging: 99) == [1, 2], "there was none of this number")
        #expect(try await replies(reopened, acknowledging: found[0].number) == [2])
        #expect(try await replies(reopened, acknowledging: found[1].number) == [])
        await again.close()
    }

    @Test(arguments: TestedEngine.allCases) func whoHasNoMailboxHereGetsNothing(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        #expect(try await post(store, 1, by: 7) == .noSuchMailbox)
        #expect(try await replies(store, of: 7) == nil)
        let topic = Mailbox(
            name: "up-1", show: .bell, isOpen: false, isPush: true, topic: Digest(high: 2, low: 8),
            readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: 8))])
        _ = try await store.add(pushTopic: topic, address: address(8), at: 1, sparing: [])
        #expect(try await post(store, 1, by: 8) == .noSuchMailbox, "an app's topic is none")
        await outbox.close()
    }

    /// Another process has the file for itself, so that no commit goes on: strangers need none.
    @Test func whoHasNoMailboxHereCausesNoCommit() async throws {
        let (outbox, store) = try await store()
        let file = try RegistrationFile(directory.place, isReadOnly: false)
        try file.connection.execute("BEGIN IMMEDIATE")
        #expect(try await replies(store, of: 7, acknowledging: 9) == nil)
        #expect(try await replies(store, acknowledging: 9) == [], "nothing is there to be acknowledged")
        #expect(try await post(store, 1, by: 7) == .noSuchMailbox)
        try file.connection.execute("ROLLBACK")
        #expect(try await post(store, 1) == .stored)
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func afterTenMinutesItIsGone(on engine: TestedEngine) async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        #expect(try await post(store, 1, at: 1000) == .stored)
        let end = 1000 + 10 * MailboxReplyStoreTests.minute
        #expect(try await replies(store, at: end - 1) == [1])
        #expect(try await replies(store, at: end) == [])
        var bounds = MailboxReplyBounds()
        bounds.inAll = 1
        #expect(try await post(store, 2, at: end - 1, bounds) == .full)
        #expect(try await post(store, 2, at: end, bounds) == .stored, "the old one holds no room")
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func aChannelAMailboxAndAllHoldSoMany(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let (outbox, store) = try await store()
        var bounds = MailboxReplyBounds()
        (bounds.ofChannel, bounds.ofMailbox, bounds.inAll) = (2, 3, 4)
        let second = Digest(high: 8, low: 8)
        #expect(try await post(store, 1, bounds) == .stored)
        #expect(try await post(store, 2, bounds) == .stored)
        #expect(try await post(store, 3, bounds) == .full, "the channel")
        #expect(try await post(store, 2, bounds) == .stored, "a repetition needs no room")
        #expect(try await post(store, 3, in: second, bounds) == .stored)
        #expect(try await post(store, 4, in: second, bounds) == .full, "the mailbox")
        #expect(try await post(store, 4, in: second, by: 1, bounds) == .stored, "another has its own share")
        #expect(try await post(store, 5, in: Digest(high: 7, low: 7), by: 1, bounds) == .full, "in all")
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func othersHearWhatIsNew(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let (outbox, store) = try await store()
        #expect(try await store.replyNews(behind: 0) == [])
        let second = Digest(high: 8, low: 8)
        for (number, channel) in [(1, channel), (2, second), (3, second)] as [(UInt8, Digest)] {
            #expect(try await post(store, number, in: channel) == .stored)
        }
        let news = try await store.replyNews(behind: 0).sorted { $0.number < $1.number }
        #expect(news.map(\.channel) == [channel, second])
        let last = try #require(news.last?.number)
        #expect(try await store.replyNews(behind: last) == [])
        #expect(try await store.replyNews(behind: last - 1).map(\.channel) == [second])
        await outbox.close()
    }

    @Test(arguments: TestedEngine.allCases) func withItsMailboxItGoes(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let (outbox, store) = try await store()
        #expect(try await post(store, 1) == .stored)
        do {
            let file = try RegistrationFile(directory.place, isReadOnly: false)
            let view = try #require(file.views.first { $0.kind == "mailbox" })
            #expect(try file.remove("me", of: view))
            let held = try file.connection.firstInteger("SELECT count(*) FROM mailbox_reply")
            #expect(held == 0)
        }
        #expect(try await replies(store) == nil)
        await outbox.close()
    }
}
