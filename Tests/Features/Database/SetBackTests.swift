import Foundation
import TestedStores
import Testing
import Vectors

@testable import DatabaseEndpoint
@testable import Persistence
@testable import Relay

/// A database that goes back while a node has it: an asynchronous standby takes over, or an older backup stands there.
@Suite(.serialized) struct SetBackTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    private func requests(_ numbers: ClosedRange<Int64>) -> [OutboxChange] {
        numbers.map { .store(request($0, identity: UInt64($0))) }
    }

    private func sequences(_ results: [StoreResult]) -> [Int64] {
        results.compactMap { if case .stored(let sequence) = $0 { sequence } else { nil } }
    }

    /// Commits until it is taken, as senders do.
    private func insist(
        _ changes: [OutboxChange], in outbox: OutboxStore, _ reasons: inout [String]
    ) async throws -> [StoreResult] {
        for _ in 0..<5 {
            do throws(OutboxError) {
                return try await outbox.commit(changes)
            } catch {
                reasons.append("\(error)")
            }
        }
        return try await outbox.commit(changes)
    }

    /// What the node had stored before ends by its number: what was stored since stays.
    private func check(_ outbox: OutboxStore, lost: [Int64], on server: PostgreSQLServer) async throws {
        var reasons: [String] = []
        let results = try await insist(requests(201...260), in: outbox, &reasons)
        let new = sequences(results)
        #expect(new.count == 60 && Set(new).isDisjoint(with: lost))
        #expect(reasons.contains { $0.contains("the database went back") }, "\(reasons)")
        // Its gateway has answered them meanwhile.
        let ends = lost.map { OutboxChange.finish(sequence: $0, .delivered) }
        _ = try await insist(ends, in: outbox, &reasons)
        #expect(Set(try await outbox.content().waiting.map(\.sequence)).isSuperset(of: new))
        // Nothing says of them that they are stored.
        #expect(try await outbox.commit([.lookUp(request(150).digests)]) == [.unknown])
        await outbox.close()
        #expect(try server.psql("postgres", "SELECT count(*) FROM onionbell.notification") == "60")
    }

    @Test func whatAPromotedStandbyStoresIsNotEndedByNumbersThatItHadLost() async throws {
        let primary = try PostgreSQLServer()
        let standby = try PostgreSQLServer(standbyOf: primary)
        let url =
            "postgresql://onionbell@/postgres?host=\(primary.directory),\(standby.directory)&target_session_attrs=read-write"
        let outbox = try await OutboxStore(Directory.place(at: url))
        _ = try await outbox.commit(requests(1...3))
        try primary.waitUntilStandbyHasAll()
        try standby.stopImmediately()
        let lost = sequences(try await outbox.commit(requests(101...180)))
        try primary.stopImmediately()
        try standby.start()
        try standby.promote()
        try await check(outbox, lost: lost + [1, 2, 3], on: standby)
    }

    @Test func whatAnOlderBackupStoresIsNotEndedByNumbersThatItHadNot() async throws {
        let server = try PostgreSQLServer()
        let outbox = try await OutboxStore(Directory.place(at: server.url("postgres")))
        _ = try await outbox.commit(requests(1...3))
        try server.stopImmediately()
        try server.keepBackup()
        try server.start()
        var reasons: [String] = []
        let lost = sequences(try await insist(requests(101...180), in: outbox, &reasons))
        try server.stopImmediately()
        try server.takeBackup()
        try server.start()
        try await check(outbox, lost: lost + [1, 2, 3], on: server)
    }

    /// It has committed nothing since the backup, so that its own commits show nothing, and it is the first one to come.
    @Test func whatANodeStoresThatSawNoneOfItIsNotEndedByAnothersNumbers() async throws {
        let server = try PostgreSQLServer()
        let outbox = try await OutboxStore(Directory.place(at: server.url("postgres")))
        async let opening = OutboxStore(Directory.place(at: server.url("postgres"), node: 2))
        while try await outbox.divide(ShareRequest()).nodes < 2 { try Task.checkCancellation() }
        _ = try await outbox.commit([.giveUp(SharedStoreTests.otherHalf)])
        let idle = try await opening
        try server.stopImmediately()
        try server.keepBackup()
        try server.start()
        var reasons: [String] = []
        let lost = sequences(try await insist(requests(101...180), in: outbox, &reasons))
        try server.stopImmediately()
        try server.takeBackup()
        try server.start()
        let new = sequences(try await insist(requests(201...260), in: idle, &reasons))
        #expect(new.count == 60 && Set(new).isDisjoint(with: lost), "\(lost) \(new) \(reasons)")
        let ends = lost.map { OutboxChange.finish(sequence: $0, .delivered) }
        _ = try await insist(ends, in: outbox, &reasons)
        #expect(reasons.contains { $0.contains("the database went back") }, "\(reasons)")
        await outbox.close()
        await idle.close()
        #expect(
            try server.psql(
                "postgres",
                "SELECT (SELECT count(*) FROM onionbell.notification) + (SELECT count(*) FROM onionbell.backlog)"
            )
                == "60")
    }

    /// Each return leaps by more than the time gives, so that after some the numbers are ahead of it.
    @Test func numbersThatAreAheadOfTheTimeAreNotGivenTwiceEither() async throws {
        let server = try PostgreSQLServer()
        let outbox = try await OutboxStore(Directory.place(at: server.url("postgres")))
        try server.psql("postgres", "SELECT setval('onionbell.number', 1000000000000)")
        _ = try await outbox.commit(requests(1...3))
        try server.stopImmediately()
        try server.keepBackup()
        try server.start()
        var reasons: [String] = []
        let lost = sequences(try await insist(requests(101...180), in: outbox, &reasons))
        try server.stopImmediately()
        try server.takeBackup()
        try server.start()
        let new = sequences(try await insist(requests(201...260), in: outbox, &reasons))
        #expect(lost.count == 80 && new.count == 60 && Set(new).isDisjoint(with: lost), "\(lost) \(new)")
        await outbox.close()
    }

    /// What waited in the backup is there again, and counted: else what is stored later would be taken for it, and stay.
    @Test func whatWaitsAgainIsCountedAgain() async throws {
        let server = try PostgreSQLServer()
        let outbox = try await OutboxStore(Directory.place(at: server.url("postgres")))
        let placed = (1...3 as ClosedRange<Int64>).map { number in
            let one = request(2 * number)
            return OutboxChange.store(
                StoreRequest(
                    notification: one.notification, digests: one.digests, destination: .backlog(room: 9)))
        }
        let stored = sequences(try await outbox.commit(placed))
        try server.stopImmediately()
        try server.keepBackup()
        try server.start()
        var reasons: [String] = []
        _ = try await insist([], in: outbox, &reasons)
        let claim = Claim(.due(request(2).notification.lane), at: 5000, last: .max, limit: 9)
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == stored)
        // One of them is still with its gateway.
        _ = try await outbox.commit(stored.dropFirst().map { .finish(sequence: $0, .delivered) })
        try server.stopImmediately()
        try server.takeBackup()
        try server.start()
        _ = try await insist(requests(201...201), in: outbox, &reasons)
        #expect(reasons.contains { $0.contains("the database went back") }, "\(reasons)")
        let share = try await outbox.divide(ShareRequest())
        #expect(share.arrived.reduce(0) { $0 + $1.waiting } == 2)
        #expect(try await outbox.claim(claim).rows.map(\.row.sequence) == Array(stored.dropFirst()))
        await outbox.close()
    }

    /// Restored under a server that goes on: no connection is lost.
    @Test func tablesThatWentBackUnderALivingConnectionEndTheNode() async throws {
        let server = try PostgreSQLServer()
        let outbox = try await OutboxStore(Directory.place(at: server.url("postgres")))
        _ = try await outbox.commit(requests(1...3))
        let commits = try server.psql("postgres", "SELECT commits FROM onionbell.node")
        _ = try await outbox.commit(requests(4...6))
        _ = try server.psql("postgres", "UPDATE onionbell.node SET commits = \(commits)")
        do {
            _ = try await outbox.commit(requests(7...9))
            Issue.record("a commit was made upon what had gone back")
        } catch {
            #expect("\(error)".contains("the database went back"), "\(error)")
        }
        await outbox.close()
    }

    /// PostgreSQL empties them after a crash.
    @Test func unloggedTablesAreRefused() async throws {
        try directory.use(.database)
        let outbox = try await directory.open()
        _ = try await outbox.commit([.store(request(1))])
        await outbox.close()
        _ = try directory.psql("ALTER TABLE onionbell.notification SET UNLOGGED")
        let words = "onionbell.notification is UNLOGGED"
        do {
            _ = try await directory.open()
            Issue.record("an unlogged table was taken")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
        do {
            _ = try OperatorsOutbox(directory.place, isReadOnly: true)
            Issue.record("storage check takes it")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
        _ = try directory.psql("ALTER TABLE onionbell.notification SET LOGGED")
        let again = try await directory.open()
        #expect(try await again.content().waiting.count == 1)
        await again.close()
    }
}
