import Clocks
import Relay
import TestedStores
import Testing

@testable import Bitwarden
@testable import MailboxEndpoint
@testable import Persistence
@testable import StatusIMEndpoint

/// Dates in the store that nobody has confirmed.
@Suite(.serialized) struct DatesTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    private static let wrong = UnixTime(milliseconds: 1_000_000)
    private static let right = UnixTime(milliseconds: 9_000_000)
    private static let by = right - wrong

    private func stored(
        _ sequence: Int64, at time: UnixTime, _ destination: StoreRequest.Destination = .window
    ) -> OutboxChange {
        let one = request(sequence, token: UInt64(sequence), acceptedAt: time)
        return .store(
            StoreRequest(notification: one.notification, digests: one.digests, destination: destination))
    }

    @Test func theFirstProcessSaysThatNobodyHasConfirmedItsDates() async throws {
        let outbox = try await directory.open()
        let content = try await outbox.content(at: Self.wrong)
        #expect(content.redating == nil)
        #expect(content.clock == ClockRecord.begun(after: nil, lastSequence: 0, at: Self.wrong).0)
        await outbox.close()
        let again = try await directory.open()
        // A start that takes a minute is no other clock.
        #expect(try await again.content(at: Self.wrong + .seconds(60)).redating == nil)
        await again.close()
    }

    @Test func whatWaitsGoesWithTheClock() async throws {
        var outbox = try await directory.open()
        let before = Self.wrong - .seconds(1)
        _ = try await outbox.commit([stored(1, at: before)])
        _ = try await outbox.content(at: Self.wrong)
        let dead = DeadToken(since: 7, buriedAt: Self.wrong + .seconds(3))
        _ = try await outbox.commit([
            stored(2, at: Self.wrong), stored(3, at: Self.wrong, .backlog(room: 9)),
            .buryToken(Digest(high: 1, low: 1), dead),
        ])
        let dates = try await outbox.notifications([1, 2, 3])
        await outbox.close()
        outbox = try await directory.open()
        let content = try await outbox.content(at: Self.right)
        #expect(content.redating == Redating(behind: 1, since: Self.wrong, by: Self.by))
        #expect(
            content.clock?.unconfirmed == UnconfirmedDates(behind: 1, since: Self.right, until: Self.right))
        #expect(content.waiting.map(\.acceptedAt) == [before, Self.right])
        #expect(content.deadTokens.values.map(\.buriedAt) == [dead.buriedAt + Self.by])
        let found = try await outbox.notifications([1, 2, 3])
        for (sequence, step) in [(1, .zero), (2, Self.by), (3, Self.by)] as [(Int64, Duration)] {
            #expect(found[sequence] != nil && found[sequence] == dates[sequence]?.later(by: step))
        }
        await outbox.close()
    }

    @Test func whatIsConfirmedStays() async throws {
        var outbox = try await directory.open()
        _ = try await outbox.content(at: Self.wrong)
        _ = try await outbox.commit([stored(1, at: Self.wrong), .clock(ClockRecord(trusted: Self.wrong))])
        await outbox.close()
        outbox = try await directory.open()
        let content = try await outbox.content(at: Self.right)
        #expect(content.redating == nil && content.waiting.map(\.acceptedAt) == [Self.wrong])
        #expect(content.clock == ClockRecord(trusted: Self.wrong))
        await outbox.close()
    }

    /// With other nodes the dates are of several clocks.
    @Test func aDatabaseKeepsItsDates() async throws {
        try directory.use(.database)
        let outbox = try await directory.open()
        #expect(try await outbox.content(at: Self.wrong).clock == nil)
        _ = try await outbox.commit([stored(1, at: Self.wrong)])
        let content = try await outbox.content(at: Self.right)
        #expect(content.redating == nil && content.waiting.map(\.acceptedAt) == [Self.wrong])
        await outbox.close()
    }

    // MARK: Registrations

    /// When the clock is set, what was registered by the wrong one is as old as it is, and no older or newer.
    @Test(arguments: [by, .zero - by])
    func registrationsGoWithTheClockOverARestart(by step: Duration) async throws {
        let wrong = Self.right - step
        let before = Self.wrong - .seconds(9)
        var outbox = try await directory.open()
        var limits = StatusIMRegistration.Limits()
        limits.messages = 9
        func key(_ number: UInt64) -> StatusIMRegistration.Key {
            let digest = Digest(high: number, low: 0)
            return StatusIMRegistration.Key(owner: digest, installation: digest)
        }
        var status = try await StoredStatusIMRegistrations(in: outbox, limits: limits)
        var devices = try await StoredBitwardenDevices(in: outbox)
        try await StoredInstallations(in: outbox).put(
            Installation(id: "one", keyDigest: Digest(high: 1, low: 2), addedAt: 1))
        func put(_ number: UInt64, at time: UnixTime) async throws {
            _ = try await status.put([1], of: key(number), version: 1, at: time.milliseconds)
            let digest = Digest(high: number, low: 0)
            let device = BitwardenDevice(
                id: digest, installation: "one", user: digest, identifier: digest, type: 1,
                pushToken: "token \(number)", organizations: [])
            #expect(try await devices.put(device, at: time.milliseconds, limit: 9))
        }
        try await put(1, at: before)
        _ = try await outbox.content(at: wrong)
        try await put(2, at: wrong)
        try await status.noteUse(of: key(2), at: (wrong + .seconds(1)).milliseconds)
        let message = Digest(high: 9, low: 9)
        try await status.remember(
            message, [7], at: wrong.milliseconds, forgettingBefore: before.milliseconds)
        let (own, foreign) = (wrong + .seconds(2), before)
        let (first, second) = (Digest(high: 1, low: 1), Digest(high: 1, low: 2))
        _ = try await outbox.commit([
            .buryToken(first, DeadToken(since: own, buriedAt: own)),
            .buryToken(second, DeadToken(since: foreign, buriedAt: own)),
        ])
        await outbox.close()

        outbox = try await directory.open()
        let dead = try await outbox.content(at: Self.right).deadTokens
        status = try await StoredStatusIMRegistrations(in: outbox, limits: limits)
        devices = try await StoredBitwardenDevices(in: outbox)
        let phones = try await status.look(for: Digest(high: 1, low: 1), [key(1), key(2)]) { [$1] }.found
        #expect(phones.map(\.?.registeredAt) == [before, Self.right])
        #expect(phones.map(\.?.usedAt) == [0, Self.right + .seconds(1)])
        let found = try await devices.phones(of: .installation("one"), except: nil)
        #expect(found.map(\.registeredAt) == phones.map { $0?.registeredAt ?? 0 })
        #expect(dead[first] == DeadToken(since: own + step, buriedAt: own + step))
        #expect(dead[second] == DeadToken(since: foreign, buriedAt: own + step))
        // What was handled a moment ago is not handled again.
        try await status.remember(
            Digest(high: 9, low: 8), [8], at: Self.right.milliseconds,
            forgettingBefore: (Self.right - .seconds(1)).milliseconds)
        #expect(try await status.look(for: message, []) { _, _ in [0] }.told == [7])
        await outbox.close()
    }

    // MARK: Mailboxes

    private func put(_ time: UnixTime, into address: Digest, of store: StoredMailboxes) async throws {
        let message = MailboxMessage(
            id: MailboxMessage.id(of: NotificationID(high: UInt64(time.milliseconds), low: 0)),
            acceptedAt: time, expiresAt: time + .seconds(1), isUrgent: true, text: "x", isPublished: true)
        let put = try await store.put(message, to: address, keeping: nil, within: MailboxBounds())
        #expect(put.result == .stored(1))
    }

    private func mailbox() throws -> Digest {
        let address = Digest(high: 1, low: 1)
        let mailbox = Mailbox(
            name: "me", show: .bell, isOpen: false, topic: Digest(high: 2, low: 1),
            readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: 1))])
        #expect(
            try RegistrationFile(directory.place, isReadOnly: false).add(
                mailbox, address: address, addedAt: 1))
        return address
    }

    private func messages(_ store: StoredMailboxes, at now: UnixTime) async throws -> [MailboxMessage] {
        try await store.messages(
            behind: [MailboxPlace(mailbox: 1, number: 0)], at: now.milliseconds, limit: 9
        ).map(\.message)
    }

    /// The clock is set while the node runs: messages that nobody had fetched were deleted.
    @Test(arguments: TestedEngine.allCases)
    func aMailboxKeepsItsMessagesWhenTheClockIsSet(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        let (before, after) = (
            try await StoredMailboxes(in: outbox),
            try await StoredMailboxes(in: outbox, dates: { StoreDates(ahead: Self.by) })
        )
        let address = try mailbox()
        try await put(Self.wrong, into: address, of: before)
        try await put(Self.right + .milliseconds(500), into: address, of: after)
        _ = try await after.forget(expiredBefore: Self.right.milliseconds + 900)
        let left = try await messages(after, at: Self.right + .milliseconds(900))
        #expect(left.map(\.acceptedAt) == [Self.right, Self.right + .milliseconds(500)])
        #expect(left.map(\.expiresAt) == [Self.right + .seconds(1), Self.right + .milliseconds(1500)])
        _ = try await after.forget(expiredBefore: Self.right.milliseconds + 1200)
        #expect(try await messages(after, at: Self.right).count == 1)
        await outbox.close()
    }

    /// While the clock is doubted nothing ends by it.
    @Test func aMailboxKeepsItsMessagesWhileTheClockIsDoubted() async throws {
        let outbox = try await directory.open()
        let store = try await StoredMailboxes(
            in: outbox, dates: { StoreDates(late: Self.wrong.milliseconds) })
        try await put(Self.wrong, into: try mailbox(), of: store)
        _ = try await store.forget(expiredBefore: Self.right.milliseconds)
        #expect(try await messages(store, at: Self.right).count == 1)
        await outbox.close()
    }

    @Test func aMailboxGoesWithTheClockOverARestart() async throws {
        var outbox = try await directory.open()
        _ = try await outbox.content(at: Self.wrong)
        try await put(Self.wrong, into: try mailbox(), of: try await StoredMailboxes(in: outbox))
        await outbox.close()
        outbox = try await directory.open()
        _ = try await outbox.content(at: Self.right)
        let store = try await StoredMailboxes(in: outbox)
        _ = try await store.forget(expiredBefore: Self.right.milliseconds)
        #expect(try await messages(store, at: Self.right).map(\.acceptedAt) == [Self.right])
        await outbox.close()
    }

    /// The clock was years ahead at the start, and was set right: what was there before is judged by neither, and what came
    /// meanwhile has its life and no more.
    @Test(arguments: TestedEngine.allCases)
    func whatCameUnderADoubtedClockHasItsLifeAndNoMore(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        let address = try mailbox()
        let (before, own) = (Self.wrong, Self.right)
        try await put(before, into: address, of: StoredMailboxes(in: outbox))
        let doubted = try await StoredMailboxes(in: outbox, dates: { Self.ahead(0) })
        try await put(own, into: address, of: doubted)
        _ = try await doubted.forget(expiredBefore: own.milliseconds + 900)
        #expect(try await messages(doubted, at: own + .milliseconds(900)).map(\.acceptedAt) == [before, own])
        let set = try await StoredMailboxes(in: outbox, dates: { Self.ahead(900) })
        let shown = try await messages(set, at: before + .milliseconds(900))
        #expect(shown.map(\.acceptedAt) == [before, before])
        let late = try await StoredMailboxes(in: outbox, dates: { Self.ahead(1100) })
        #expect(try await messages(late, at: before + .milliseconds(1100)).map(\.acceptedAt) == [before])
        _ = try await late.forget(expiredBefore: before.milliseconds + 1100)
        let left = try await StoredMailboxes(in: outbox).held()
        #expect(left.messages == 1)
        await outbox.close()
    }

    /// Returns the dates of a process that began with the clock ahead, so many milliseconds later. The clock is set right after its
    /// start.
    private static func ahead(_ milliseconds: Int64) -> StoreDates {
        StoreDates(
            ahead: milliseconds > 0 ? .zero - by : .zero, late: wrong.milliseconds + 1,
            own: StoreDates.Own(since: right.milliseconds, late: right.milliseconds + milliseconds))
    }

    /// A reply that comes while the clock is ahead takes none along that has waited longer.
    @Test(arguments: TestedEngine.allCases)
    func aReplyUnderADoubtedClockLeavesTheOthers(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        let address = try mailbox()
        let channel = Digest(high: 5, low: 1)
        func post(_ number: UInt64, at time: Int64, _ store: StoredMailboxes) async throws {
            let result = try await store.post(
                [UInt8(number)], digest: Digest(high: 6, low: number), in: channel, by: address, at: time,
                within: MailboxReplyBounds())
            #expect(result == .stored)
        }
        let far = Self.wrong.milliseconds + 2 * MailboxReply.life
        try await post(1, at: Self.wrong.milliseconds, try await StoredMailboxes(in: outbox))
        let doubted = try await StoredMailboxes(
            in: outbox,
            dates: {
                StoreDates(
                    late: Self.wrong.milliseconds + 1, own: StoreDates.Own(since: far, late: far + 1))
            })
        try await post(2, at: far, doubted)
        let replies = try await doubted.replies(in: channel, of: address, acknowledging: 0, at: far)
        #expect(replies?.map(\.sealed) == [[1], [2]])
        await outbox.close()
    }

    /// A text that was put off before the clock was ahead comes at its time, and one that was put off since comes at its own.
    @Test(arguments: TestedEngine.allCases)
    func aTextThatWasPutOffComesAtItsTimeWhateverTheClock(on engine: TestedEngine) async throws {
        try directory.use(engine)
        let outbox = try await directory.open()
        let address = try mailbox()
        let cron = Digest(high: 7, low: 1)
        #expect(
            try RegistrationFile(directory.place, isReadOnly: false).add(
                Mailbox.Publisher(name: "cron", token: cron), to: "me", addedAt: 1) == .added)
        func put(off due: UnixTime, _ store: StoredMailboxes) async throws {
            let message = MailboxMessage(
                id: MailboxMessage.id(of: NotificationID(high: UInt64(due.milliseconds), low: 9)),
                acceptedAt: due, expiresAt: due + .seconds(60), isUrgent: true, text: "x",
                isPublished: true, delayedBy: cron)
            let put = try await store.put(message, to: address, keeping: nil, within: MailboxBounds())
            #expect(put.result == .stored(1))
        }
        try await put(off: Self.wrong + .milliseconds(500), StoredMailboxes(in: outbox))
        let doubted = try await StoredMailboxes(in: outbox, dates: { Self.ahead(0) })
        try await put(off: Self.right + .milliseconds(300), doubted)
        let now = Self.right.milliseconds
        // The first one is 499 ms away by the clock that nothing speaks against, the second one 300 ms.
        #expect(
            try await doubted.deliver(dueAt: now, within: MailboxBounds())
                == MailboxDelivery(mailboxes: [], next: now + 300))
        let set = try await StoredMailboxes(in: outbox, dates: { Self.ahead(300) })
        let later = Self.wrong.milliseconds + 300
        #expect(
            try await set.deliver(dueAt: later, within: MailboxBounds())
                == MailboxDelivery(mailboxes: [1], next: later + 499))
        await outbox.close()
    }
}
