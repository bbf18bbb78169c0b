import Clocks
import Foundation
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import MailboxEndpoint
@testable import Persistence
@testable import Relay

/// Mailboxes of one real database that two nodes fill.
extension SharedStoreTests {
    private func message(_ number: Int) -> MailboxMessage {
        MailboxMessage(
            id: MailboxMessage.id(of: NotificationID(high: UInt64(number), low: 0)),
            acceptedAt: UnixTime(milliseconds: Int64(number)), expiresAt: 2_000_000, isUrgent: true, text: "x"
        )
    }

    /// A reader goes on behind the highest number that it has seen: a lower one that is committed later would be lost.
    @Test func noMessageComesBehindOneThatWasRead() async throws {
        let (first, second) = try await pair()
        let (here, there) = try await (StoredMailboxes(in: first), StoredMailboxes(in: second))
        let address = Digest(high: 1, low: 1)
        let topic = Mailbox(
            name: "up", show: .bell, isOpen: false, isPush: true, topic: Digest(high: 2, low: 2),
            readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: 3))])
        let known = try #require(try await there.all(unless: nil)).version
        let made = try await here.add(pushTopic: topic, address: address, at: 1, sparing: [])
        let mailbox = try #require(made.first).number
        // The other node notices it.
        #expect(try await there.all(unless: known)?.mailboxes == made)
        var place = MailboxPlace(mailbox: mailbox, number: 0)
        var read: [Int64] = []
        for round in 0..<10 {
            // One node has put its message there, and takes its time to commit it.
            let slow = message(2 * round)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            async let one = first.write { store throws(StoreError) in
                let put = try store.tables(MailboxTables.self).messages.put(
                    slow, to: address, keeping: nil, within: MailboxBounds(), in: store)
                try store.connection.settle()
                begin.yield()
                usleep(50_000)
                return put.result
            }
            for await _ in begun { break }
            let two = try await there.put(
                message(2 * round + 1), to: address, keeping: nil, within: MailboxBounds())
            func look() async throws {
                for (_, message) in try await there.messages(behind: [place], at: 0, limit: 100) {
                    read.append(message.acceptedAt.milliseconds)
                    place.number = max(place.number, message.number)
                }
            }
            try await look()
            #expect(try await one == .stored(mailbox) && two.result == .stored(mailbox))
            try await look()
        }
        #expect(read.sorted() == Array(0..<20))
        #expect(try await here.news(behind: 0) == [place])
        #expect(try await here.news(behind: place.number) == [])
        await first.close()
        await second.close()
    }

    /// A reader of several mailboxes goes on behind the highest number that it has seen, and another node may put messages
    /// there while they are read one after the other.
    @Test func ofSeveralMailboxesNoMessageIsSkipped() async throws {
        let (first, second) = try await pair()
        let (here, there) = try await (StoredMailboxes(in: first), StoredMailboxes(in: second))
        let topics = 20
        for number in 1...UInt64(topics) {
            _ = try await there.add(
                pushTopic: Mailbox(
                    name: "up-\(number)", show: .bell, isOpen: false, isPush: true,
                    topic: Digest(high: 2, low: number),
                    readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: 3))]),
                address: Digest(high: 1, low: number), at: 1, sparing: [])
        }
        let mailboxes = try #require(try await here.all(unless: nil)).mailboxes.map(\.number)
        let starts = mailboxes.map { MailboxStart($0, behind: 0) }
        var books = MailboxBooks()
        var stream = books.open(from: starts, for: starts.map { _ in nil }, isFiltered: false)
        let messages = (0..<1000).map(message)
        async let writing: Void = {
            for (number, message) in messages.enumerated() {
                let put = try await there.put(
                    message, to: Digest(high: 1, low: UInt64(number % topics) + 1), keeping: nil,
                    within: MailboxBounds())
                guard case .stored = put.result else { throw CancellationError() }
            }
        }()
        var read: Set<Int64> = []
        while stream.last?.id != messages.last?.id {
            try Task.checkCancellation()
            for (_, message) in try await here.messages(behind: stream.places, at: 0, limit: 32) {
                stream.pass(message.number)
                stream.note(message.number, message.id, from: 0)
                read.insert(message.acceptedAt.milliseconds)
            }
        }
        try await writing
        #expect(read.count == messages.count)
        await first.close()
        await second.close()
    }

    /// A door of another node has heard that an app registered its token again.
    @Test func aTokenThatWasRegisteredAnewLivesAtItsOwner() async throws {
        let (first, second) = try await pair()
        let (old, new) = (one(1, 3), one(3, 4))
        let dead = DeadToken(since: 500, buriedAt: 600)
        _ = try await first.commit([.buryToken(old.digests.token, dead), .buryToken(new.digests.token, dead)])
        let requests = [(old, 500), (new, 501)] as [(StoreRequest, UnixTime)]
        _ = try await second.commit(
            requests.map { request, registeredAt in
                .store(
                    StoreRequest(
                        notification: request.notification, digests: request.digests,
                        destination: .elsewhere(room: 9),
                        registeredAt: registeredAt))
            })
        let share = try await first.divide(ShareRequest())
        #expect(share.revived == [new.digests.token] && share.arrived.count == 2)
        #expect(try await first.divide(ShareRequest()).revived == [])
        #expect(try directory.psql("SELECT count(*) FROM onionbell.dead_token") == "1")
        await first.close()
        await second.close()
    }
}
