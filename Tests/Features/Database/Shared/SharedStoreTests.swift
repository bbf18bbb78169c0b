import Foundation
import TestedStores
import Testing
import Vectors

@testable import Bitwarden
@testable import DatabaseEndpoint
@testable import MailboxEndpoint
@testable import Persistence
@testable import Relay

/// Several nodes on one real database.
@Suite(.serialized) struct SharedStoreTests {
    let directory: Directory
    let server: PostgreSQLServer

    init() throws {
        directory = try Directory()
        try directory.use(.database)
        server = try PostgreSQLServer.shared.get()
    }

    func place(_ node: UInt8) throws -> DatabasePlace {
        Directory.place(at: server.url(try #require(directory.database)), node: node)
    }

    func open(_ node: UInt8) async throws -> OutboxStore { try await OutboxStore(place(node)) }

    static let half = Shards(0..<128)
    static let otherHalf = Shards(128..<256)

    /// Two nodes: the first has the lower half of the shards, the second the upper one.
    ///
    /// - Parameter url: By which the first one comes to the database; `nil`: as the second does.
    func pair(first url: String? = nil) async throws -> (OutboxStore, OutboxStore) {
        let first = try await OutboxStore(try url.map { Directory.place(at: $0) } ?? place(1))
        #expect(try await first.content().shards == .all)
        // It waits until something is given up.
        let place = try place(2)
        async let opening = OutboxStore(place)
        while try await first.divide(ShareRequest()).nodes < 2 { try Task.checkCancellation() }
        _ = try await first.commit([.giveUp(Self.otherHalf)])
        let second = try await opening
        let share = try await first.divide(ShareRequest())
        #expect(share.owned == Self.half && share.nodes == 2)
        #expect(try await second.divide(ShareRequest()).owned == Self.otherHalf)
        return (first, second)
    }

    /// To a device of that shard.
    func one(
        _ sequence: Int64, _ shard: UInt64, _ destination: StoreRequest.Destination = .window,
        device: UInt64 = 1
    ) -> StoreRequest {
        let one = request(sequence, token: shard << 56 | device)
        return StoreRequest(notification: one.notification, digests: one.digests, destination: destination)
    }

    func claim(_ outbox: OutboxStore, _ requests: [StoreRequest]) async throws -> [Int64] {
        var found: [Int64] = []
        for lane in Set(requests.map(\.notification.lane)) {
            let claim = Claim(.due(lane), at: 5000, last: .max, limit: 100)
            found += try await outbox.claim(claim).rows.map(\.row.sequence)
        }
        return found.sorted()
    }

    @Test func nodesThatStartTogetherMakeTheTablesOfDoorsOnce() async throws {
        let (first, second) = try await pair()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for outbox in [first, second] {
                group.addTask {
                    _ = try await StoredBitwardenDevices(in: outbox)
                    _ = try await PhoneBookReader(in: outbox)
                    _ = try await StoredMailboxes(in: outbox)
                }
            }
            try await group.waitForAll()
        }
        let made = "SELECT string_agg(name, ' ' ORDER BY name) FROM onionbell.door"
        let kinds: [any DoorTables.Type] = [
            InstallationTables.self, BitwardenTables.self, PhoneBookTables.self, MailboxTables.self,
        ]
        #expect(try directory.psql(made) == kinds.map { $0.name }.sorted().joined(separator: " "))
        // Both use the same ones.
        let (here, there) = try await (StoredMailboxes(in: first), StoredMailboxes(in: second))
        let topic = Mailbox(
            name: "up", show: .bell, isOpen: false, isPush: true, topic: Digest(high: 2, low: 2),
            readers: [Mailbox.Reader(name: "phone", token: Digest(high: 3, low: 3))])
        let added = try await here.add(pushTopic: topic, address: Digest(high: 1, low: 1), at: 1, sparing: [])
        #expect(added.count == 1)
        #expect(try await there.all(unless: nil)?.mailboxes == added)
        await first.close()
        await second.close()
    }

    /// Of tables that were empty when their plans were made.
    @Test func noTableIsReadWholeForWhatIsStored() async throws {
        let outbox = try await open(1)
        for commit in Int64(0)..<40 {
            let requests = (1...50).map { one(commit * 50 + $0, UInt64($0)) }
            _ = try await outbox.commit(requests.map { .store($0) })
            _ = try await outbox.commit((1...50).map { .finish(sequence: commit * 50 + $0, .delivered) })
        }
        // Its connection tells what it has counted when it ends.
        await outbox.close()
        let database = try #require(directory.database)
        let inserted = "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'identity'"
        while try server.psql(database, inserted) != "2000" {}
        let read =
            "SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE relname IN ('identity', 'notification')"
        #expect(try server.psql(database, read + " ORDER BY 1") == "identity|0\nnotification|0")
    }

    @Test func whatOneAcceptsForAnotherIsSentThereAndItsEndComesBack() async throws {
        let (first, second) = try await pair()
        let for1 = [one(1, 3, .elsewhere(room: 9)), one(3, 3, .elsewhere(room: 9))]
        #expect(
            try await second.commit(for1.map { .store($0) }) == [.stored(sequence: 1), .stored(sequence: 2)])
        // Not before it was told of them, and never by the other one.
        #expect(try await claim(first, for1) == [])
        #expect(try await claim(second, for1) == [])
        #expect(try await second.divide(ShareRequest(awaited: [1, 2])).ends == [:])
        let share = try await first.divide(ShareRequest())
        #expect(share.arrived.reduce(0) { $0 + $1.waiting } == 2 && share.lastSequence == 2)
        #expect(try await claim(first, for1) == [1, 2])
        #expect(try await first.divide(ShareRequest()).arrived.isEmpty)
        let refusal = Ending.tokenDead(reason: .gateway("Gone"), detail: nil)
        _ = try await first.commit([
            .finish(sequence: 1, .delivered), .finish(sequence: 2, refusal),
        ])
        let ends = try await second.divide(ShareRequest(awaited: [1, 2, 77])).ends
        #expect(ends == [1: .ended(.delivered), 2: .ended(refusal), 77: .forgotten])
        await first.close()
        await second.close()
    }

    /// Lower numbers may come later: they are handed out all the same.
    @Test func whatArrivesLateIsClaimedBehindWhatWasHandedOut() async throws {
        let (first, second) = try await pair()
        _ = try await second.commit([.store(one(1, 3, .elsewhere(room: 9)))])
        _ = try await first.commit([.store(one(3, 4, .backlog(room: 9)))])
        #expect(try await claim(first, [one(3, 4)]) == [2])
        #expect(try await first.divide(ShareRequest()).arrived.map(\.waiting) == [1])
        #expect(try await claim(first, [one(1, 3)]) == [1])
        await first.close()
        await second.close()
    }

    /// Two nodes may store one each at the same time, and neither sees how urgent the other one's is.
    @Test func whatArrivesTogetherForADeviceKeepsItsOrder() async throws {
        let (first, second) = try await pair()
        _ = try await second.commit([1, 3].map { .store(one($0, 3, .elsewhere(room: 9))) })
        _ = try directory.psql("UPDATE onionbell.backlog SET rank = 2 - sequence")
        #expect(try await first.divide(ShareRequest()).arrived.reduce(0) { $0 + $1.waiting } == 2)
        let claim = Claim(.due(one(1, 3).notification.lane), at: 5000, last: .max, limit: 100)
        #expect(try await first.claim(claim).rows.map(\.row.sequence) == [1, 2])
        await first.close()
        await second.close()
    }

    @Test func anIdentityIsStoredOnceWhoeverTakesIt() async throws {
        let (first, second) = try await pair()
        #expect(try await first.commit([.store(one(1, 3))]) == [.stored(sequence: 1)])
        let again = try await second.commit([
            .store(one(1, 3, .elsewhere(room: 9))), .lookUp(one(1, 3).digests), .lookUp(one(5, 3).digests),
        ])
        #expect(again == [.alreadyWaiting(sequence: 1), .alreadyWaiting(sequence: 1), .unknown])
        _ = try await first.commit([.finish(sequence: 1, .delivered)])
        #expect(
            try await second.commit([.store(one(1, 3, .elsewhere(room: 9)))]) == [.alreadyEnded(.delivered)])
        // Both at the same time, in opposite orders: one of them has each, and nobody is told of a failure.
        for round in 0..<20 as Range<Int64> {
            let numbers = (0..<10).map { 100 + 10 * round + $0 }
            let here = numbers.map { OutboxChange.store(one($0, 3)) }
            let there = numbers.reversed().map { OutboxChange.store(one($0, 3, .elsewhere(room: 900))) }
            async let one1 = first.commit(here)
            async let one2 = second.commit(there)
            let (left, right) = try await (one1, Array(one2.reversed()))
            for (left, right) in zip(left, right) {
                let isStored = [left, right].count { if case .stored = $0 { true } else { false } }
                let isKnown = [left, right].count { if case .alreadyWaiting = $0 { true } else { false } }
                #expect(isStored == 1 && isKnown == 1, "\(left) \(right)")
            }
        }
        #expect(try directory.psql("SELECT count(*) - count(DISTINCT digest) FROM onionbell.identity") == "0")
        await first.close()
        await second.close()
    }

    /// Numbers are given when a commit begins: whoever comes later has a higher one, wherever it comes.
    @Test func numbersAreInTheOrderInWhichThingsCame() async throws {
        let (first, second) = try await pair()
        var last: Int64 = 0
        for round in 1...20 as ClosedRange<Int64> {
            let results = try await (round.isMultiple(of: 2) ? first : second).commit([
                .store(one(round, round.isMultiple(of: 2) ? 3 : 200))
            ])
            guard case .stored(let number) = results[0] else {
                Issue.record("\(results)")
                continue
            }
            #expect(number > last)
            last = number
        }
        await first.close()
        await second.close()
    }

    @Test func whatAKilledNodeHadIsTakenInItsOrder() async throws {
        let (first, second) = try await pair()
        let rows = [one(1, 3), one(3, 3), one(5, 3, .backlog(room: 9)), one(7, 4)]
        _ = try await first.commit(rows.map { .store($0) })
        _ = try await first.commit([.postpone(sequence: 1, attempts: 1, notBefore: 4000)])
        _ = try await second.commit([.store(one(9, 3, .elsewhere(room: 9)))])
        #expect(try await second.divide(ShareRequest()).owned == Self.otherHalf)
        _ = try directory.psql(
            "UPDATE onionbell.node SET until = clock_timestamp() - interval '1 second' WHERE owner = '\\x01'")
        let share = try await second.divide(ShareRequest())
        #expect(share.owned == .all && share.gained == Self.half && share.nodes == 1)
        // With what it has put there itself: what it accepts from now on must not go out before that.
        #expect(share.arrived.reduce(0) { $0 + $1.waiting } == 5)
        #expect(try await second.divide(ShareRequest()).arrived.isEmpty)
        // All of a device wait as long, and go out in their order; another device does not wait.
        let lane = one(1, 3).notification.lane
        let early = try await second.claim(Claim(.due(lane), at: 3000, last: .max, limit: 100))
        #expect(early.rows.map(\.row.sequence) == [4] && early.nextDue == 4000)
        let due = try await second.claim(Claim(.due(lane), at: 4000, last: .max, limit: 100))
        #expect(due.rows.map(\.row.sequence) == [1, 2, 3, 5])
        // It comes to itself: nothing of it is written any more.
        do {
            _ = try await first.commit([.finish(sequence: 1, .delivered)])
            Issue.record("a node without its lease has written")
        } catch {
            #expect("\(error)".contains("another node has had this database meanwhile"))
        }
        await first.close()
        await second.close()
    }

    @Test func whatIsGivenUpIsHandedOutByTheOther() async throws {
        let (first, second) = try await pair()
        let rows = [one(1, 3, .backlog(room: 9)), one(3, 3, .backlog(room: 9)), one(5, 4)]
        _ = try await first.commit(rows.map { .store($0) })
        #expect(try await claim(first, rows) == [1, 2])
        _ = try await first.commit([.giveUp(Shards([3, 4]))])
        let share = try await first.divide(ShareRequest())
        #expect(share.lost.reduce(0) { $0 + $1.waiting } == 2)
        await first.close()
        // A node that stops leaves all that it had.
        let taken = try await second.divide(ShareRequest())
        #expect(taken.owned == .all)
        #expect(taken.arrived.reduce(0) { $0 + $1.waiting } == 3)
        #expect(try await claim(second, rows) == [1, 2, 3])
        await second.close()
    }

    /// What a slow store could not write before goes with what has come since.
    @Test func whatOneCommitGivesUpInPartsIsLostWhole() async throws {
        let (first, second) = try await pair()
        let rows = (3...6 as ClosedRange<Int64>).map { one($0, UInt64($0), .backlog(room: 9)) }
        _ = try await first.commit(rows.map { .store($0) })
        #expect(try await claim(first, rows) == [1, 2, 3, 4])
        // The third part was given up before.
        _ = try await first.commit([.giveUp(Shards([6]))])
        _ = try directory.psql("UPDATE onionbell.shard SET owner = '\\x02' WHERE number = 6")
        #expect(try await first.divide(ShareRequest()).lost.map(\.waiting) == [1])
        _ = try await first.commit([.giveUp(Shards([3])), .giveUp(Shards([4, 5])), .giveUp(Shards([5, 6]))])
        let share = try await first.divide(ShareRequest())
        #expect(share.lost.reduce(0) { $0 + $1.waiting } == 3)
        let bytes = rows.prefix(3).reduce(0) { $0 + $1.notification.size }
        #expect(share.lost.reduce(0) { $0 + $1.bytes } == bytes)
        await first.close()
        await second.close()
    }

    /// What is handed out of a shard that comes back is not thought to be handed out still.
    @Test func whatWasGivenUpAndComesBackIsHandedOutAnew() async throws {
        let (first, second) = try await pair()
        let rows = [one(1, 3, .backlog(room: 9))]
        _ = try await first.commit(rows.map { .store($0) })
        #expect(try await claim(first, rows) == [1])
        _ = try await first.commit([.giveUp(Shards([3]))])
        let share = try await first.divide(ShareRequest())
        #expect(share.owned == Self.half && share.gained == Shards([3]))
        #expect(try await claim(first, rows) == [1])
        await first.close()
        await second.close()
    }

    @Test func aDeviceHasRoomForSoManyWhoeverTakesThem() async throws {
        let (first, second) = try await pair()
        let rows = (1...5 as ClosedRange<Int64>).map { one(2 * $0 - 1, 3, .elsewhere(room: 3)) }
        let results = try await second.commit(rows.prefix(2).map { .store($0) })
        #expect(results.allSatisfy { if case .stored = $0 { true } else { false } })
        let more = try await second.commit(rows.dropFirst(2).map { .store($0) })
        #expect(more.count { $0 == .tooMany } == 2)
        await first.close()
        await second.close()
    }

    /// Commands in place of the node want the database alone.
    @Test func aCommandIsRefusedWhileANodeRenewsItsLease() async throws {
        let first = try await open(1)
        let renewal = Task {
            while !Task.isCancelled { _ = try await first.commit([.proof]) }
        }
        let place = StorePlace.database(try place(2))
        do {
            _ = try OperatorsOutbox(place, isReadOnly: false)
            Issue.record("a command was let in")
        } catch {
            #expect("\(error)".contains("a node uses this database, on node"))
        }
        renewal.cancel()
        _ = try? await renewal.value
        await first.close()
        // Whoever stops gives it back at once.
        _ = try OperatorsOutbox(place, isReadOnly: false)
    }
}
